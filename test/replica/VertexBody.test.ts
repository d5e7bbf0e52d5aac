import { FastCheck } from "effect"
import { describe, expect, it, vi } from "vitest"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import { assignment } from "../../src/replica/signing/Assignment.js"
import { EvidencePool } from "../../src/replica/signing/EvidencePool.js"
import { HeartbeatPool } from "../../src/replica/signing/HeartbeatPool.js"
import * as VertexBody from "../../src/replica/signing/VertexBody.js"
import { equalWeights, keysOf, recordOf, seedOf } from "../consensus/TestCommittee.js"
import { poolOf } from "./AcceptingPool.js"
import { addressOf, sign, signerOf } from "./Cluster.js"

const round = Natural.round(20)

const parentsOf = (count: number): ReadonlyArray<Header.Parent> =>
  Array.from({ length: count }, (_, i) => ({
    round: Natural.round(19),
    author: addressOf(`p${i}`),
    hash: seedOf(`p${i}`),
  }))

const headerOf = (by: string, coinbase: number, parents: number): Header.Header =>
  Header.sign(
    {
      base: Hash.ZERO,
      epoch: Natural.epoch(1),
      round,
      parents: parentsOf(parents),
      timestamp: Natural.timestamp(1),
      coinbase: Sats.make(coinbase),
      bodyHash: Hash.ZERO,
    },
    signerOf(by),
  )

const evidenceOf = (by: string, parents: number): Evidence.Evidence => {
  const evidence = Evidence.of(headerOf(by, 1, parents), headerOf(by, 2, parents))
  if (evidence === undefined) throw new Error("evidence expected")
  return evidence
}

describe("the body of an own vertex", () => {
  it("is never too large, however much is available", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.nat(300),
        FastCheck.nat(40),
        FastCheck.nat(150),
        FastCheck.integer({ min: 0, max: 256 }),
        (parents, accused, beating, memo) => {
          const transactions = Array.from({ length: 3_400 }, (_, i) =>
            sign(
              `s${i >> 6}`,
              i & 63,
              { _tag: "Transfer", to: addressOf("x"), amount: Sats.make(1), memo: "m".repeat(memo) },
              1_000,
            ),
          )
          const evidence = new EvidencePool()
          for (let i = 0; i < accused; i++) evidence.add(evidenceOf(`e${i}`, parents))
          const heartbeats = new HeartbeatPool()
          for (let i = 0; i < beating; i++) {
            heartbeats.add(Heartbeat.sign(Natural.commitIndex(1), Hash.ZERO, signerOf(`h${i}`)), round)
          }
          const sources = { pool: poolOf(transactions, round), evidence, heartbeats }
          const body = VertexBody.fill(sources, {
            round,
            parents,
            members: 1,
            leads: true,
            isAssigned: () => true,
            hasTurn: () => true,
          })
          const header = headerOf("me", 1, parents)
          const vertex = Vertex.make({ ...header, bodyHash: Vertex.bodyHash(body) }, body)
          expect(vertex.encoded.length).toBeLessThanOrEqual(Limits.VERTEX_BYTES)
          expect(body.evidence.length).toBeLessThanOrEqual(Limits.VERTEX_EVIDENCE)
          expect(body.heartbeats.length).toBe(Math.min(beating, Limits.VERTEX_HEARTBEATS))
          expect(body.transactions.length).toBeGreaterThan(1_000)
        },
      ),
      { numRuns: 4 },
    )
  })

  it("repeats a proof only when its vertex seems lost", () => {
    const evidence = new EvidencePool()
    expect(evidence.add(evidenceOf("eve", 1))).toBe(true)
    expect(evidence.add(evidenceOf("eve", 2))).toBe(false)
    const said = (later: number) => evidence.take(Natural.round(round + later), Limits.VERTEX_BYTES).length
    expect([0, 1, 7, 8, 9].map(said)).toEqual([1, 0, 0, 1, 0])
  })

  it("leaves heartbeats to their assigned member for four rounds", () => {
    const heartbeats = new HeartbeatPool()
    const beat = Heartbeat.sign(Natural.commitIndex(1), Hash.ZERO, signerOf("h"))
    heartbeats.add(beat, round)
    const taken = (later: number) => heartbeats.take(Natural.round(round + later), () => false).length
    expect([taken(3), taken(4)]).toEqual([0, 1])
    heartbeats.included(beat)
    expect(heartbeats.take(round, () => true)).toEqual([])
  })
})

