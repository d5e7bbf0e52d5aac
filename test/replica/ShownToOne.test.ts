/** A validator that sends its vertices to only one other, which then has to serve them to all. */
import { expect, it } from "vitest"
import { addressOf, Cluster } from "./Cluster.js"

const LIAR = "v1"
const CHOSEN = "v0"

it("costs the chosen one a copy per other member, like its own vertices, and causes no delay", () => {
  const names = Array.from({ length: 7 }, (_, i) => `v${i}`)
  const cluster = new Cluster({ validators: Object.fromEntries(names.map((name) => [name, 2_000])) })
  const copies = new Map<string, number>()
  cluster.passes = (from, to, message) => {
    if (message._tag !== "Vertices" && message._tag !== "Rounds") return true
    const ofLiar = message.vertices.filter(({ header }) => header.author === addressOf(LIAR)).length
    if (ofLiar === 0) return true
    if (from.name === LIAR) return to.name === CHOSEN
    copies.set(from.name, (copies.get(from.name) ?? 0) + ofLiar)
    return true
  }
  cluster.start()
  cluster.runRounds(10)
  const { leaderRound } = cluster.machine(CHOSEN).replica.read.head
  copies.clear()
  cluster.runRounds(30)
  const rounds = cluster.machine(CHOSEN).replica.read.head.leaderRound - leaderRound
  expect(rounds).toBeGreaterThanOrEqual(28)
  const others = names.length - 2
  expect([...copies.keys()]).toEqual([CHOSEN])
  expect((copies.get(CHOSEN) ?? 0) / rounds).toBeCloseTo(others, 0)
})
