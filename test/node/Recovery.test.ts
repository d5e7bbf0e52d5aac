import { it } from "@effect/vitest"
import { Effect, HashMap, Logger } from "effect"
import { describe, expect } from "vitest"
import type { Recovery } from "../../src/consensus/Recovery.js"
import * as Node from "../../src/node/engine/Recovery.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { committeeOf, equalWeights } from "../consensus/TestCommittee.js"

const INTERVAL = 500
const members = committeeOf(equalWeights(7)).record.members.map(({ address }) => address)
const right: Recovery = { following: { _tag: "InStep" }, signing: { _tag: "Signing" } }
const silent = (msLeft: number, isConnected = true): Recovery => ({
  ...right,
  signing: { _tag: "Silent", msLeft, isConnected, round: Natural.round(223) },
})

/** Reads these views two seconds apart, and returns the reports. */
const said = (views: ReadonlyArray<Partial<Node.View>>, watch = new Node.Watch(INTERVAL)) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make(({ logLevel, message, annotations }) => {
      const fields = [...HashMap.entries(annotations)]
        .filter(([name]) => name !== "module")
        .map(([name, value]) => `${name}=${String(value)}`)
      lines.push([logLevel.label, ...[message].flat().map(String), ...fields].join(" "))
    })
    for (const [i, view] of views.entries()) {
      const whole = { recovery: right, clockAheadMs: 0, wallAheadMs: 0, pauses: { count: 0, lastMs: 0 }, ...view }
      yield* watch
        .look(whole, Natural.timestamp(2_000 * i))
        .pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
    }
    return lines
  })

it.effect("reports a validator that stood still once a minute, and never a node without a seat", () =>
  Effect.gen(function* () {
    const looks = Array.from({ length: 40 }, (_, i) => ({ pauses: { count: i, lastMs: 2_000 + i } }))
    const text = "the process stalled, or its machine was too busy: it asked the committee again before signing"
    expect(yield* said(looks)).toEqual([
      expect.stringMatching(`^WARN ${text} .*times=1`),
      expect.stringMatching(`^WARN ${text} .*times=30`),
    ])
    const seatless: Recovery = { ...right, signing: { _tag: "NoSeat" } }
    expect(yield* said(looks.map((look) => ({ ...look, recovery: seatless })))).toEqual([])
  }),
)

describe("a waiting node", () => {
  it("reports the reason for waiting, and the remaining time if only time is missing", () => {
    expect(Node.waitingOf(right)).toBeNull()
    expect(Node.waitingOf({ ...right, signing: { _tag: "NoSeat" } })).toBeNull()
    const round = Natural.round(7)
    const standstill = Node.waitingOf({
      ...right,
      following: { _tag: "Standstill", round, lacks: members.slice(0, 2) },
    })
    expect(standstill?.waitsFor).toEqual([`a quorum of vertices in round 7; missing: ${members[0]}, ${members[1]}`])
    const named = Node.waitingOf(
      { ...right, signing: { _tag: "Asking", lacks: members.slice(1, 2) } },
      () => members[6] ?? expect.unreachable(),
    )
    expect(named?.waitsFor[0]).toMatch(`missing: ${members[6]}`)
    const asking = Node.waitingOf({ ...right, signing: { _tag: "Asking", lacks: members } })
    expect(asking?.waitsFor[0]).toContain("and 2 more")
    const waiting = Node.waitingOf(silent(23_400, false))
    expect(waiting).toMatchObject({ signing: "Silent", signsInSeconds: 24, needsOperator: false })
    expect(waiting?.waitsFor[0]).toMatch(/^24 s .*up to round 223.*no quorum is connected$/)
  })

  it("reports whose answers are missing after a lost disk, and the option for the operator", () => {
    const signing = {
      _tag: "Forgotten",
      epoch: Natural.epoch(7),
      fromRound: Natural.round(1_702),
      base: "0123456789abcdef",
      bound: null,
      lacks: members.slice(0, 1),
      refused: null,
    } as const
    const standing = { _tag: "Standstill", round: Natural.round(1_702), lacks: members } as const
    const waiting = Node.waitingOf({ ...right, signing })
    expect(waiting).toMatchObject({ signing: "Forgotten", signsInSeconds: null, needsOperator: false })
    const [sentence] = waiting?.waitsFor ?? []
    expect(sentence).toContain(`missing: ${members[0]};`)
    expect(sentence).toMatch(/start the node once with --sign-from-round 7:1702:0123456789abcdef$/)
    expect(Node.waitingOf({ following: standing, signing })?.needsOperator).toBe(true)
    const bounded = Node.waitingOf({
      ...right,
      signing: { ...signing, bound: Natural.round(1_705), refused: "too low" },
    })
    expect(bounded?.waitsFor[0]).toMatch(
      /^a quorum to pass round 1705.*is not above what the key is known to have signed$/,
    )
  })

  it.effect("logs the wait once, again after a minute, and when it is over", () =>
    Effect.gen(function* () {
      const views = [...Array.from({ length: 35 }, (_, i) => ({ recovery: silent(70_000 - 2_000 * i) })), {}, {}]
      const lines = yield* said(views)
      expect(lines.map((line) => line.split(" ")[0])).toEqual(["WARN", "WARN", "INFO"])
      expect(lines[0]).toContain("signing=Silent")
    }),
  )

  it.effect.each<Recovery["following"]>([
    { _tag: "Closing", epoch: Natural.epoch(3), lacks: [] },
    { _tag: "Standstill", round: Natural.round(7), lacks: [] },
  ])("does not report a problem that is over at the next look: $_tag", (following) =>
    Effect.gen(function* () {
      const recovery = { ...right, following }
      const watch = new Node.Watch(INTERVAL)
      expect(yield* said([{ recovery }, {}, { recovery }], watch)).toEqual([])
      expect(watch.waiting).toBeNull()
      expect(yield* said([{ recovery }], watch)).toHaveLength(1)
      expect(watch.waiting?.following).toBe(following._tag)
    }),
  )
})

