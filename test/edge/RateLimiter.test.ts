import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { RateLimiter } from "../../src/edge/admission/RateLimiter.js"

describe("a single client", () => {
  it("gets exactly as many requests as the limit, then has to wait", () => {
    const limiter = new RateLimiter({ requests: 5, windowMs: 60_000 })
    for (let i = 0; i < 5; i++) expect(limiter.take("a", i)).toBe(0)
    expect(limiter.take("a", 5)).toBe(59_995)
    expect(limiter.allowance("a", 5)).toEqual({ remaining: 0, resetMs: 59_995 })
    expect(limiter.take("b", 5)).toBe(0)
  })

  it("is admitted again exactly at the time it was given, and not a moment before", () => {
    const limiter = new RateLimiter({ requests: 2, windowMs: 1_000 })
    limiter.take("a", 0)
    limiter.take("a", 400)
    const wait = limiter.take("a", 500)
    expect(wait).toBe(500)
    expect(limiter.take("a", 500 + wait - 1)).toBe(1)
    expect(limiter.take("a", 500 + wait)).toBe(0)
    expect(limiter.take("a", 500 + wait)).toBe(400)
  })

  it("has several requests counted together or not at all", () => {
    const limiter = new RateLimiter({ requests: 10, windowMs: 1_000 })
    expect(limiter.take("a", 0, 8)).toBe(0)
    expect(limiter.take("a", 10, 3)).toBe(990)
    expect(limiter.take("a", 10, 2)).toBe(0)
    expect(limiter.take("a", 10, 11)).toBe(1_000)
  })
})

const limits = fc.record({ requests: fc.integer({ min: 1, max: 12 }), windowMs: fc.integer({ min: 1, max: 200 }) })
const visits = fc.array(fc.record({ pause: fc.integer({ min: 0, max: 60 }), count: fc.integer({ min: 1, max: 4 }) }), {
  maxLength: 200,
})

