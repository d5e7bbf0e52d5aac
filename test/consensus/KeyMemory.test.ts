import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import { KeyMemory, type Place, type Seen, type Word } from "../../src/consensus/KeyMemory.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Header } from "../../src/protocol/vertex/Header.js"
import { committeeOf, equalWeights, openingOf, recordOf } from "./TestCommittee.js"
import { VertexBuilder } from "./VertexBuilder.js"

const committee = committeeOf(equalWeights(4))
const { record, base } = openingOf(recordOf(equalWeights(4)))
const addressOf = (seat: number) => committee.member(seat).address
const E1 = Natural.epoch(1)
const place = (round: number, epoch = 1): Place => ({ epoch: Natural.epoch(epoch), round: Natural.round(round) })
const headerOf = (seat: number, round: number): Header =>
  new VertexBuilder(openingOf(recordOf(equalWeights(4)))).make(seat, round, []).header
/** The last round whose leader can be committed without closing the epoch, and two above it. */
const UNCLOSED = record.firstRound + record.rules.epochRounds + 1

const seen = (highest: Place | null = place(5)): Seen => ({
  highest,
  answered: new Set([0, 1, 2].map(addressOf)),
  hasCommitteeAnswered: true,
})

const lost = (word: Word | null = null): KeyMemory => {
  const memory = new KeyMemory(addressOf(0), false, word)
  memory.open(E1, base)
  return memory
}

const testify = (memory: KeyMemory, seat: number, round: number, epoch = 1) =>
  memory.testify(
    addressOf(seat),
    { epoch: Natural.epoch(epoch), header: round === 0 ? null : headerOf(seat, round) },
    committee,
  )

/** A vertex of the member in this seat, with parents of these members in the previous round. */
const uponOf = (seat: number, round: number, parents: ReadonlyArray<number>): Header => {
  const builder = new VertexBuilder(openingOf(recordOf(equalWeights(4))))
  const before = parents.map((parent) => builder.make(parent, round - 1, []).header)
  return builder.make(seat, round, before).header
}

