/** Counts the supply in memory while accounts move, and finds balances that changed without the ledger. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { Ledger } from "../../src/ledger/Ledger.js"
import { Accounts } from "../../src/ledger/tables/Accounts.js"
import { Recount } from "../../src/ledger/tables/Recount.js"
import { zero } from "../../src/ledger/tables/Supply.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Chance } from "../simulation/Chance.js"
import { Chain, tableKey } from "./builders.js"

const addressOf = (n: number): Address => n.toString(16).padStart(40, "0") as Address

/** A hundred accounts of a thousand sats each. */
const crowd = (): Accounts => {
  const accounts = new Accounts(tableKey)
  for (let n = 1; n <= 100; n++) accounts.restorePlain(addressOf(n), Sats.make(1_000), Natural.nonce(1))
  return accounts
}

const liquid = (amount: number) => ({ ...zero, liquid: Sats.make(amount), total: Sats.make(amount) })

/** The result of a count in steps of seven rows, with `between` after each. */
const counted = (accounts: Accounts, expected: number, between: (step: number) => void) => {
  const recount = new Recount()
  for (let step = 0; !accounts.countInto(recount, 7); step++) between(step)
  recount.totals(liquid(expected))
  return recount.finish()
}

describe("a running recount", () => {
  it("returns the same total however money moves meanwhile, also to new accounts", () => {
    for (let seed = 1; seed <= 50; seed++) {
      const chance = new Chance(seed)
      const accounts = crowd()
      const found = counted(accounts, 100_000, () => {
        for (let i = 0; i < 5; i++) {
          const [from, to] = [1 + chance.below(100), 1 + chance.below(140)].map((n) => accounts.findOrAdd(addressOf(n)))
          if (from === undefined || to === undefined || from === to) continue
          const amount = chance.below(accounts.balance(from) + 1)
          accounts.setBalance(from, Sats.make(accounts.balance(from) - amount))
          accounts.setBalance(to, Sats.make(accounts.balance(to) + amount))
        }
      })
      expect(Either.isRight(found)).toBe(true)
    }
  })

  it("finds a balance changed outside the ledger, at the latest in the next count", () => {
    for (const [at, victim] of [
      [2, 90],
      [12, 3],
    ] as const) {
      const accounts = crowd()
      const alter = (step: number): void => {
        if (step === at) accounts.restorePlain(addressOf(victim), Sats.make(1_001), Natural.nonce(1))
      }
      const first = counted(accounts, 100_000, alter)
      const second = counted(accounts, 100_000, () => undefined)
      expect([Either.isLeft(first), Either.isLeft(second)]).toEqual([at === 2, true])
    }
  })
})

it("reports within the first commits that the ledger's memory disagrees with its totals", () => {
  const { ledger, genesis } = new Chain({ validators: { ann: 3_000 } })
  const restoring = Ledger.restoring(genesis.protocol, tableKey)
  for (const record of ledger.records()) Either.getOrThrow(restoring.record(record))
  restoring.plainAccount(addressOf(1), Sats.make(5), Natural.nonce(0))
  const wrong = new Chain(genesis, Either.getOrThrow(restoring.finish(ledger.effectsDigest)))
  expect(() => {
    for (let commits = 0; commits < 3; commits++) wrong.advanceTo(wrong.round + 1)
  }).toThrow("balances and held bonds do not add up to the liquid total")
})
