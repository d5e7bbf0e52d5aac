import { expect, it } from "vitest"
import { Cluster } from "./Cluster.js"

// Authors on a busy machine gather what they send to strangers. Asking the others costs the network more than that saves.
it.each([0, 150, 200])("a follower asks nobody for vertices that an author gathers for %d ms", (gatheredMs) => {
  const validators = Object.fromEntries(["ann", "ben", "cleo", "dan"].map((name) => [name, 10_000]))
  const cluster = new Cluster({ validators, roundMs: 100, epochRounds: 1_200, parameters: { cooldownRounds: 1_200 } })
  const fay = cluster.add("fay", { isValidator: false })
  const asked: Array<string> = []
  let isFollowing = false
  cluster.passes = (from, to, message) => {
    if (from === fay && isFollowing && message._tag.startsWith("Ask")) asked.push(message._tag)
    if (to !== fay || from.name !== "dan" || message._tag !== "Vertices") return true
    cluster.soon(fay, () => fay.receive(from.peer, message), gatheredMs)
    return false
  }
  cluster.start().run(3_000)
  isFollowing = true
  cluster.run(10_000)
  expect(asked).toEqual([])
  const { leaderRound } = cluster.machine("ann").replica.read.head
  expect(leaderRound).toBeGreaterThan(100)
  expect(leaderRound - fay.replica.read.head.leaderRound).toBeLessThan(4)
})
