/** The limits on one connection below the level of messages, on a clock that the test moves. */
import { describe, expect, it } from "vitest"
import { Meter } from "../../src/network/peers/Meter.js"
import { RATES, strangerShare } from "../../src/network/peers/Rates.js"
import type { Standing } from "../../src/network/Standing.js"
import { nodeClock } from "../../src/network/tls/NodeClock.js"
import { LEAST_SHARE } from "../../src/turns/SpareTime.js"

const scene = (first: Standing, among = 1) => {
  const [clock, who, strangers] = [{ now: 0, pace: 1 }, { standing: first }, { count: among }]
  const floods: Array<string> = []
  const meter = new Meter({
    standing: () => who.standing,
    strangers: () => strangers.count,
    flooded: (what) => void floods.push(what),
    clock: { ...nodeClock, now: () => clock.now, spareNow: () => clock.now * clock.pace, spareShare: () => clock.pace },
  })
  /** How often a peer that brings this much per second must wait in the given seconds. */
  const waits = (seconds: number, pieces: number, bytes: number): number => {
    let count = 0
    for (let n = 0; n < seconds * 10; n++) {
      clock.now += 100
      if (meter.charge(pieces / 10, bytes / 10) !== undefined) count++
    }
    return count
  }
  return { clock, who, strangers, meter, waits, floods }
}

/** Others get the thread after 128 pieces, which is not a wait. */
const FEW = 100

describe("the meter of a peer", () => {
  it("limits a stranger to its share of all strangers' pieces and bytes", () => {
    const alone = scene("stranger")
    expect(alone.waits(60, FEW, 100_000)).toBeLessThan(60)
    const { pieces, bytes } = strangerShare(100)
    for (const [beyondPieces, beyondBytes] of [
      [pieces.perSecond + FEW, 0],
      [0, bytes.perSecond + 100_000],
    ] as const) {
      const crowded = scene("stranger", 100)
      expect(crowded.waits(600, beyondPieces, beyondBytes)).toBeGreaterThan(5_000)
    }
  })

  it("follows the number of strangers and the peer's standing", () => {
    const { who, strangers, waits } = scene("stranger")
    const { pieces, bytes } = strangerShare(100)
    strangers.count = 100
    expect(waits(120, 2 * pieces.perSecond, 0)).toBeGreaterThan(600)
    who.standing = "member"
    // A member soon pays off what it owed as a stranger.
    expect(waits(60, 0, RATES.stranger.bytes.perSecond + 100_000)).toBeLessThan(20)
    who.standing = "stranger"
    expect(waits(600, 0, 2 * bytes.perSecond)).toBeGreaterThan(3_000)
  })

  it("gives a stranger a tenth where the process has a tenth of its time to spare, and a member everything", () => {
    const { clock, who, waits } = scene("stranger")
    clock.pace = 0.1
    expect(waits(600, 0, RATES.stranger.bytes.perSecond * 0.09)).toBe(0)
    expect(waits(600, 0, RATES.stranger.bytes.perSecond * 0.12)).toBeGreaterThan(600)
    who.standing = "member"
    waits(60, 0, 0)
    expect(waits(600, 0, RATES.stranger.bytes.perSecond)).toBe(0)
  })

  it("takes no peer for a flood that sends 60 pieces a second on the busiest machine", () => {
    const { clock, waits, meter, floods } = scene("stranger", 4)
    clock.pace = LEAST_SHARE
    meter.charge(250, 0)
    expect(waits(3_600, 60, 600)).toBeGreaterThan(3_600)
    expect(floods).toEqual([])
    waits(60, 400, 4_000)
    expect(floods).toHaveLength(1)
  })

  it("lets vertices for strangers gather the longer the more there are, for half a second at most, if the process is late", () => {
    const { clock, who, strangers, meter } = scene("stranger", 50)
    expect(meter.gatherMs).toBe(0)
    clock.pace = 0.1
    expect(meter.gatherMs).toBe(180)
    strangers.count = 25
    expect(meter.gatherMs).toBe(90)
    strangers.count = 140
    expect(meter.gatherMs).toBe(500)
    who.standing = "member"
    expect(meter.gatherMs).toBe(0)
  })

  it("yields the thread after 128 pieces", () => {
    const { meter } = scene("member")
    const paused = Array.from({ length: 256 }, () => meter.charge(1, 0) !== undefined)
    expect(paused.flatMap((isPaused, i) => (isPaused ? [i] : []))).toEqual([127, 255])
  })

  it("credits pieces for at most eight answers", () => {
    const { meter } = scene("stranger")
    const answerBytes = 16_384
    for (let n = 0; n < 1_000; n++) meter.asked(answerBytes)
    let [pieces, waits] = [0, 0]
    // The turns of others come one at a time; beyond the rate every piece waits.
    for (; waits < 2 && pieces < 10_000; pieces++) waits = meter.charge(1, 0) === undefined ? 0 : waits + 1
    const { burst } = RATES.stranger.pieces
    expect(pieces).toBeGreaterThan(burst)
    expect(pieces).toBeLessThanOrEqual(burst + 8 * 6 + 2)
  })
})
