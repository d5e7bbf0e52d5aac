/** Who delegates to whom, compared with sets. */
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { NONE } from "../../src/ledger/tables/AccountRows.js"
import { Delegators } from "../../src/ledger/tables/Delegators.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Delegation } from "../../src/protocol/state/AccountRecord.js"
import { person } from "./builders.js"

const validators = ["val", "other"].map((name) => person(name).address)

const delegation = (validator: number, epoch: number): Delegation => ({
  validator: validators[validator] ?? person("val").address,
  generation: 0,
  shares: 1n,
  leaving: epoch === 0 ? null : { epoch: Natural.epoch(epoch), unlockAtRound: Natural.round(9) },
})

const walked = (delegators: Delegators, validator: Address): Array<number> => {
  const walk = delegators.walk(validator)
  const rows: Array<number> = []
  for (let row = delegators.step(walk); row !== NONE; row = delegators.step(walk)) rows.push(row)
  return rows
}

describe("the delegators of a validator", () => {
  it("appear once each on a walk, despite changes between its steps", () => {
    const val = person("val").address
    const act = fc.record({ row: fc.nat(30), epoch: fc.nat(2), to: fc.constantFrom("val", "other", "none", "dead") })
    fc.assert(
      fc.property(fc.array(fc.nat(30), { maxLength: 20 }), fc.array(act, { maxLength: 60 }), (early, acts) => {
        const delegators = new Delegators()
        const held = new Map<number, Delegation>()
        const change = (row: number, after: Delegation | null): void => {
          delegators.change(row, held.get(row) ?? null, after)
          if (after === null) held.delete(row)
          else held.set(row, after)
        }
        for (const row of early) change(row, delegation(0, row % 3))
        const stayed = new Set(early)
        const walk = delegators.walk(val)
        const seen: Array<number> = []
        for (const { row, epoch, to } of acts) {
          const isOver = seen.at(-1) === NONE
          if (!isOver) seen.push(delegators.step(walk))
          if (to === "dead") {
            delegators.clear(val, epoch)
            for (const [each, { leaving }] of held) if ((leaving?.epoch ?? 0) === epoch) stayed.delete(each)
          } else if (to === "none") change(row, null)
          else change(row, delegation(to === "val" ? 0 : 1, epoch))
          // A row that adds to its delegation stays in place.
          if (to !== "val" || epoch !== row % 3) stayed.delete(row)
        }
        while (seen.at(-1) !== NONE) seen.push(delegators.step(walk))
        for (const row of stayed) expect(seen.filter((each) => each === row)).toEqual([row])
        expect(seen.length).toBeLessThan(early.length + 2 * acts.length + 2)
      }),
      { numRuns: 500 },
    )
  })

  it("are those who joined its living groups and have not left", () => {
    const act = fc.record({
      does: fc.constantFrom("join", "join", "join", "leave", "leave", "die"),
      row: fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 1_023, 1_024, 9_000),
      validator: fc.nat(1),
      epoch: fc.nat(2),
    })
    fc.assert(
      fc.property(fc.array(act, { maxLength: 300, size: "max" }), (acts) => {
        const delegators = new Delegators()
        /** What each row delegates to, dead or alive, and the rows of each living group. */
        const held = new Map<number, Delegation>()
        const groups = new Map<string, Set<number>>()
        const groupOf = ({ validator, leaving }: Delegation) => `${validator} ${leaving?.epoch ?? 0}`
        for (const { does, row, validator, epoch } of acts) {
          const wanted = delegation(validator, epoch)
          if (does === "die") {
            delegators.clear(wanted.validator, epoch)
            groups.delete(groupOf(wanted))
            continue
          }
          const before = held.get(row)
          if (before !== undefined) {
            delegators.change(row, before, null)
            groups.get(groupOf(before))?.delete(row)
            held.delete(row)
          }
          if (does === "leave") continue
          delegators.change(row, null, wanted)
          held.set(row, wanted)
          groups.set(groupOf(wanted), (groups.get(groupOf(wanted)) ?? new Set<number>()).add(row))
        }
        for (const validator of validators) {
          const expected = [0, 1, 2].flatMap((epoch) => [...(groups.get(`${validator} ${epoch}`) ?? [])])
          expect(delegators.countOf(validator)).toBe(expected.length)
          expect(walked(delegators, validator).sort()).toEqual(expected.sort())
        }
      }),
      { numRuns: 200 },
    )
  })
})
