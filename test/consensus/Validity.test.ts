import { Either, FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import * as Validity from "../../src/consensus/dag/Validity.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type * as Network from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import type * as Header from "../../src/protocol/vertex/Header.js"
import type { Content, Parent } from "../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import * as FakeKeys from "./FakeKeys.js"
import { randomDag } from "./RandomDag.js"
import { equalWeights, keysOf, openingOf, recordOf, seedOf } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

const opening = openingOf(recordOf(equalWeights(4), { epoch: Natural.epoch(3), firstRound: Natural.round(11) }))
const builder = new VertexBuilder(opening)
const firsts = [0, 1, 2, 3].map((seat) => builder.make(seat, 11, []))
const seconds = [0, 1, 2, 3].map((seat) => builder.make(seat, 12, firsts.map(parentOf)))
const parents = seconds.map(parentOf)

const verdict = (vertex: Vertex.Vertex): Validity.InvalidVertex | undefined =>
  Either.getOrUndefined(Either.flip(Validity.check(vertex, opening.base, builder.committee)))

/** A vertex of A in round 13, with this changed. */
const changed = (content: Partial<Content>, body: Vertex.Body = Vertex.emptyBody) =>
  verdict(builder.make(0, 13, parents, content, body))

const parent = (seat: number, round: number, name: string): Parent => ({
  round: Natural.round(round),
  author: builder.committee.member(seat).address,
  hash: seedOf(name),
})

const stranger = keysOf(9)[8]
if (stranger === undefined) throw new Error("nine keys expected")

describe("a valid vertex", () => {
  it("has no parents in the epoch's first round", () => {
    for (const vertex of firsts) expect(verdict(vertex)).toBeUndefined()
  })

  it("has a quorum of the previous round, whichever members are missing", () => {
    for (const left of [0, 1, 2, 3]) expect(changed({ parents: parents.toSpliced(left, 1) })).toBeUndefined()
  })

  it("may have older parents beside the quorum", () => {
    expect(changed({ parents: [...parents.slice(0, 3), parent(3, 11, "older")] })).toBeUndefined()
  })

  it("may have any timestamp", () => {
    for (const timestamp of [0, 1, Natural.LATEST]) {
      expect(changed({ timestamp: Natural.timestamp(timestamp) })).toBeUndefined()
    }
  })

  it("can lack a parent of its own author", () => {
    expect(changed({ parents: parents.slice(1) })).toBeUndefined()
  })

  it("is every vertex that an honest author of a random DAG made", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer(), (seed) => {
        const habits = { rounds: 8, silence: 20, neglect: 50, missedLeaders: 30, equivocation: 50 }
        const random = randomDag(seed, { ...habits, weights: [3, 3, 2, 2, 1] })
        for (const vertex of random.vertices) {
          expect(Validity.check(vertex, random.opening.base, random.committee)).toEqual(Either.right(vertex))
        }
      }),
      { numRuns: 20 },
    )
  })
})

