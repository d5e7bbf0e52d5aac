import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import { MAX_HELD_BACK, SILENT_INTERVALS, SigningGuard } from "../../src/consensus/SigningGuard.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Header } from "../../src/protocol/vertex/Header.js"
import { committeeOf, equalWeights, openingOf, recordOf, seedOf, WITH_MEMORY } from "./TestCommittee.js"
import { VertexBuilder } from "./VertexBuilder.js"

const INTERVAL = 500
const SILENCE = SILENT_INTERVALS * INTERVAL
const committee = committeeOf(equalWeights(4))
const addressOf = (seat: number) => committee.member(seat).address
const self = addressOf(0)
const E1 = Natural.epoch(1)
const round = Natural.round

/** Each network has its own seed, and so its own bases. */
const openingIn = (epoch: number, network = "test") =>
  openingOf(recordOf(equalWeights(4), { epoch: Natural.epoch(epoch), seed: seedOf(network) }))

/** A header of this validator; `mark` distinguishes headers for one slot. */
const header = (at: number, mark = 0, epoch = 1, network = "test"): Header =>
  new VertexBuilder(openingIn(epoch, network)).make(0, at, [], { timestamp: Natural.timestamp(mark) }).header

const open = (guard: SigningGuard, epoch: number) => guard.open(Natural.epoch(epoch), openingIn(epoch).base)

/** A member's answer in this epoch. */
const told = (highest: Header | null, epoch = 1) => ({ epoch: Natural.epoch(epoch), header: highest })

const guardWith = (stored: ReadonlyArray<Header> = []) => {
  const guard = new SigningGuard(self, INTERVAL, E1, stored, WITH_MEMORY)
  open(guard, 1)
  return guard
}

const askedAll = (stored: ReadonlyArray<Header> = []): SigningGuard => {
  const guard = guardWith(stored)
  for (const seat of [1, 2]) guard.answer(addressOf(seat), told(null), committee)
  return guard
}

/** The others have made vertices up to the previous round, so the key can have signed this round at most. */
const vouch = (guard: SigningGuard, highest: number) => {
  for (const seat of [1, 2, 3]) {
    const { header } = new VertexBuilder(openingIn(1)).make(seat, highest - 1, [])
    guard.testify(addressOf(seat), told(header), committee)
  }
}

