/** The state over HTTP: the size of one response, the rate limit, and the states available. */
import { expect, it } from "vitest"
import { startNode } from "../../src/testing/Testing.js"
import * as TestServer from "./TestServer.js"

const TOP = "00".repeat(33)

it("serves a hundred pieces a minute to a client", async () => {
  await using server = await TestServer.start({ rateLimits: true })
  const path = `/state/${"ab".repeat(32)}/${TOP}`
  const statuses: Array<number> = []
  for (let i = 0; i < 101; i++) {
    const answer = await fetch(`${server.url}${path}`)
    statuses.push(answer.status)
    await answer.arrayBuffer()
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(100)
  expect(statuses.at(-1)).toBe(429)
})

it("serves pieces of at most 256 KiB, only of the states that closed the last two epochs", async () => {
  await using node = await startNode({ onDemand: true, accounts: 6_000, coinsEach: 1 })
  const { client, controls } = node
  await controls.advanceRounds(170)
  const { checkpoints } = await client.checkpoints.list({ urlParams: { closing: "only", limit: 4 } })
  const roots = await Promise.all(
    checkpoints.map(async ({ epoch }) => (await client.checkpoints.closing({ path: { epoch } })).state_root),
  )
  const given = await Promise.all(
    roots.map((root) =>
      client.checkpoints.state({ path: { root, position: TOP } }).then(
        ({ piece }) => piece.length,
        (error: { readonly code?: string }) => error.code,
      ),
    ),
  )
  expect(given.slice(2)).toEqual(["CheckpointNotFound", "CheckpointNotFound"])
  for (const bytes of given.slice(0, 2)) {
    expect(bytes).toBeGreaterThan(131_072)
    expect(bytes).toBeLessThanOrEqual(262_144)
  }
})
