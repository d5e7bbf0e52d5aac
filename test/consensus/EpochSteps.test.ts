/** One epoch, vertex by vertex, with the outputs of each step. */
import { describe, expect, it } from "vitest"
import { Epoch } from "../../src/consensus/Epoch.js"
import type { Output } from "../../src/consensus/output/Output.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { only, tagsOf } from "./DrivenCore.js"
import { floating, grown, twoCertified } from "./Grown.js"
import { equalWeights, openingOf, recordOf, rules } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

const EPOCH_ROUNDS = 20
const DEPTH = 4
const record = recordOf(equalWeights(4), {
  rules: { ...rules, epochRounds: EPOCH_ROUNDS, collectionDepthRounds: DEPTH },
})
const builder = new VertexBuilder(openingOf(record))
const whole = grown(builder, EPOCH_ROUNDS + 4)
const upTo = (round: number) => whole.filter(({ header }) => header.round <= round)
const addressOf = (seat: number) => builder.committee.member(seat).address

/** From a seat's view, or without a seat. */
const opened = (seat: number | null = 0) => {
  const outputs: Array<Output> = []
  const epoch = new Epoch(builder.opening, seat === null ? null : addressOf(seat), (output) => outputs.push(output))
  const receive = (...vertices: ReadonlyArray<Vertex>): ReadonlyArray<Output> => {
    outputs.length = 0
    for (const vertex of vertices) epoch.receive(vertex)
    return [...outputs]
  }
  const restore = (...vertices: ReadonlyArray<Vertex>): ReadonlyArray<Output> => {
    outputs.length = 0
    for (const vertex of vertices) epoch.restore(vertex)
    return [...outputs]
  }
  return { epoch, receive, restore }
}

const second = (seat: number, round: number, on: ReadonlyArray<Vertex> = []): Vertex =>
  builder.make(seat, round, on.map(parentOf), { timestamp: Natural.timestamp(77_000 + round) })