describe("laws", () => {
  it("admit at most the limit in any window, and everything below it", () => {
    fc.assert(
      fc.property(limits, visits, (options, visits) => {
        const limiter = new RateLimiter(options)
        const admitted: Array<{ readonly at: number; readonly count: number }> = []
        let now = 0
        for (const { pause, count } of visits) {
          now += pause
          const inWindow = admitted
            .filter(({ at }) => at > now - options.windowMs)
            .reduce((sum, each) => sum + each.count, 0)
          const wait = limiter.take("a", now, count)
          expect(wait === 0).toBe(inWindow + count <= options.requests)
          if (wait === 0) admitted.push({ at: now, count })
        }
      }),
      { numRuns: 300 },
    )
  })

  it("admit every client that has waited for the announced time", () => {
    fc.assert(
      fc.property(limits, visits, (options, visits) => {
        const limiter = new RateLimiter(options)
        let now = 0
        for (const { pause } of visits) {
          now += pause
          const wait = limiter.take("a", now)
          if (wait > 0) {
            now += wait
            expect(limiter.take("a", now)).toBe(0)
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it("keep clients independent", () => {
    fc.assert(
      fc.property(
        limits,
        fc.array(fc.tuple(fc.constantFrom("a", "b"), fc.nat(40)), { maxLength: 150 }),
        (options, all) => {
          const together = new RateLimiter(options)
          const alone = { a: new RateLimiter(options), b: new RateLimiter(options) }
          let now = 0
          for (const [client, pause] of all) {
            now += pause
            expect(together.take(client, now)).toBe(alone[client as "a" | "b"].take(client, now))
          }
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe("memory", () => {
  it("keeps at most its capacity after a million clients and still limits the one that continues", () => {
    const limiter = new RateLimiter({ requests: 3, windowMs: 60_000, capacity: 20_000 })
    for (let i = 0; i < 3; i++) limiter.take("insistent", 0)
    let most = 0
    const answersToInsistent = new Set<number>()
    for (let i = 0; i < 1_000_000; i++) {
      limiter.take(`client ${i}`, 1_000)
      most = Math.max(most, limiter.size)
      if (i % 5_000 === 0) answersToInsistent.add(limiter.take("insistent", 1_000))
    }
    expect(most).toBeLessThanOrEqual(20_000)
    expect(answersToInsistent).toEqual(new Set([59_000]))
  })

  it("forgets a client after two windows without requests", () => {
    const limiter = new RateLimiter({ requests: 3, windowMs: 1_000 })
    for (let i = 0; i < 1_000; i++) limiter.take(`client ${i}`, 0)
    limiter.take("a", 1_000)
    limiter.take("b", 2_000)
    expect(limiter.size).toBe(2)
  })

  // With the faucet's limit, an attacker with a /48 of IPv6 has 65,536 clients: enough to push its first payment out.
  it("does not reset a used-up limit when the limiter runs full", () => {
    const limiter = new RateLimiter({ requests: 1, windowMs: 600_000 })
    expect(limiter.take("attacker", 0)).toBe(0)
    for (let i = 0; i < 200_000; i++) limiter.take(`2001:db8:${i}:0::/64`, 1)
    expect(limiter.take("attacker", 2)).toBe(599_998)
  })

  it("counts only a network that fills its share as one client beyond it", () => {
    const limiter = new RateLimiter({ requests: 2, windowMs: 1_000, capacity: 4_096 })
    const client = (n: number) => `2001:db8:${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}::/64`
    const crowd = Array.from({ length: 60_000 }, (_, n) => limiter.take(client(n), 0))
    const own = crowd.filter((wait) => wait === 0).length
    // Three sevenths of the places for clients, and two requests that all others share.
    expect(own).toBe(Math.floor((3_584 * 3) / 7) + 2)
    for (const other of ["2001:db9:0:1::/64", "203.0.113.7", "unknown"]) {
      expect([limiter.take(other, 1), limiter.take(other, 1), limiter.take(other, 1)], other).toEqual([0, 0, 1_000])
    }
    // A client that was counted separately is not affected.
    expect([limiter.take(client(5), 3), limiter.take(client(5), 3)]).toEqual([0, 997])
    // A neighbour at the same provider is affected. It could belong to the crowd, so what the crowd used counts once.
    const neighbour = "2001:db8:77:1::/64"
    expect(limiter.take(neighbour, 1)).toBe(999)
    expect([limiter.take(client(59_998), 999), limiter.take(client(59_999), 1_000)]).toEqual([1, 0])
    expect([limiter.take(neighbour, 1_000), limiter.take(neighbour, 1_000)]).toEqual([0, 0])
    expect(limiter.size).toBeLessThanOrEqual(4_096)
  })

  it("keeps at most its capacity, however many networks there are", () => {
    const limiter = new RateLimiter({ requests: 2, windowMs: 1_000, capacity: 80 })
    for (let n = 0; n < 60_000; n++) {
      limiter.take(`${n >> 8}.${n & 255}.0.1`, 0)
      expect(limiter.size).toBeLessThanOrEqual(80)
    }
  })

  it("never gives a client more than the limit in a window, however few places there are", () => {
    const visits = fc.array(fc.tuple(fc.nat(15), fc.nat(40), fc.integer({ min: 1, max: 3 })), { maxLength: 250 })
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 10 }), visits, (options, capacity, visits) => {
        const limiter = new RateLimiter({ ...options, capacity })
        const admitted = new Map<string, Array<{ readonly at: number; readonly count: number }>>()
        let now = 0
        for (const [number, pause, count] of visits) {
          now += pause
          const client = `10.${number % 3}.${number % 2}.${number}`
          const wait = limiter.take(client, now, count)
          expect(limiter.size).toBeLessThanOrEqual(Math.max(2, capacity))
          if (wait > 0) continue
          const own = [...(admitted.get(client) ?? []), { at: now, count }]
          admitted.set(client, own)
          const recent = own.filter(({ at }) => at > now - options.windowMs)
          expect(recent.reduce((sum, each) => sum + each.count, 0)).toBeLessThanOrEqual(options.requests)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})
