import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { Budget } from "../../src/edge/admission/Budget.js"
import { Places } from "../../src/edge/admission/Places.js"

const scene = (total: number, each: number) => {
  const evicted: Array<string> = []
  const places = new Places<string>({ total, each, evict: (holder) => evicted.push(holder) })
  return { places, evicted, enter: (holder: string) => places.enter(holder.slice(0, 1), holder) }
}

describe("places", () => {
  it("are given to one client up to its own limit", () => {
    const { enter, places } = scene(10, 2)
    expect([enter("a1"), enter("a2"), enter("a3")]).toEqual(["taken", "taken", "client is full"])
    places.leave("a", "a1")
    expect(enter("a3")).toBe("taken")
  })

  it("pass from the largest holder to a newcomer, oldest first, until the newcomer has as many", () => {
    const { enter, places, evicted } = scene(4, 4)
    for (const holder of ["a1", "a2", "a3", "a4"]) enter(holder)
    expect(enter("a5")).toBe("client is full")
    expect([enter("b1"), enter("b2")]).toEqual(["taken", "taken"])
    expect(evicted).toEqual(["a1", "a2"])
    expect(enter("b3")).toBe("all are taken")
    expect(enter("c1")).toBe("taken")
    expect([...places.all].sort()).toEqual(["a4", "b1", "b2", "c1"])
    expect(enter("d1")).toBe("taken")
    expect(enter("e1")).toBe("all are taken")
    places.leave("a", "a1")
    expect(places.taken).toBe(4)
  })

  it("never exceed their number and never leak, in any order of arrivals and departures", () => {
    const step = fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.nat(9), fc.boolean())
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 6 }), (steps, total) => {
        const { enter, places, evicted } = scene(total, 3)
        const inside = new Set<string>()
        for (const [client, number, comes] of steps) {
          const holder = `${client}${number}`
          if (comes && !inside.has(holder)) {
            const entry = enter(holder)
            for (const gone of evicted.splice(0)) inside.delete(gone)
            if (entry === "taken") inside.add(holder)
          } else if (!comes) {
            places.leave(client, holder)
            inside.delete(holder)
          }
          expect(places.taken).toBeLessThanOrEqual(total)
          expect([...places.all].sort()).toEqual([...inside].sort())
        }
      }),
    )
  })
})

/** The 256 customer networks of a /56, the clients of some /48s, and consecutive addresses. */
const ofSlash56 = (n: number) => `2001:db8:0:${(n % 256).toString(16)}::/64`
const ofSlash48s = (n: number) => `2001:db8:${(n % 5).toString(16)}:${n.toString(16)}::/64`
const ofIPv4 = (n: number) => `10.1.${n >> 8}.${n & 255}`
const others = ["2001:db9:0:1::/64", "203.0.113.7", "unknown"]

describe("places taken by a crowd with one each", () => {
  const crowded = (clientOf: (n: number) => string, total = 100) => {
    const evicted: Array<string> = []
    const places = new Places<string>({ total, each: 8, evict: (holder) => evicted.push(holder) })
    for (let n = 0; n < total; n++) expect(places.enter(clientOf(n), clientOf(n))).toBe("taken")
    return { places, evicted }
  }

  it.each([
    ["a /56 of IPv6", ofSlash56],
    ["five /48s of a provider", ofSlash48s],
    ["a /16 of IPv4", ofIPv4],
  ])("pass from %s to any client from elsewhere, and never back", (_, clientOf) => {
    const { places, evicted } = crowded(clientOf)
    for (const other of others) expect(places.enter(other, other), other).toBe("taken")
    expect(evicted).toHaveLength(others.length)
    for (let n = 100; n < 228; n++) expect(places.enter(clientOf(n), clientOf(n))).toBe("all are taken")
    for (const other of others) expect(places.all).toContain(other)
  })

  it("pass to a neighbour in the provider's network from the larger part", () => {
    const { places, evicted } = crowded(ofSlash56)
    expect(places.enter("2001:db8:7:1::/64", "neighbour")).toBe("taken")
    expect(places.enter("2001:db8:0:100::/64", "next door")).toBe("taken")
    expect(evicted).toEqual([ofSlash56(0), ofSlash56(1)])
    expect(places.all).toContain("neighbour")
  })

  it("end up shared evenly among networks, however many clients each has", () => {
    const { places } = crowded(ofSlash56)
    for (let n = 0; n < 300; n++) places.enter(ofIPv4(n), ofIPv4(n))
    for (let n = 0; n < 300; n++) places.enter(ofSlash56(n), `${n}`)
    const counts = [places.all.filter((holder) => holder.startsWith("10.1.")).length, places.taken]
    expect(counts).toEqual([50, 100])
  })

  it("are never taken from a client that is alone in its network", () => {
    const address = fc.tuple(fc.constantFrom("10.1", "10.2", "2001:db8"), fc.nat(3), fc.nat(3))
    const client = address.map(([wide, part, one]) =>
      wide.includes(":") ? `${wide}:${part}:${one}::/64` : `${wide}.${part}.${one}`,
    )
    fc.assert(
      fc.property(fc.array(client, { maxLength: 100 }), fc.integer({ min: 2, max: 8 }), (visits, total) => {
        const evicted: Array<string> = []
        const places = new Places<string>({ total, each: 3, evict: (holder) => evicted.push(holder) })
        places.enter("203.0.113.7", "alone")
        for (const [n, visitor] of visits.entries()) {
          places.enter(visitor, `${visitor} ${n}`)
          expect(places.all).toContain("alone")
          expect(places.taken).toBe(places.all.length)
        }
        for (const holder of places.all)
          places.leave(holder === "alone" ? "203.0.113.7" : (holder.split(" ")[0] ?? ""), holder)
        expect([places.taken, places.all]).toEqual([0, []])
      }),
    )
  })
})

describe("a budget", () => {
  const most = (budget: Budget, client: string, bytes = 10) => {
    let taken = 0
    while (budget.take(client, bytes)) taken += bytes
    return taken
  }

  it("always leaves something for the next client, however many there are", () => {
    const budget = new Budget(1_000)
    const taken = ["a", "b", "c"].map((client) => most(budget, client))
    expect(taken).toEqual([500, 250, 130])
    expect(budget.take("d", 50)).toBe(true)
    budget.give("d", 50)
    budget.give("a", 500)
    expect(budget.take("a", 300)).toBe(true)
    budget.give("a", 300)
    budget.give("b", 250)
    budget.give("c", budget.used)
    expect(budget.used).toBe(0)
    expect(most(budget, "c")).toBe(500)
  })

  it("gives one client about a third and its whole network at most half", () => {
    const share = (clientOf: (n: number) => string, clients: number) => {
      const budget = new Budget(9_000)
      for (let n = 0; n < clients; n++) most(budget, clientOf(n), 1)
      for (const other of others) expect(most(budget, other, 1), other).toBeGreaterThan(100)
      return budget.used > 0 && Math.round(most(new Budget(9_000), clientOf(0), 1))
    }
    expect([share(ofIPv4, 4_096), share(ofSlash56, 256), share(ofSlash48s, 65_536)]).toEqual([3_240, 2_670, 2_670])
    const budget = new Budget(9_000)
    for (let n = 0; n < 65_536; n++) budget.take(ofSlash48s(n), 1)
    expect(budget.used).toBe(4_500)
  })
})