describe("the guard after a start", () => {
  it("signs nothing and holds back nothing before an epoch has opened", () => {
    const guard = new SigningGuard(self, INTERVAL, E1, [], WITH_MEMORY)
    expect([guard.silence, guard.maySign(E1, round(1)), guard.heldBack]).toEqual(["asking", false, []])
  })

  it("signs nothing before a quorum has answered, itself counted", () => {
    const guard = guardWith()
    expect(guard.toAsk(committee)).toEqual([1, 2, 3].map(addressOf))
    expect(guard.maySign(E1, round(1))).toBe(false)
    guard.answer(addressOf(1), told(null), committee)
    expect(guard.maySign(E1, round(1))).toBe(false)
    expect(guard.silence).toBe("asking")
    expect(guard.state(committee, round(0))).toEqual({ _tag: "Asking", lacks: [addressOf(2), addressOf(3)] })
    guard.answer(addressOf(1), told(null), committee)
    expect(guard.maySign(E1, round(1))).toBe(false)
    guard.answer(addressOf(3), told(null), committee)
    expect(guard.maySign(E1, round(1))).toBe(true)
    expect(guard.toAsk(committee)).toEqual([])
  })

  it("does not count the answer of a member whose epoch has not opened here", () => {
    for (const known of [null, header(5)]) {
      const guard = guardWith([header(5)])
      for (const seat of [1, 2, 3]) guard.answer(addressOf(seat), told(known, 3), committee)
      expect(guard.silence).toBe("asking")
      expect(guard.toAsk(committee)).toEqual([1, 2, 3].map(addressOf))
      open(guard, 3)
      for (const seat of [1, 2]) guard.answer(addressOf(seat), told(known, 3), committee)
      expect(guard.silence).toBeNull()
    }
  })

  it("does not count the answer of a member that is still in an earlier epoch", () => {
    const guard = guardWith([header(5)])
    open(guard, 2)
    for (const seat of [1, 2, 3]) guard.answer(addressOf(seat), told(header(5), 1), committee)
    expect(guard.silence).toBe("asking")
    expect(guard.meet(header(9, 0, 2))).toBe(true)
    for (const seat of [1, 2]) guard.answer(addressOf(seat), told(header(9, 0, 2), 2), committee)
    expect(guard.state(committee, round(0))).toMatchObject({ _tag: "Silent", round: 9 })
    expect(guard.toAsk(committee)).toEqual([])
  })

  it("asks members again when an epoch opens, until it has signed something", () => {
    const guard = askedAll([header(5)])
    expect(guard.silence).toBeNull()
    open(guard, 2)
    expect(guard.toAsk(committee)).toEqual([1, 2, 3].map(addressOf))
    expect(guard.maySign(Natural.epoch(2), round(6))).toBe(false)
    for (const seat of [1, 2]) guard.answer(addressOf(seat), told(header(5), 2), committee)
    guard.signed(header(6, 0, 2))
    open(guard, 3)
    expect(guard.toAsk(committee)).toEqual([])
    expect(guard.maySign(Natural.epoch(3), round(7))).toBe(true)
  })

  it("asks no member when it is alone", () => {
    const alone = committeeOf([1])
    const guard = new SigningGuard(alone.member(0).address, INTERVAL, E1, [], WITH_MEMORY)
    expect(guard.toAsk(alone)).toEqual([])
    expect(guard.maySign(E1, round(1))).toBe(true)
  })

  it("asks the members of a newer committee that have not answered", () => {
    const guard = guardWith()
    guard.answer(addressOf(1), told(null), committee)
    const heavier = committeeOf([1, 1, 5, 1])
    expect(guard.toAsk(heavier)).toEqual([2, 3].map(addressOf))
    guard.answer(addressOf(2), told(null), heavier)
    expect(guard.maySign(E1, round(1))).toBe(true)
  })

  it("asks no member and signs nothing without a seat", () => {
    const elsewhere = committeeOf(equalWeights(5))
    const guard = guardWith()
    expect(guard.state(elsewhere, round(0))).toEqual({ _tag: "NoSeat" })
    expect(guard.toAsk(elsewhere)).toEqual([])
    for (const { address } of elsewhere.record.members) guard.answer(address, told(null), elsewhere)
    expect(guard.maySign(E1, round(1))).toBe(false)
    // The answers count once it has a committee.
    expect(guard.state(committee, round(0))).toMatchObject({ _tag: "Asking" })
  })

  it("counts an answer about a pruned epoch as one about the current epoch", () => {
    const guard = guardWith()
    for (const epoch of [2, 3]) open(guard, epoch)
    guard.forgetBefore(Natural.epoch(3))
    guard.answer(addressOf(1), told(header(5, 0, 2), 3), committee)
    guard.answer(addressOf(2), told(header(5, 0, 3, "elsewhere"), 3), committee)
    expect(guard.toAsk(committee)).toEqual([2, 3].map(addressOf))
    // What is forgotten stays forgotten.
    guard.forgetBefore(E1)
    guard.answer(addressOf(3), told(header(6, 0, 1), 3), committee)
    expect(guard.maySign(Natural.epoch(3), round(1))).toBe(true)
  })

  it("ignores an answer that names a vertex on the disk", () => {
    const guard = askedAll([header(5)])
    expect(guard.meet(header(5))).toBe(false)
    expect(guard.silence).toBeNull()
    expect(guard.maySign(E1, round(5))).toBe(false)
    expect(guard.maySign(E1, round(6))).toBe(true)
  })
})

