/** What accounts hold besides money is stored as bytes, invisibly to callers. */
import { describe, expect, it } from "vitest"
import { Accounts } from "../../src/ledger/tables/Accounts.js"
import * as Effects from "../../src/ledger/tables/Effects.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import * as StateKey from "../../src/protocol/state/StateKey.js"
import * as StateRecord from "../../src/protocol/state/StateRecord.js"
import { bytesOf, person, stranger, tableKey } from "./builders.js"

const MANY = 20_000
const address = (n: number) => stranger(n.toString(16).padStart(40, "0")).address
const key = person("somebody").publicKey
const policyOf = (n: number): AccountRecord.Extras => ({
  ...AccountRecord.noExtras,
  policy: { threshold: 1 + (n % 2), keys: Array.from({ length: 1 + (n % 16) }, () => key) },
})

/** As a freeze passes it to the state trie. */
const changeOf = (n: number, record: AccountRecord.AccountRecord) => ({
  key: StateKey.ofAccount(address(n)),
  value: StateRecord.encode({ kind: "Account", key: bytesOf(address(n)), value: AccountRecord.encode(record) }),
})

const collected = (accounts: Accounts): ReadonlyArray<Effects.Change> => {
  const collector = new Effects.Collector(accounts.touched)
  accounts.collect(collector)
  return [...collector.finish()]
}

describe("rare account data", () => {
  it("is restored after more accounts were read than are kept as objects", () => {
    const accounts = new Accounts(tableKey)
    for (let n = 0; n < MANY; n++) accounts.setExtras(accounts.findOrAdd(address(n)), policyOf(n))
    for (const n of [0, 1, 17, MANY - 1]) {
      expect(accounts.extras(accounts.find(address(n)))).toEqual(policyOf(n))
    }
  })

  it("counts as changed exactly when its bytes differ from those at the beginning of the commit", () => {
    const accounts = new Accounts(tableKey)
    const rows = [0, 1, 2, 3].map((n) => accounts.findOrAdd(address(n)))
    for (const row of rows) accounts.setExtras(row, policyOf(row))
    expect(collected(accounts)).toHaveLength(4)
    const [same = 0, back = 0, other = 0, gone = 0] = rows
    accounts.setExtras(same, policyOf(same))
    accounts.setExtras(back, AccountRecord.noExtras)
    accounts.setExtras(back, policyOf(back))
    accounts.setExtras(other, policyOf(9))
    accounts.setExtras(gone, AccountRecord.noExtras)
    expect(collected(accounts).map(({ value }) => value)).toEqual([
      AccountRecord.encode({ ...AccountRecord.empty, ...policyOf(9) }),
      null,
    ])
  })

  // The last account taken from an unfinished freeze once still counted as untaken when the next one began.
  it("is frozen as it was, even after a freeze that was left unfinished", () => {
    const accounts = new Accounts(tableKey)
    const [first, second] = [0, 1].map((n) => accounts.findOrAdd(address(n))) as [number, number]
    const setBoth = (sats: number): void => {
      for (const row of [first, second]) accounts.setBalance(row, Sats.make(sats))
      collected(accounts)
    }
    setBoth(1)
    const before = accounts.freeze()[Symbol.iterator]()
    const holding = (n: number, sats: number) => changeOf(n, { ...AccountRecord.empty, balance: Sats.make(sats) })
    expect(before.next().value).toEqual(holding(0, 1))
    setBoth(2)
    const frozen = accounts.freeze()
    setBoth(3)
    expect([...frozen]).toEqual([holding(0, 2), holding(1, 2)])
    expect(before.next().value).toEqual(holding(1, 1))
    expect([...accounts.freeze()]).toEqual([holding(0, 3), holding(1, 3)])
  })

  it("is frozen as it was, with the balance, while both change", () => {
    const accounts = new Accounts(tableKey)
    const [first, second] = [0, 1].map((n) => accounts.findOrAdd(address(n))) as [number, number]
    for (const row of [first, second]) {
      accounts.setBalance(row, Sats.make(5))
      accounts.setExtras(row, policyOf(3))
    }
    collected(accounts)
    const was = { ...AccountRecord.empty, ...policyOf(3), balance: Sats.make(5) }
    const frozen = accounts.freeze()[Symbol.iterator]()
    expect(frozen.next().value).toEqual(changeOf(0, was))
    for (const row of [first, second]) {
      accounts.setBalance(row, Sats.ZERO)
      accounts.setExtras(row, AccountRecord.noExtras)
    }
    collected(accounts)
    expect(frozen.next().value).toEqual(changeOf(1, was))
    expect([...accounts.freeze()]).toEqual([
      { key: StateKey.ofAccount(address(0)), value: null },
      { key: StateKey.ofAccount(address(1)), value: null },
    ])
    expect([...accounts.freeze()]).toEqual([])
  })
})
