import { describe, expect, it } from "vitest"
import { LEAST_SHARE, SpareTime } from "../../src/turns/SpareTime.js"
import { ManualClock } from "../network/ManualClock.js"

/** Milliseconds that pass on the clock in one that passes on a thread whose timers are this late. */
const scene = () => {
  const clock = new ManualClock(1_000)
  const spare = new SpareTime(clock)
  const shareAt = (latenessMs: number, ms: number): number => {
    const [from, began] = [spare.now(), clock.now()]
    while (clock.now() < began + ms) {
      spare.now()
      clock.moveTo(clock.next + latenessMs)
    }
    return (spare.now() - from) / (clock.now() - began)
  }
  return { clock, spare, shareAt }
}

describe("the clock of strangers' budgets", () => {
  it("is the steady clock while timers are on time", () => {
    const { shareAt } = scene()
    expect(shareAt(0, 10_000)).toBeCloseTo(1, 9)
    expect(shareAt(1.9, 10_000)).toBeCloseTo(1, 9)
  })

  it("never goes faster than the steady clock, even if timers are early", () => {
    let [now, act] = [0, () => {}]
    const after = (_: number, next: () => void): void => {
      act = next
    }
    const timers = { now: () => now, after }
    const spare = new SpareTime(timers)
    for (let looks = 0; looks < 1_000; looks++) {
      spare.now()
      now += 19
      act()
    }
    expect(spare.now()).toBeCloseTo(now, 6)
  })

  it("goes slower the later timers are, but never below a fiftieth", () => {
    const { shareAt } = scene()
    shareAt(3, 2_000)
    expect(shareAt(3, 10_000)).toBeCloseTo(4 / 9, 2)
    shareAt(6, 2_000)
    expect(shareAt(6, 10_000)).toBeCloseTo(1 / 9, 2)
    shareAt(500, 60_000)
    expect(shareAt(500, 60_000)).toBeCloseTo(1 / 50, 4)
  })

  it("recovers within two seconds", () => {
    const { shareAt } = scene()
    shareAt(30, 10_000)
    shareAt(0, 2_000)
    expect(shareAt(0, 1_000)).toBeCloseTo(1, 9)
  })

  it("says how fast it goes", () => {
    const { spare, shareAt } = scene()
    shareAt(1, 2_000)
    expect(spare.share()).toBe(1)
    shareAt(4, 4_000)
    expect(spare.share()).toBeCloseTo(1 / 4, 2)
    shareAt(500, 60_000)
    expect(spare.share()).toBe(LEAST_SHARE)
  })

  it("never goes back, even if the steady clock stands still", () => {
    const { clock, spare } = scene()
    const before = spare.now()
    expect(spare.now()).toBe(before)
    clock.moveTo(clock.now() + 1)
    expect(spare.now()).toBeGreaterThan(before)
  })

  it("sets no timers while nobody uses it", () => {
    const { clock, spare } = scene()
    spare.now()
    let looks = 0
    for (; looks < 100 && clock.next < Number.POSITIVE_INFINITY; looks++) clock.moveTo(clock.next)
    expect(looks).toBe(25)
  })
})