describe("the headers on the disk", () => {
  it("are known in any order, and nothing at or below the highest is signed", () => {
    const stored = [header(3, 0, 2), header(9), header(4, 0, 2), header(7)]
    const guard = askedAll(stored)
    expect(guard.size).toBe(4)
    expect(guard.highest).toEqual(header(4, 0, 2))
    for (const known of stored) expect(guard.meet(known)).toBe(false)
    expect([3, 4, 5].map((at) => guard.maySign(Natural.epoch(2), round(at)))).toEqual([false, false, true])
    expect(guard.maySign(E1, round(100))).toBe(false)
  })

  it("are forgotten with their epoch, but signing stays above them", () => {
    const guard = askedAll([header(9), header(4, 0, 2), header(2, 0, 3)])
    guard.forgetBefore(Natural.epoch(2))
    expect(guard.size).toBe(2)
    guard.forgetBefore(Natural.epoch(3))
    expect(guard.size).toBe(1)
    guard.signed(header(5, 0, 2))
    expect(guard.size).toBe(1)
    expect(guard.highest).toEqual(header(2, 0, 3))
  })

  // The ledger was restored from a backup of epoch 1; the signed vertices begin with epoch 3.
  it("begin with an epoch, and nothing is signed in earlier ones, which they do not cover", () => {
    const guard = askedAll([header(5, 0, 4), header(5, 0, 3)])
    for (const epoch of [2, 3, 4]) open(guard, epoch)
    expect(guard.meet(header(7, 0, 2))).toBe(false)
    expect(guard.meet(header(7, 0, 3))).toBe(true)
  })
})

describe("signing once", () => {
  it("happens only above everything signed or met", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.tuple(FastCheck.integer({ min: 1, max: 3 }), FastCheck.integer({ min: 1, max: 9 }))),
        (wishes) => {
          const guard = askedAll()
          const signed: Array<readonly [number, number]> = []
          for (const [epoch, at] of wishes) {
            if (!guard.maySign(Natural.epoch(epoch), round(at))) continue
            guard.signed(header(at, 0, epoch))
            signed.push([epoch, at])
          }
          for (const [i, [epoch, at]] of signed.entries()) {
            const before = signed[i - 1]
            if (before !== undefined) expect(epoch * 100 + at).toBeGreaterThan(before[0] * 100 + before[1])
          }
        },
      ),
    )
  })
})