describe("an epoch", () => {
  it("accepts a vertex once, keeps a waiting one available, and reports the fault of an invalid one", () => {
    const { epoch, receive } = opened()
    const [first] = upTo(1)
    if (first === undefined) throw new Error("a vertex expected")
    expect(receive(first)).toEqual([{ _tag: "Inserted", vertex: first }])
    expect(receive(first)).toEqual([])
    const waiting = floating(builder, 1, 9)
    expect([receive(waiting), receive(waiting)]).toEqual([[], []])
    expect(epoch.vertex(waiting.header.hash)).toBe(waiting)
    const elsewhere = builder.make(1, 1, [], { base: Hash.of("udg/checkpoint-id", Uint8Array.of(1)) })
    const [invalid, ...more] = receive(elsewhere)
    expect([invalid, more]).toMatchObject([{ _tag: "Invalid", vertex: elsewhere, error: { _tag: "WrongBase" } }, []])
    expect(epoch.vertex(elsewhere.header.hash)).toBeUndefined()
  })

  it("knows a quorum's progress from waiting vertices and from stored ones", () => {
    const { epoch, receive } = opened()
    receive(...[1, 2].map((seat) => floating(builder, seat, 9)))
    expect(epoch.reachedRound).toBe(0)
    receive(floating(builder, 3, 8))
    expect(epoch.reachedRound).toBe(8)
    const restored = opened()
    restored.restore(...upTo(3))
    expect(restored.epoch.reachedRound).toBe(3)
  })

  it("chains commits in the order of rounds, and drops vertices below the collection depth", () => {
    const { epoch, receive } = opened()
    const commits = only(receive(...upTo(12)), "Committed")
    expect(commits.map(({ commit }) => commit.leaderRound)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(commits.map(({ closes }) => closes)).toEqual(commits.map(() => false))
    expect(epoch.position.leaderRound).toBe(10)
    expect(epoch.dag.collectedRound).toBe(10 - DEPTH)
    expect(epoch.dag.size).toBe(4 * (12 - 10 + DEPTH))
    expect(receive(...upTo(1))).toEqual([])
  })

  it("is closed by the first commit at its last round, and then accepts nothing from peers or from the disk", () => {
    const { epoch, receive, restore } = opened()
    const commits = only(receive(...whole), "Committed")
    expect(commits.map(({ commit, closes }) => [commit.leaderRound, closes])).toEqual(
      Array.from({ length: EPOCH_ROUNDS }, (_, i) => [i + 1, i + 1 === EPOCH_ROUNDS]),
    )
    expect(epoch.isClosed).toBe(true)
    const later = builder.make(1, 40, [])
    expect([receive(later), restore(later)]).toEqual([[], []])
    expect(epoch.vertex(later.header.hash)).toBeUndefined()
    expect(epoch.reachedRound).toBeLessThan(40)
    // Unordered vertices stay and are served: the last commit collects nothing.
    expect(epoch.dag.collectedRound).toBe(EPOCH_ROUNDS - 1 - DEPTH)
  })

  it("returns only this node's vertices that it closes without having ordered", () => {
    const closesWith = (seat: number | null) => {
      const outputs = opened(seat).receive(...whole)
      return only(outputs, "Returned").flatMap(({ vertices }) =>
        vertices.map(({ header }) => [header.author, header.round]),
      )
    }
    const returned = closesWith(2)
    expect(returned.length).toBeGreaterThan(0)
    for (const [author, round] of returned) {
      expect(author).toBe(addressOf(2))
      expect(round).toBeGreaterThanOrEqual(EPOCH_ROUNDS)
    }
    expect(closesWith(null)).toEqual([])
  })

  it("returns an unnamed own vertex when its round is collected", () => {
    const { epoch, receive } = opened(3)
    const lost = builder.make(3, 2, [...grown(builder, 1, [0, 1, 2]), ...upTo(1).slice(3)].map(parentOf))
    const others = grown(builder, 12, [0, 1, 2])
    receive(...others.slice(0, 3), ...upTo(1).slice(3), lost)
    const returned = only(receive(...others), "Returned")
    expect(returned.flatMap(({ vertices }) => vertices.map(({ header }) => header.round)).sort()).toEqual([1, 2])
    expect(epoch.dag.collectedRound).toBeGreaterThan(2)
    expect(only(opened(null).receive(...others.slice(0, 3), ...upTo(1).slice(3), lost, ...others), "Returned")).toEqual(
      [],
    )
  })
})

describe("this node's vertices", () => {
  it("are kept for resending: the last three, by round, however they come", () => {
    const { epoch, receive } = opened(1)
    receive(...upTo(6))
    const rounds = () => epoch.ownVertices.map(({ header }) => [header.author, header.round])
    expect(rounds()).toEqual([4, 5, 6].map((round) => [addressOf(1), round]))
    expect(epoch.ownRound).toBe(6)
    const loaded = opened(1).epoch
    for (const round of [3, 1, 4, 2]) loaded.keepOwn(builder.make(1, round, []))
    loaded.keepOwn(builder.make(2, 9, []))
    expect(loaded.ownVertices.map(({ header }) => header.round)).toEqual([2, 3, 4])
    expect(loaded.ownRound).toBe(0)
  })

  it("are not made by a node without a seat", () => {
    for (const address of [null, new VertexBuilder(openingOf(recordOf(equalWeights(5)))).committee.member(4).address]) {
      const epoch = new Epoch(builder.opening, address, () => undefined)
      for (const vertex of upTo(3)) epoch.receive(vertex)
      epoch.keepOwn(builder.make(0, 9, []))
      expect([epoch.seat, epoch.proposer, epoch.ownVertices, epoch.ownRound]).toEqual([undefined, null, [], 0])
    }
  })
})

describe("two vertices of one slot", () => {
  const evidenceIn = (outputs: ReadonlyArray<Output>) =>
    only(outputs, "EvidenceFound").map(({ evidence }) => [evidence.first.author, evidence.first.round])

  it("prove equivocation by their author, once, whether the first is in the DAG or waits", () => {
    const { receive } = opened()
    receive(...upTo(2))
    expect(evidenceIn(receive(second(1, 2, upTo(1))))).toEqual([[addressOf(1), 2]])
    expect(evidenceIn(receive(second(1, 1)))).toEqual([])
    const waiting = opened()
    expect(evidenceIn(waiting.receive(floating(builder, 2, 9)))).toEqual([])
    const parents = grown(builder, 8).slice(-4)
    expect(evidenceIn(waiting.receive(second(2, 9, parents)))).toEqual([[addressOf(2), 9]])
  })

  it("of different rounds or authors prove nothing", () => {
    const { receive } = opened()
    expect(evidenceIn(receive(...upTo(4)))).toEqual([])
    expect(evidenceIn(receive(floating(builder, 2, 9), floating(builder, 2, 10), floating(builder, 3, 9)))).toEqual([])
  })

  it("prove equivocation also when both come from the disk", () => {
    const { restore } = opened()
    restore(...upTo(2))
    expect(evidenceIn(restore(second(3, 2, upTo(1))))).toEqual([[addressOf(3), 2]])
  })

  it("by this node itself produce no accusation", () => {
    const { receive } = opened(1)
    receive(...upTo(2))
    expect(evidenceIn(receive(second(1, 2, upTo(1))))).toEqual([])
  })

  it("leave the first in its place until a vertex names the second", () => {
    const { epoch, receive } = opened()
    receive(...upTo(2))
    const other = second(1, 2, upTo(1))
    expect(tagsOf(receive(other))).toEqual(["EvidenceFound"])
    expect(epoch.dag.has(other.header.hash)).toBe(false)
    const naming = builder.make(
      2,
      3,
      [upTo(2)[4], other, upTo(2)[6]].flatMap((one) => (one ? [parentOf(one)] : [])),
    )
    expect(only(receive(naming), "Inserted").map(({ vertex }) => vertex.header.hash)).toEqual([
      other.header.hash,
      naming.header.hash,
    ])
  })
})

describe("an epoch in which two vertices of one slot have certificates", () => {
  // More than a third of the weight has equivocated, so finality is lost and the node must stop.
  it("is reported as soon as it has both, with their hashes", () => {
    const { receive } = opened(null)
    const first = upTo(1)
    const { other, votes, certificates } = twoCertified(builder, first)
    receive(...first, other, ...votes, certificates[0])
    const rollbacks = only(receive(certificates[1]), "FinalityRollback")
    expect(rollbacks.map(({ rollback }) => rollback._tag)).toEqual(["TwoCertified"])
  })
})
