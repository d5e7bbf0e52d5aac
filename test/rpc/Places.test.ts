import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { Budget } from "../../src/rpc/admission/Budget.js"
import { Places } from "../../src/rpc/admission/Places.js"

const scene = (total: number, each: number) => {
  const evicted: Array<string> = []
  const places = new Places<string>({ total, each, evict: (holder) => evicted.push(holder) })
  return { places, evicted, enter: (holder: string) => places.enter(holder.slice(0, 1), holder) }
}

describe("places", () => {
  it("are given to one client as far as its own limit goes", () => {
    const { enter, places } = scene(10, 2)
    expect([enter("a1"), enter("a2"), enter("a3")]).toEqual(["taken", "taken", "client is full"])
    places.leave("a", "a1")
    expect(enter("a3")).toBe("taken")
  })

  it("go from whoever has the most to a newcomer, the oldest first, until nobody has more than it", () => {
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

  it("no order of coming and going takes more than there are, nor leaves any behind", () => {
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

describe("a budget", () => {
  it("gives one client half, and however many there are, the next one still gets something", () => {
    const budget = new Budget(1_000)
    const most = (client: string) => {
      let taken = 0
      while (budget.take(client, 10)) taken += 10
      return taken
    }
    expect(most("a")).toBe(500)
    expect(most("b")).toBe(250)
    expect(most("c")).toBeGreaterThan(100)
    expect(budget.take("d", 50)).toBe(true)
    budget.give("d", 50)
    budget.give("a", 500)
    expect(budget.take("a", 300)).toBe(true)
    budget.give("a", 300)
    budget.give("b", 250)
    budget.give("c", budget.used)
    expect(budget.used).toBe(0)
    expect(most("c")).toBe(500)
  })
})