describe("an own header that the disk does not know", () => {
  const tickFor = (guard: SigningGuard, from: number, ms: number, connected: boolean): number => {
    for (let t = from; t <= from + ms; t += 1_000) guard.tick(Natural.timestamp(t), () => connected)
    return from + ms
  }

  it("brings silence for 120 intervals connected to a quorum, then signing above it", () => {
    const guard = askedAll([header(5)])
    expect(guard.meet(header(8))).toBe(true)
    expect(guard.silence).toBe("foreign")
    vouch(guard, 8)
    let now = tickFor(guard, 0, SILENCE - 1_000, true)
    expect(guard.maySign(E1, round(100))).toBe(false)
    now = tickFor(guard, now, 1_000, true)
    expect(now).toBe(SILENCE)
    expect(guard.maySign(E1, round(8))).toBe(false)
    expect(guard.maySign(E1, round(9))).toBe(true)
  })

  it("in an answer at the start does the same", () => {
    const guard = guardWith([header(5)])
    expect(guard.meet(header(7))).toBe(true)
    for (const seat of [1, 2]) guard.answer(addressOf(seat), told(header(7)), committee)
    expect(guard.silence).toBe("foreign")
    expect(guard.highest?.round).toBe(7)
  })

  // Its disk was set back, and it has since signed above what another process signed before.
  it("below one that was signed here brings silence too", () => {
    const guard = askedAll([header(9)])
    expect(guard.meet(header(7))).toBe(true)
    expect(guard.silence).toBe("foreign")
    expect(guard.highest?.round).toBe(9)
  })

  it("of a slot that was signed here is foreign too", () => {
    const guard = askedAll([header(5)])
    expect(guard.meet(header(5))).toBe(false)
    expect(guard.meet(header(5, 1))).toBe(true)
  })

  // A member that had kept 100 old vertices of a validator that lost its disk could show it one every 119 intervals.
  it("below a known one does not prolong the silence", () => {
    const guard = askedAll()
    guard.meet(header(30))
    vouch(guard, 30)
    for (let t = 0, old = 29; t < SILENCE; t += 1_000, old--) {
      if (old > 0) expect(guard.meet(header(old))).toBe(true)
      guard.tick(Natural.timestamp(t), () => true)
    }
    expect(guard.state(committee, round(0))).toMatchObject({
      _tag: "Silent",
      msLeft: 1_000,
      isConnected: true,
      round: 30,
    })
    guard.tick(Natural.timestamp(SILENCE), () => true)
    expect(guard.state(committee, round(30))).toEqual({ _tag: "Signing" })
    expect(guard.maySign(E1, round(30))).toBe(false)
    expect(guard.maySign(E1, round(31))).toBe(true)
    // Nor does it start another silence.
    expect(guard.meet(header(1, 7))).toBe(true)
    expect(guard.silence).toBeNull()
  })

  it("changes nothing when met again, but every higher one restarts the silence", () => {
    const guard = askedAll()
    guard.meet(header(8))
    const now = tickFor(guard, 0, SILENCE - 1_000, true)
    expect(guard.meet(header(8))).toBe(false)
    expect(guard.meet(header(9))).toBe(true)
    tickFor(guard, now, SILENCE - 1_000, true)
    expect(guard.silence).toBe("foreign")
  })

  // A process that was paused for a minute wakes up with all messages of that minute still unread.
  it("keeps the silence over a long time between two looks", () => {
    const guard = askedAll()
    guard.meet(header(8))
    for (let look = 0; look < 20; look++) guard.tick(Natural.timestamp(look * 10 * SILENCE), () => true)
    expect(guard.silence).toBe("foreign")
  })

  // It checks at least every second, or with slow rounds every four intervals.
  it.each([
    { interval: 100, counted: 1_000 },
    { interval: 500, counted: 2_000 },
  ])("counts $counted ms of the time between two looks, with rounds of $interval ms", ({ interval, counted }) => {
    const guard = new SigningGuard(self, interval, E1, [], WITH_MEMORY)
    open(guard, 1)
    guard.meet(header(8))
    const left = (now: number) => {
      guard.tick(Natural.timestamp(now), () => true)
      const state = guard.state(committee, round(0))
      return state._tag === "Silent" ? SILENT_INTERVALS * interval - state.msLeft : null
    }
    expect([0, 400, 1_000_000, 2_000_000].map(left)).toEqual([0, 400, 400 + counted, 400 + 2 * counted])
  })

  it("counts no time before or after a look without a quorum, nor before a silence that restarts", () => {
    const guard = askedAll()
    guard.meet(header(8))
    const look = (now: number, isConnected = true) => {
      guard.tick(Natural.timestamp(now), () => isConnected)
      return guard.state(committee, round(0))
    }
    look(0)
    expect(look(1_000)).toMatchObject({ msLeft: SILENCE - 1_000, isConnected: true })
    expect(look(2_000, false)).toMatchObject({ msLeft: SILENCE - 1_000, isConnected: false })
    expect(look(3_000)).toMatchObject({ msLeft: SILENCE - 1_000, isConnected: true })
    guard.meet(header(9))
    expect(guard.state(committee, round(0))).toMatchObject({ msLeft: SILENCE, isConnected: false, round: 9 })
    expect(look(4_000)).toMatchObject({ msLeft: SILENCE })
    expect(look(5_000)).toMatchObject({ msLeft: SILENCE - 1_000 })
  })

  it("looks for a quorum only during a silence", () => {
    const guard = askedAll()
    guard.tick(Natural.timestamp(0), () => {
      throw new Error("asked")
    })
    expect(guard.silence).toBeNull()
  })

  it("keeps the silence while no quorum is connected, across epochs", () => {
    const guard = askedAll()
    guard.meet(header(8))
    tickFor(guard, 0, 10 * SILENCE, false)
    guard.forgetBefore(Natural.epoch(2))
    expect(guard.silence).toBe("foreign")
    tickFor(guard, 20 * SILENCE, SILENCE, true)
    expect(guard.silence).toBeNull()
  })

  it("of an epoch with pruned vertices is ignored", () => {
    const guard = askedAll()
    guard.forgetBefore(Natural.epoch(2))
    open(guard, 2)
    expect(guard.meet(header(8, 0, 1))).toBe(false)
    expect(guard.meet(header(8, 0, 2))).toBe(true)
  })

  it("of another validator is ignored", () => {
    const other = new VertexBuilder(openingOf(recordOf(equalWeights(4)))).make(1, 8, []).header
    expect(askedAll().meet(other)).toBe(false)
  })
})