describe("an invalid vertex", () => {
  it("is of another epoch", () => {
    const found = Natural.epoch(4)
    expect(changed({ epoch: found })).toEqual(new Validity.WrongEpoch({ found, expected: Natural.epoch(3) }))
  })

  it("is on another base", () => {
    expect(changed({ base: Hash.ZERO })).toEqual(new Validity.WrongBase({ found: Hash.ZERO, expected: opening.base }))
  })

  it("is by an author outside the committee", () => {
    expect(changed({ publicKey: stranger.publicKey })).toEqual(new Validity.NotAMember({ author: stranger.address }))
  })

  it("is of a round before the epoch", () => {
    expect(changed({ round: Natural.round(10) })).toEqual(
      new Validity.RoundBeforeEpoch({ round: Natural.round(10), firstRound: Natural.round(11) }),
    )
  })

  it("has another coinbase than the computed one", () => {
    const expected = builder.committee.coinbase(Natural.round(13), 0)
    expect(expected).toBe(2_500_000)
    for (const found of [Sats.ZERO, Sats.make(expected - 1), Sats.make(expected + 1)]) {
      expect(changed({ coinbase: found })).toEqual(new Validity.WrongCoinbase({ found, expected }))
    }
  })

  it("has less than a quorum of the previous round, regardless of other parents", () => {
    const few = [...parents.slice(0, 2), parent(2, 11, "x"), parent(3, 11, "y")]
    expect(changed({ parents: few })).toEqual(new Validity.NoQuorumOfParents({ weight: 2, totalWeight: Sats.make(4) }))
    expect(changed({ parents: [] })).toBeInstanceOf(Validity.NoQuorumOfParents)
  })

  it("has a quorum of heads only", () => {
    const unequal = openingOf(recordOf([5, 1, 1, 1]))
    const of = new VertexBuilder(unequal)
    const below = [0, 1, 2, 3].map((seat) => parentOf(of.make(seat, 1, [])))
    const judge = (chosen: ReadonlyArray<Parent>) => Validity.check(of.make(1, 2, chosen), unequal.base, of.committee)
    expect(Either.isRight(judge(below.slice(0, 2)))).toBe(true)
    expect(judge(below.slice(1))).toEqual(
      Either.left(new Validity.NoQuorumOfParents({ weight: 3, totalWeight: Sats.make(8) })),
    )
  })

  it("has two parents of one slot", () => {
    expect(changed({ parents: [...parents, parent(2, 12, "twin")] })).toEqual(
      new Validity.TwoParentsOfOneSlot({
        round: Natural.round(12),
        author: builder.committee.member(2).address,
      }),
    )
  })

  it("has two own parents, in one slot or in two", () => {
    const author = builder.committee.member(0).address
    expect(changed({ parents: [...parents, parent(0, 12, "twin")] })).toEqual(new Validity.TwoOwnParents({ author }))
    expect(changed({ parents: [...parents, parent(0, 11, "older")] })).toEqual(new Validity.TwoOwnParents({ author }))
  })

  it("has a parent of its own or a higher round", () => {
    for (const round of [13, 14]) {
      const future = parent(1, round, "future")
      expect(changed({ parents: [...parents, future] })).toEqual(new Validity.FutureParent({ parent: future }))
    }
  })

  it("has a parent from before the epoch", () => {
    const early = parent(1, 10, "early")
    expect(changed({ parents: [...parents, early] })).toEqual(new Validity.ParentBeforeEpoch({ parent: early }))
    expect(verdict(builder.make(0, 11, [early]))).toEqual(new Validity.ParentBeforeEpoch({ parent: early }))
  })

  it("has a parent by a stranger", () => {
    const strange = { ...parent(0, 12, "strange"), author: stranger.address }
    expect(changed({ parents: [...parents, strange] })).toEqual(new Validity.ParentNotAMember({ parent: strange }))
  })

  it("has more parents than three per member", () => {
    const many = Array.from({ length: 4 }, (_, i) => [1, 2, 3].map((seat) => parent(seat, 12 + i * 2, `${seat}/${i}`)))
    const late = builder.make(0, 30, [...many.flat(), parent(0, 29, "own")])
    expect(verdict(late)).toEqual(new Validity.TooLarge({ what: "parents", found: 13, allowed: 12 }))
  })

  it("has parents in another order than the canonical one", () => {
    const vertex = builder.make(0, 13, parents)
    const reversed = { ...vertex, header: { ...vertex.header, parents: vertex.header.parents.toReversed() } }
    const [, parent] = reversed.header.parents
    expect(verdict(reversed)).toMatchObject({ _tag: "ParentsOutOfOrder", parent })
  })

  it("exceeds the size limits, by one at least", () => {
    const vertex = builder.make(0, 13, parents)
    expect(verdict({ ...vertex, encoded: new Uint8Array(1_048_576) })).toBeUndefined()
    const bytes = { ...vertex, encoded: new Uint8Array(1_048_577) }
    expect(verdict(bytes)).toEqual(new Validity.TooLarge({ what: "bytes", found: 1_048_577, allowed: 1_048_576 }))
    const [a, b] = [firsts[0]?.header, builder.make(0, 11, [], { timestamp: Natural.timestamp(9) }).header]
    if (a === undefined) throw new Error("a vertex expected")
    const [first, second] = a.hash < b.hash ? [a, b] : [b, a]
    const heartbeat = { publicKey: stranger.publicKey, commitIndex: Natural.commitIndex(1), commitHash: Hash.ZERO }
    const beat = { ...heartbeat, signature: a.signature, validator: stranger.address }
    const evidence = Array.from({ length: 17 }, () => ({ first, second }))
    const heartbeats = Array.from({ length: 101 }, () => beat)
    expect(verdict({ ...vertex, body: { ...Vertex.emptyBody, evidence } })).toEqual(
      new Validity.TooLarge({ what: "evidence", found: 17, allowed: 16 }),
    )
    expect(verdict({ ...vertex, body: { ...Vertex.emptyBody, heartbeats } })).toEqual(
      new Validity.TooLarge({ what: "heartbeats", found: 101, allowed: 100 }),
    )
    const transactions = Array.from({ length: 5_001 }, () => transfer)
    expect(verdict({ ...vertex, body: { ...Vertex.emptyBody, transactions } })).toEqual(
      new Validity.TooLarge({ what: "transactions", found: 5_001, allowed: 5_000 }),
    )
  })

  it("has a change of a validator key before version 3, and not from it on", () => {
    const proof = "5".repeat(128) as Header.Header["signature"]
    const operation = { _tag: "RotateKeyTx", validatorKey: stranger.publicKey, proof } as const
    const { from, nonce, fee, authorization } = transfer
    const rotation = Transaction.make(NETWORK, { from, nonce, fee, operation }, authorization)
    const vertex = builder.make(0, 13, parents, {}, { ...Vertex.emptyBody, transactions: [transfer, rotation] })
    expect(verdict(vertex)).toEqual(new Validity.UnknownType({ type: "RotateKeyTx" }))
    const later = openingOf({ ...opening.record, rules: { ...opening.record.rules, protocolVersion: 3 } })
    const { committee } = new VertexBuilder(later)
    expect(Either.isRight(Validity.check(vertex, opening.base, committee))).toBe(true)
  })

  it("has evidence that proves nothing", () => {
    const [a, b] = [firsts[0]?.header, firsts[1]?.header]
    if (a === undefined || b === undefined) throw new Error("two vertices expected")
    const twin = builder.make(0, 11, [], { timestamp: Natural.timestamp(9) }).header
    const [low, high] = a.hash < twin.hash ? [a, twin] : [twin, a]
    const judge = (first: Header.Header, second: Header.Header) =>
      verdict({ ...builder.make(0, 13, parents), body: { ...Vertex.emptyBody, evidence: [{ first, second }] } })
    expect(judge(low, high)).toBeUndefined()
    for (const [first, second] of [
      [high, low],
      [a, a],
      [a, b],
    ] as const) {
      expect(judge(first, second)).toEqual(new Validity.MalformedEvidence({ position: 0 }))
    }
  })
})

