import { describe, expect, it } from "vitest"
import type { Report } from "../../../src/node/reads/Health.js"
import * as Address from "../../../src/protocol/identity/Address.js"
import { SecretKey } from "../../../src/protocol/identity/Keys.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import * as DagColumns from "../../../src/rpc/handlers/DagColumns.js"
import * as PublicEvents from "../../../src/rpc/handlers/PublicEvents.js"
import { draw } from "../../consensus/Picture.js"

const healthy = {
  status: "healthy",
  dag: { status: "healthy", round: 5, vertices: 5 },
  finality: { status: "healthy", finalizedRound: 3, lag: 2 },
  state: { status: "healthy", accounts: 2, totalSupply: 9 },
  mempool: { status: "healthy", size: 0, capacity: 10_000 },
  network: { status: "healthy", peers: 3 },
  checkpoints: { status: "healthy", latestRound: 0 },
  components: [],
  problems: [],
} as unknown as Report

const lagging: Report = { ...healthy, finality: { ...healthy.finality, status: "unhealthy", lag: 12 } }

describe("alerts", () => {
  it("report each change of a part's health once, including its recovery", () => {
    expect(PublicEvents.alertsOf(undefined, healthy)).toEqual([])
    const ill = [{ type: "alert", severity: "critical", message: "finality: unhealthy, finalized round 3, lag 12" }]
    expect(PublicEvents.alertsOf(healthy, lagging)).toEqual(ill)
    expect(PublicEvents.alertsOf(undefined, lagging)).toEqual(ill)
    expect(PublicEvents.alertsOf(lagging, lagging)).toEqual([])
    expect(PublicEvents.alertsOf(lagging, healthy)).toMatchObject([{ severity: "info" }])
    const full: Report = { ...lagging, mempool: { ...healthy.mempool, status: "warning", size: 6_000 } }
    expect(PublicEvents.alertsOf(lagging, full)).toMatchObject([{ severity: "warning" }])
  })
})

describe("a vertex under a changed key", () => {
  const { vertices, opening } = draw(`
        A    B    C    D
    1   .    .    .    .
    2  ABC  ABC  ABC  BCD
  `)
  const [changed, ...others] = opening.record.members.map(({ address }) => address)
  const account = Address.fromPublicKey(SecretKey.generate().publicKey)
  const validatorOf = (key: Address.Address): Address.Address => (key === changed ? account : key)
  const ofChanged = vertices.filter(({ header }) => header.author === changed)

  it("is reported as one of its validator's account", () => {
    const [vertex] = ofChanged
    if (vertex === undefined) return expect.unreachable()
    expect(PublicEvents.vertex(vertex.header, 0, validatorOf)).toMatchObject({ validator: account })
  })

  it("is drawn in the lane of the account, like the edges to it and the leader", () => {
    const at = (round: number) => ({
      round: Natural.round(round),
      epoch: Natural.epoch(1),
      isFinalized: true,
      finalizedAt: null,
      leader: changed === undefined ? null : ({ address: changed, verdict: "committed" } as const),
      vertices: vertices
        .filter(({ header }) => header.round === round)
        .map(({ header, body }) => ({ header, transactionCount: body.transactions.length, commitIndex: null })),
    })
    const stretch = { newest: Natural.round(2), finalizedRound: Natural.round(2), columns: [at(1), at(2)] }
    const { validators, columns } = DagColumns.of(stretch, validatorOf)
    expect(validators).toEqual([account, ...others].sort())
    const lane = validators.indexOf(account)
    const hashes = new Set<string>(ofChanged.map(({ header }) => header.hash))
    for (const { leader, vertices: drawn } of columns) {
      expect(leader?.validator).toBe(lane)
      expect(drawn.filter((vertex) => vertex.validator === lane).map(({ hash }) => hashes.has(hash))).toEqual([true])
    }
    const children = vertices.filter(({ header }) => header.parents.some(({ author }) => author === changed))
    expect(columns[1]?.vertices.filter(({ parents }) => parents.includes(lane))).toHaveLength(children.length)
  })
})
