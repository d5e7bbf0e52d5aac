import { expect, it } from "vitest"
import { PerSecond } from "../../src/gateway/PerSecond.js"

it("shares its budget among networks, always leaves some for the next, and refills each second", () => {
  let now = 0
  const limit = new PerSecond(20, () => now)
  const taken = (clients: ReadonlyArray<string>): number => {
    let count = 0
    for (let n = 0; n < 100; n++) if (limit.take(clients[n % clients.length] ?? "")) count++
    return count
  }
  const crowd = Array.from({ length: 100 }, (_, n) => `198.51.${n}.7`)
  for (now of [0, 1_000]) {
    expect(taken(["192.0.2.1"])).toBe(7)
    expect(taken(["203.0.113.5"])).toBe(5)
    expect(taken(crowd)).toBeLessThanOrEqual(5)
    expect(taken(["192.0.2.1", "203.0.113.5"])).toBe(0)
    expect(limit.take("2001:db8:0:0::/64")).toBe(true)
  }
})