describe("the memory after a lost disk", () => {
  it("rejects an absurd round as an answer, and learns from what its author signs after the loss", () => {
    const memory = lost()
    testify(memory, 1, 10)
    testify(memory, 2, 11)
    for (const absurd of [UNCLOSED, UNCLOSED + 1, 9_000_000]) {
      testify(memory, 3, absurd)
      memory.settle(seen(), committee)
      expect([memory.toAsk(committee), memory.isKnown]).toEqual([[addressOf(3)], false])
    }
    // Its parents may be older than the loss.
    memory.saw(uponOf(3, 11, [1, 2, 3]), committee)
    memory.saw(uponOf(3, 12, [1, 2, 3]), committee)
    expect(memory.toAsk(committee)).toEqual([addressOf(3)])
    memory.saw(uponOf(3, 13, [1, 2, 3]), committee)
    memory.settle(seen(), committee)
    expect([memory.toAsk(committee), memory.bound]).toEqual([[], place(13)])
  })

  it("trusts a member's statement only up to what its own vertices support", () => {
    const memory = lost()
    for (const seat of [1, 2]) testify(memory, seat, 10)
    testify(memory, 3, 50)
    memory.settle(seen(), committee)
    expect(memory.bound).toEqual(place(51))
    memory.saw(uponOf(3, 12, [1, 2, 3]), committee)
    memory.settle(seen(), committee)
    expect(memory.bound).toEqual(place(12))
  })

  it("is bounded by the round after the highest that a quorum's members made, this one not counted", () => {
    const memory = lost()
    expect(memory.toAsk(committee)).toEqual([1, 2, 3].map(addressOf))
    for (const [seat, round] of [
      [1, 10],
      [2, 12],
    ] as const) {
      testify(memory, seat, round)
      memory.settle(seen(), committee)
      expect([memory.isKnown, memory.bound]).toEqual([false, null])
    }
    testify(memory, 3, 11)
    memory.settle(seen(), committee)
    expect([memory.isKnown, memory.bound]).toEqual([true, place(13)])
  })

  it("ignores its own word, members of another epoch, and headers of others or another base", () => {
    const memory = lost()
    testify(memory, 0, 10)
    testify(memory, 1, 10, 2)
    memory.testify(addressOf(2), { epoch: E1, header: headerOf(1, 10) }, committee)
    memory.testify(addressOf(3), { epoch: E1, header: { ...headerOf(3, 10), base: headerOf(3, 10).hash } }, committee)
    expect(memory.toAsk(committee)).toEqual([1, 2, 3].map(addressOf))
  })

  it("is bounded by the lowest word of a quorum, so a liar does not raise it with enough others", () => {
    const seven = committeeOf(equalWeights(7))
    const memory = new KeyMemory(seven.member(0).address, false, null)
    const opening = openingOf(recordOf(equalWeights(7)))
    memory.open(E1, opening.base)
    const tell = (seat: number, round: number) => {
      const { header } = new VertexBuilder(opening).make(seat, round, [])
      memory.testify(seven.member(seat).address, { epoch: E1, header }, seven)
      memory.settle(seen(), seven)
    }
    tell(1, 200)
    for (const seat of [2, 3, 4, 5]) tell(seat, 10 + seat)
    expect(memory.bound).toEqual(place(201))
    expect(memory.toAsk(seven)).toEqual([seven.member(6).address])
    tell(6, 12)
    expect(memory.bound).toEqual(place(16))
    memory.signed()
    expect(memory.toAsk(seven)).toEqual([])
  })

  it("is unsettled where the epoch may have closed, since the key may have signed in the next one", () => {
    for (const [round, isKnown] of [
      [UNCLOSED - 1, true],
      [UNCLOSED, false],
    ] as const) {
      const memory = lost()
      for (const seat of [1, 2, 3]) testify(memory, seat, round)
      memory.settle(seen(), committee)
      expect(memory.isKnown).toBe(isKnown)
    }
  })

  it("is complete from the next epoch on once it is bounded, and otherwise asks again there", () => {
    const [bounded, unbounded] = [lost(), lost()]
    for (const seat of [1, 2, 3]) testify(bounded, seat, 10)
    for (const seat of [1, 2]) testify(unbounded, seat, 10)
    for (const memory of [bounded, unbounded]) {
      memory.settle(seen(), committee)
      memory.open(Natural.epoch(2), base)
    }
    expect([bounded.isKnown, bounded.toAsk(committee)]).toEqual([true, []])
    expect([unbounded.isKnown, unbounded.toAsk(committee)]).toEqual([false, [1, 2, 3].map(addressOf)])
  })

  it("is in doubt again when a header above the bound turns up", () => {
    const memory = lost()
    for (const seat of [1, 2, 3]) testify(memory, seat, 10)
    memory.settle(seen(), committee)
    memory.doubt()
    expect([memory.isKnown, memory.bound, memory.toAsk(committee).length]).toEqual([false, null, 3])
  })

  it("is complete immediately in a new network whose members are in its first nine rounds", () => {
    const founding = (rounds: ReadonlyArray<number>, highest: Place | null = null) => {
      const memory = lost()
      for (const [i, round] of rounds.entries()) testify(memory, i + 1, round)
      memory.settle(seen(highest), committee)
      return [memory.isKnown, memory.bound]
    }
    expect(founding([0, 1])).toEqual([true, null])
    expect(founding([0, 0, 0])).toEqual([true, null])
    expect(founding([0])).toEqual([false, null])
    expect(founding([0, 9]), "a late start").toEqual([true, null])
    expect(founding([0, 10])).toEqual([false, null])
    expect(founding([0, 1], place(1))).toEqual([false, null])
  })

  it("needs every other member's word where the others are no quorum", () => {
    const three = committeeOf(equalWeights(3))
    const memory = new KeyMemory(three.member(0).address, false, null)
    memory.open(E1, base)
    const answered = (...seats: ReadonlyArray<number>) =>
      memory.settle({ ...seen(), answered: new Set(seats.map((seat) => three.member(seat).address)) }, three)
    answered(0, 1)
    expect(memory.isKnown).toBe(false)
    answered(0, 1, 2)
    expect([memory.isKnown, memory.bound]).toEqual([true, null])
  })
})