describe("an own header of an epoch that has not opened", () => {
  it("causes no silence yet, and counts when the epoch opens on its base", () => {
    const guard = askedAll([header(5)])
    expect(guard.meet(header(50, 0, 2))).toBe(false)
    expect(guard.meet(header(40, 0, 2))).toBe(false)
    expect(guard.maySign(E1, round(6))).toBe(true)
    expect(open(guard, 2)).toEqual(header(50, 0, 2))
    expect(guard.silence).toBe("foreign")
    expect(guard.highest).toEqual(header(50, 0, 2))
    expect(guard.heldBack).toEqual([])
  })

  // Headers of another network under the same keys, of a later epoch, were mistaken for own ones: all validators of a
  // network fell silent, again after every restart.
  it("is ignored when the epoch opens on another base", () => {
    const guard = askedAll([header(5)])
    guard.signed(header(6))
    for (const epoch of [1, 2, 3]) expect(guard.meet(header(50, 0, epoch, "elsewhere"))).toBe(false)
    expect(guard.meet(header(30, 0, 3))).toBe(false)
    expect(open(guard, 2)).toBeUndefined()
    expect(guard.silence).toBeNull()
    expect(guard.maySign(Natural.epoch(2), round(7))).toBe(true)
    expect(open(guard, 3)).toEqual(header(30, 0, 3))
    expect(guard.silence).toBe("foreign")
  })

  it("is held back once per base of its epoch, the highest, and of two in one slot the first", () => {
    const guard = askedAll()
    const misplaced = { ...header(6, 0, 2), epoch: Natural.epoch(4) }
    const rising = [8, 9].map((at) => header(at, 0, 2))
    const others = [header(9, 1, 2), header(4, 0, 2), header(7, 0, 2, "elsewhere"), misplaced]
    for (const met of [header(5, 0, 3), ...rising, ...others]) guard.meet(met)
    expect(guard.heldBack).toEqual([header(9, 0, 2), header(7, 0, 2, "elsewhere"), header(5, 0, 3), misplaced])
  })

  it("is judged when a later epoch opens first, and not before its own", () => {
    const guard = askedAll()
    for (const epoch of [2, 3, 4]) guard.meet(header(5, 0, epoch))
    expect(open(guard, 3)).toEqual(header(5, 0, 3))
    expect(guard.heldBack).toEqual([header(5, 0, 4)])
  })

  it("in an answer says nothing about the current epoch, so the answer does not count until that epoch opens", () => {
    const guard = guardWith()
    for (const seat of [1, 2, 3]) guard.answer(addressOf(seat), told(header(50, 0, 2), 2), committee)
    expect(guard.toAsk(committee)).toEqual([1, 2, 3].map(addressOf))
    expect(guard.maySign(E1, round(6))).toBe(false)
    open(guard, 2)
    for (const seat of [1, 2]) guard.answer(addressOf(seat), told(header(50, 0, 2), 2), committee)
    expect(guard.toAsk(committee)).toEqual([])
  })

  it("does not count in an answer if it is of another network", () => {
    const guard = guardWith()
    for (const seat of [1, 2]) guard.answer(addressOf(seat), told(header(50, 0, 1, "elsewhere")), committee)
    expect(guard.silence).toBe("asking")
  })

  it("takes a bounded place, reserved for the nearest epochs", () => {
    const guard = askedAll()
    for (let epoch = 3 * MAX_HELD_BACK; epoch > 1; epoch--) guard.meet(header(5, 0, epoch, "elsewhere"))
    expect(guard.heldBack).toHaveLength(MAX_HELD_BACK)
    guard.meet(header(9, 0, 2))
    expect(guard.heldBack).toHaveLength(MAX_HELD_BACK)
    expect(open(guard, 2)).toEqual(header(9, 0, 2))
  })

  it("is known to the guard that replaces this one after a fast sync", () => {
    const before = askedAll()
    before.meet(header(9, 0, 7))
    const guard = new SigningGuard(self, INTERVAL, Natural.epoch(7), [], { ...WITH_MEMORY, heldBack: before.heldBack })
    expect(open(guard, 7)).toEqual(header(9, 0, 7))
    expect(guard.silence).toBe("foreign")
  })
})
