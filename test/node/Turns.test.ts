import { afterEach, describe, expect, it, vi } from "vitest"
import type { Standing } from "../../src/network/Standing.js"
import type { Owner } from "../../src/node/signatures/FairQueue.js"
import { Turns } from "../../src/node/signatures/Turns.js"
import * as Slice from "../../src/turns/Slice.js"

afterEach(() => {
  vi.restoreAllMocks()
})

const owner = (peer: string, standing: Standing): Owner => ({ peer, standing })

/**
 * The clock moves only when the test or a step moves it. Each scene has its own, since waiting work of another scene
 * still runs.
 */
const scene = (share = 1) => {
  let now = 1_000
  vi.spyOn(performance, "now").mockImplementation(() => now)
  const turns = new Turns({ now: () => now, spareNow: () => now * share, spareShare: () => share })
  const done: Array<string> = []
  const take = (who: Owner, costMs: number, count = 1) => {
    for (let i = 0; i < count; i++) {
      turns.take(who, () => {
        now += costMs
        done.push(who.peer)
      })
    }
  }
  const count = (peer: string) => done.filter((each) => each.startsWith(peer)).length
  /** Longer than the interval at which the queue checks whether a peer may have a turn. */
  const settle = async () => {
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const pass = (milliseconds: number) => {
    now += milliseconds
  }
  return { turns, done, take, count, settle, pass }
}

describe("turns of the main thread", () => {
  it("begin after all simultaneous arrivals, and members precede strangers", async () => {
    const { done, take, settle } = scene()
    take(owner("stranger", "stranger"), 1)
    expect(done).toEqual([])
    take(owner("member", "member"), 1)
    await settle()
    expect(done).toEqual(["member", "stranger"])
  })

  it("yield the thread after a slice, however much waits", async () => {
    const { done, take, settle } = scene()
    take(owner("member", "member"), Slice.SLICE_MS / 2, 20)
    let whenOthersHadIt = 0
    setImmediate(() => {
      whenOthersHadIt = done.length
    })
    await settle()
    expect(whenOthersHadIt).toBeGreaterThan(0)
    expect(whenOthersHadIt).toBeLessThanOrEqual(4)
    expect(done).toHaveLength(20)
  })

  it("are charged by the time they take", async () => {
    const { take, count, settle } = scene()
    take(owner("long", "named"), 40, 100)
    take(owner("short", "named"), 1, 100)
    await settle()
    expect(count("long")).toBeLessThanOrEqual(40)
    expect(count("short")).toBe(100)
  })

  it.each([
    { standing: "stranger", atOnceMs: 100, perSecondMs: 100 },
    { standing: "named", atOnceMs: 1_000, perSecondMs: 400 },
  ] as const)(
    "of standing $standing together take a share of the thread, besides the members' share",
    async ({ standing, atOnceMs, perSecondMs }) => {
      const { take, count, settle, pass } = scene()
      for (let i = 0; i < 40; i++) take(owner(`many ${i}`, standing), 50, 5)
      await settle()
      // Turns that they earn while they work count as well.
      const atOnce = count("many")
      expect(atOnce * 50).toBeGreaterThan(atOnceMs)
      expect(atOnce * 50).toBeLessThanOrEqual(atOnceMs / (1 - perSecondMs / 1_000) + 100)
      take(owner("member", "member"), 0)
      await settle()
      expect([count("many"), count("member")]).toEqual([atOnce, 1])
      pass(1_000)
      await settle()
      const later = (count("many") - atOnce) * 50
      expect(later).toBeGreaterThan(0)
      expect(later).toBeLessThanOrEqual(perSecondMs / (1 - perSecondMs / 1_000) + 100)
    },
  )

  it("of strangers on a busy machine are hardly charged for what interrupts a long step", async () => {
    const { take, count, settle } = scene(0.05)
    take(owner("ann", "stranger"), 120, 40)
    await settle()
    // Each as much as a slice.
    expect(count("ann")).toBeGreaterThan(12)
    expect(count("ann")).toBeLessThan(40)
  })

  it("finish started work before later messages of the same peer", async () => {
    const { turns, done, take, settle } = scene()
    const ben = owner("ben", "member")
    turns.take(ben, () => turns.goOn(ben, () => done.push("the rest")))
    take(ben, 1)
    await settle()
    expect(done).toEqual(["the rest", "ben"])
  })
})