describe("a wrong wall clock", () => {
  it.effect("is an error in the log once a minute, with a line when it is right again", () =>
    Effect.gen(function* () {
      const watch = new Node.Watch(INTERVAL)
      const limit = Node.mostAheadMs(INTERVAL)
      expect(yield* said([{ clockAheadMs: limit }, { clockAheadMs: null }], watch)).toEqual([])
      expect(watch.wrongClockAheadMs).toBeNull()
      const lines = yield* said([{}, {}, {}, { clockAheadMs: -limit - 1 }, { clockAheadMs: -limit - 1 }], watch)
      expect(lines).toHaveLength(1)
      expect(lines[0]).toMatch(/^ERROR .*ahead_ms=-2001$/)
      expect(watch.wrongClockAheadMs).toBe(-limit - 1)
      expect(yield* said([{}], watch)).toHaveLength(1)
    }),
  )

  it.effect.each<Recovery["following"]>([
    { _tag: "Behind", round: Natural.round(7), reachedRound: Natural.round(900) },
    { _tag: "EpochOver", epoch: Natural.epoch(3) },
    { _tag: "Joining", epoch: Natural.epoch(3) },
  ])("is not judged by fetched vertices, nor at once after them: $_tag", (following) =>
    Effect.gen(function* () {
      const watch = new Node.Watch(INTERVAL)
      const away = { recovery: { ...right, following }, clockAheadMs: 600_000 }
      expect(yield* said([away, away, { clockAheadMs: 600_000 }, { clockAheadMs: 600_000 }], watch)).toEqual([])
      expect([watch.clockAheadMs, watch.wrongClockAheadMs]).toEqual([null, null])
      const still = yield* said([away, ...Array.from({ length: 3 }, () => ({ clockAheadMs: 600_000 }))], watch)
      expect(still).toEqual([expect.stringContaining("the wall clock of this machine is wrong")])
    }),
  )

  it.effect("is not judged by what a node hears right after its start, before it knows how far the others are", () =>
    Effect.gen(function* () {
      const wrong = { clockAheadMs: 600_000 }
      expect(yield* said([wrong, wrong, {}])).toEqual([])
      expect(yield* said([wrong, wrong, wrong, wrong])).toEqual([expect.stringContaining("is wrong")])
    }),
  )

  it.effect("is a warning at once when it is set", () =>
    Effect.gen(function* () {
      const lines = yield* said([{}, { wallAheadMs: 3_600_000 }, { wallAheadMs: 3_600_500 }])
      expect(lines).toEqual(["WARN the wall clock was set, or the machine was suspended by_ms=3600000"])
    }),
  )
})
