/** Who delegates to whom, against sets. */
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { Delegators } from "../../src/ledger/Delegators.js"
import type { Delegation } from "../../src/protocol/AccountRecord.js"
import * as Counter from "../../src/protocol/Counter.js"
import { person } from "./builders.js"

const validators = ["val", "other"].map((name) => person(name).address)

const delegation = (validator: number, epoch: number): Delegation => ({
  validator: validators[validator] ?? person("val").address,
  generation: 0,
  shares: 1n,
  leaving: epoch === 0 ? null : { epoch: Counter.epoch(epoch), unlockAtRound: Counter.round(9) },
})

describe("the delegators of a validator", () => {
  it("are those who joined its groups, have not left them, and were not in one that died", () => {
    const act = fc.record({
      does: fc.constantFrom("join", "join", "join", "leave", "leave", "die"),
      row: fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 1_023, 1_024, 9_000),
      validator: fc.nat(1),
      epoch: fc.nat(2),
    })
    fc.assert(
      fc.property(fc.array(act, { maxLength: 300, size: "max" }), (acts) => {
        const delegators = new Delegators()
        /** What each row delegates to, dead or alive; and the rows of each living group. */
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
            delegators.remove(row, before)
            groups.get(groupOf(before))?.delete(row)
            held.delete(row)
          }
          if (does === "leave") continue
          delegators.add(row, wanted)
          held.set(row, wanted)
          groups.set(groupOf(wanted), (groups.get(groupOf(wanted)) ?? new Set<number>()).add(row))
        }
        for (const validator of validators) {
          const expected = [0, 1, 2].flatMap((epoch) => [...(groups.get(`${validator} ${epoch}`) ?? [])])
          expect(delegators.countOf(validator)).toBe(expected.length)
          expect([...delegators.of(validator)].sort()).toEqual(expected.sort())
        }
      }),
      { numRuns: 200 },
    )
  })
})
