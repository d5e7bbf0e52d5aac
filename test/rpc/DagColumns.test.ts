import { beforeAll, expect, it } from "vitest"
import { connect, type PromiseClient } from "../../src/client/Client.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { forTests } from "../support/forTests.js"
import * as RealNode from "./RealNode.js"

const node = forTests(() => RealNode.start())
let client: PromiseClient
beforeAll(async () => {
  client = connect(node().url)
})

const upTo = async (round: number): Promise<void> => {
  await expect.poll(async () => (await client.core.status()).last_finalized_round).toBeGreaterThanOrEqual(round)
}

it("GET /dag returns rounds in order, with edges to the previous round and the leader of each", async () => {
  await upTo(40)
  const { validators, columns, finalized_round } = await client.dag.columns({
    urlParams: { from: Natural.round(1), rounds: 30 },
  })
  expect(finalized_round).toBeGreaterThanOrEqual(30)
  expect(validators).toHaveLength(1)
  expect(columns.map(({ round }) => round)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1))
  for (const { round, finalized, epoch, leader, timestamp, vertices } of columns) {
    expect({ finalized, epoch, leader }).toEqual({
      finalized: true,
      epoch: 1,
      leader: { validator: 0, verdict: "committed" },
    })
    const [vertex] = vertices
    expect(vertex).toMatchObject({ validator: 0, tx_count: 0, parents: round === 1 ? [] : [0], older_parents: [] })
    expect(vertex?.commit_index).not.toBeNull()
    expect(timestamp).not.toBeNull()
    expect((await client.dag.round({ path: { round } })).vertices.map(({ hash }) => hash)).toEqual([vertex?.hash])
  }
})

it("does not report a leader as skipped while its commit is being written", async () => {
  for (let i = 0; i < 60; i++) {
    const { columns } = await client.dag.columns({ urlParams: { rounds: 12 } })
    expect(columns.filter(({ leader }) => leader?.verdict === "skipped")).toEqual([])
  }
})

it("returns nothing for rounds not yet reached, and refuses a range of too many rounds", async () => {
  const beyond = await client.dag.columns({ urlParams: { from: Natural.round(9_000_000) } })
  expect([beyond.columns, beyond.validators]).toEqual([[], []])
  const refused = await fetch(`${node().url}/dag?rounds=121`)
  expect([refused.status, await refused.json()]).toMatchObject([400, { code: "InvalidRequest" }])
})