const NETWORK = "test" as Network.NetworkId
const transfer = (() => {
  const from = keysOf(2)[0]
  if (from === undefined) throw new Error("a key expected")
  const unsigned = {
    from: from.address,
    nonce: Natural.nonce(0),
    fee: Sats.make(1_000),
    operation: { _tag: "Transfer", to: from.address, amount: Sats.make(1), memo: "" },
  } as const
  const signature = FakeKeys.signWith(from.publicKey)(Transaction.signedBytes(NETWORK, unsigned))
  return Transaction.make(NETWORK, unsigned, { _tag: "SingleKey", publicKey: from.publicKey, signature })
})()

describe("the signatures to check", () => {
  const a = builder.make(0, 11, []).header
  const b = builder.make(0, 11, [], { timestamp: Natural.timestamp(9) }).header
  const heartbeat = {
    publicKey: stranger.publicKey,
    commitIndex: Natural.commitIndex(1),
    commitHash: Hash.ZERO,
  }
  const beat = {
    ...heartbeat,
    signature: FakeKeys.signWith(stranger.publicKey)(Heartbeat.signedBytes(heartbeat)),
    validator: stranger.address,
  }
  const body = { transactions: [transfer], evidence: [{ first: a, second: b }], heartbeats: [beat] }
  const vertex = builder.make(0, 13, parents, {}, body)

  it("are those of header, evidence, heartbeats and transactions, with the signed bytes", () => {
    const checks = Validity.signatureChecks(NETWORK, vertex)
    expect(checks).toHaveLength(5)
    expect(checks.every(FakeKeys.isValid)).toBe(true)
    const signatures = [vertex.header, a, b, beat].map(({ signature }) => signature)
    expect(checks.map(({ signature }) => signature).slice(0, 4)).toEqual(signatures)
  })

  it("exclude transactions that were verified before", () => {
    expect(Validity.signatureChecks(NETWORK, vertex, ({ id }) => id === transfer.id)).toHaveLength(4)
  })
})
