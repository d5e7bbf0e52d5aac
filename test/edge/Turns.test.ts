import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"
import { Turns } from "../../src/edge/admission/Turns.js"

const drained = <A>(turns: Turns<A>): ReadonlyArray<A> => {
  const all: Array<A> = []
  for (let next = turns.next(); next !== undefined; next = turns.next()) all.push(next)
  return all
}

it("delays a client by one turn when a crowd in one network arrives", () => {
  const turns = new Turns<string>()
  for (let n = 0; n < 256; n++) turns.push(`2001:db8:0:${n.toString(16)}::/64`, `crowd ${n}`)
  for (const name of ["a", "b"]) turns.push("203.0.113.7", name)
  turns.push("2001:db8:1:0::/64", "neighbour")
  const order = drained(turns)
  expect(["a", "neighbour", "b"].map((name) => order.indexOf(name))).toEqual([1, 2, 3])
  expect(order).toHaveLength(259)
  expect(turns.isEmpty).toBe(true)
})

it("loses nothing and keeps each client's order", () => {
  const client = fc.tuple(fc.nat(2), fc.nat(2), fc.nat(2)).map(([a, b, c]) => `10.${a}.${b}.${c}`)
  fc.assert(
    fc.property(fc.array(fc.tuple(client, fc.boolean()), { maxLength: 100 }), (steps) => {
      const turns = new Turns<readonly [client: string, n: number]>()
      const came: Array<readonly [string, number]> = []
      for (const [n, [client, takes]] of steps.entries()) {
        turns.push(client, [client, n])
        const next = takes ? turns.next() : undefined
        if (next !== undefined) came.push(next)
      }
      came.push(...drained(turns))
      expect(came.map(([, n]) => n).sort((a, b) => a - b)).toEqual(steps.map((_, n) => n))
      const lastOf = new Map<string, number>()
      for (const [client, n] of came) {
        expect(n).toBeGreaterThan(lastOf.get(client) ?? -1)
        lastOf.set(client, n)
      }
    }),
  )
})