describe("the room for transactions in an own vertex", () => {
  /** The arguments with which the pool is called. */
  const askedFor = (
    slot: Partial<VertexBody.Slot>,
    said: { readonly proofs?: number; readonly beats?: number } = {},
  ) => {
    const pool = poolOf([])
    const choose = vi.spyOn(pool, "choose")
    const evidence = new EvidencePool()
    for (let i = 0; i < (said.proofs ?? 0); i++) evidence.add(evidenceOf(`e${i}`, 1))
    const heartbeats = new HeartbeatPool()
    for (let i = 0; i < (said.beats ?? 0); i++) {
      heartbeats.add(Heartbeat.sign(Natural.commitIndex(1), Hash.ZERO, signerOf(`h${i}`)), round)
    }
    const usual = { round, parents: 0, members: 4, leads: false, isAssigned: () => true, hasTurn: () => true }
    VertexBody.fill({ pool, evidence, heartbeats }, { ...usual, ...slot })
    const [[asked] = []] = choose.mock.calls
    return { maxBytes: asked?.maxBytes, freshBytes: asked?.freshBytes }
  }
  const { maxBytes: most = 0 } = askedFor({})

  it("is what header, parents, heartbeats and evidence leave of a mebibyte", () => {
    const empty = Vertex.make(headerOf("me", 1, 0), Vertex.emptyBody)
    expect(most).toBe(Limits.VERTEX_BYTES - empty.encoded.length)
    const named = Vertex.make(headerOf("me", 1, 7), Vertex.emptyBody)
    expect(askedFor({ parents: 7 }).maxBytes).toBe(Limits.VERTEX_BYTES - named.encoded.length)
    const beat = Heartbeat.encode(Heartbeat.sign(Natural.commitIndex(1), Hash.ZERO, signerOf("h")))
    expect(askedFor({}, { beats: 3 }).maxBytes).toBe(most - 3 * beat.length)
    expect(askedFor({}, { proofs: 2 }).maxBytes).toBe(most - 262_144)
  })

  it("is for fresh ones a member's share if it leads, at least 32 KiB, and nothing otherwise", () => {
    const fresh = (leads: boolean, members: number) => askedFor({ leads, members }).freshBytes
    expect([fresh(true, 4), fresh(true, 32), fresh(true, 100), fresh(false, 4)]).toEqual([262_144, 32_768, 32_768, 0])
  })
})

describe("the assignment of accounts to members", () => {
  it("spreads accounts over all members, differently in every epoch", () => {
    const [one, two] = ["one", "two"].map((seed) => assignment(recordOf(equalWeights(7), { seed: seedOf(seed) })))
    if (one === undefined || two === undefined) throw new Error("two expected")
    const accounts = keysOf(1_400).map(({ address }) => address)
    const counts = new Map<string, number>()
    for (const account of accounts) counts.set(one(account), (counts.get(one(account)) ?? 0) + 1)
    expect(counts.size).toBe(7)
    for (const count of counts.values()) expect(count).toBeGreaterThan(120)
    const moved = accounts.filter((account) => one(account) !== two(account))
    expect(moved.length).toBeGreaterThan(1_000)
  })

  it("is the same on every node: by a hash of seed and account, and counted on from there", () => {
    const record = recordOf(equalWeights(7), { seed: seedOf("one") })
    const proposerOf = assignment(record)
    const seatOf = (account: Address, turn?: number) =>
      record.members.findIndex(({ address }) => address === proposerOf(account, turn))
    const accounts = keysOf(6).map(({ address }) => address)
    expect(accounts.map((account) => seatOf(account))).toEqual([1, 5, 1, 2, 1, 6])
    const [account] = accounts
    if (account === undefined) throw new Error("an account expected")
    const turns = [0, 1, 2, 3, 4, 5, 6, 7]
    expect(turns.map((turn) => seatOf(account, turn))).toEqual(turns.map((turn) => (seatOf(account) + turn) % 7))
  })

  it("is empty without members, which never happens", () => {
    const [{ address } = { address: "" as Address }] = keysOf(1)
    expect(() => assignment(recordOf([]))(address)).toThrow("epoch 1 has no members")
  })

  it("gives every member its turn, one a round", () => {
    const proposerOf = assignment(recordOf(equalWeights(7)))
    for (const { address } of keysOf(3)) {
      const turns = Array.from({ length: 7 }, (_, round) => proposerOf(address, 1_000_000 + round))
      expect(new Set(turns).size).toBe(7)
    }
  })
})