describe("the operator's word", () => {
  const word: Word = { ...place(8), base: base.slice(0, 16) }

  it("bounds the memory once the committee has reported its rounds", () => {
    const memory = lost(word)
    memory.settle({ ...seen(), hasCommitteeAnswered: false }, committee)
    expect(memory.isKnown).toBe(false)
    memory.settle(seen(), committee)
    expect([memory.isKnown, memory.bound]).toEqual([true, place(7)])
  })

  it("lowers the bound that the others' word has set", () => {
    const memory = lost(word)
    for (const seat of [1, 2, 3]) testify(memory, seat, 10)
    memory.settle({ ...seen(), hasCommitteeAnswered: false }, committee)
    expect(memory.bound).toEqual(place(11))
    memory.settle(seen(), committee)
    expect(memory.bound).toEqual(place(7))
  })

  it("applies only to its epoch of its network, and not below signed vertices", () => {
    for (const [said, highest, refusal] of [
      [word, place(7), null],
      [word, null, null],
      [word, place(8), "too low"],
      [{ ...word, epoch: Natural.epoch(2) }, place(5), "elsewhere"],
      [{ ...word, base: "0".repeat(16) }, place(5), "elsewhere"],
    ] as const) {
      const memory = lost(said)
      memory.settle(seen(highest), committee)
      expect([memory.refusal(highest), memory.isKnown]).toEqual([refusal, refusal === null])
    }
    expect(lost().refusal(place(5))).toBeNull()
  })

  it("has no effect on a disk that remembers", () => {
    const memory = new KeyMemory(addressOf(0), true, word)
    memory.open(E1, base)
    memory.settle(seen(), committee)
    expect(memory.bound).toBeNull()
  })
})

// The proof of docs/recovery.md with random histories: the bound is never below what the key can have signed before the
// loss.
it("a key has signed nothing above its bound, even if one of four members lies", () => {
  const rounds = FastCheck.integer({ min: 1, max: 30 })
  FastCheck.assert(
    FastCheck.property(
      FastCheck.array(rounds, { minLength: 3, maxLength: 3 }),
      FastCheck.array(FastCheck.integer({ min: 0, max: 3 }), { minLength: 3, maxLength: 3 }),
      FastCheck.option(FastCheck.record({ seat: FastCheck.integer({ min: 0, max: 2 }), says: rounds }), { nil: null }),
      (atLoss, since, liar) => {
        // The liar helps the key to any quorum; it signs as high as quorums of three with itself allow.
        const made = (seat: number, round: number) => seat === liar?.seat || (atLoss[seat] ?? 0) >= round
        let signed = 1
        while ([0, 1, 2].filter((seat) => made(seat, signed)).length >= 2) signed++
        const memory = lost()
        for (const seat of [0, 1, 2]) {
          const honest = (atLoss[seat] ?? 0) + (since[seat] ?? 0)
          testify(memory, seat + 1, seat === liar?.seat ? liar.says : honest)
        }
        // Everything made before the loss, and the liar's inventions, upon existing vertices.
        for (const seat of [0, 1, 2]) {
          for (let round = 2; round <= (seat === liar?.seat ? 30 : (atLoss[seat] ?? 0)); round++) {
            const parents = [0, 1, 2].filter((each) => made(each, round - 1)).map((each) => each + 1)
            memory.saw(uponOf(seat + 1, round, parents), committee)
          }
        }
        memory.settle(seen(), committee)
        expect(memory.bound?.round ?? 0).toBeGreaterThanOrEqual(signed)
      },
    ),
  )
})
