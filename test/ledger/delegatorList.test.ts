/** The cost of listing delegators: a full scan now and then, not for every question. */
import { describe, expect, it } from "vitest"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Chain, coins, person } from "./builders.js"

const LIMIT = 10
const val = person("val")
const list = (chain: Chain) => chain.ledger.read.delegators(val.address, LIMIT)

const delegated = (count: number): Chain => {
  const names = Array.from({ length: count }, (_, i) => `delegator ${i}`)
  const accounts = Object.fromEntries([...names, "whale"].map((name) => [name, 5_000]))
  const chain = new Chain({ accounts, validators: { val: 10_000 } })
  chain.run(...names.map((name, i) => chain.delegate(person(name), val, coins(1) + i)))
  return chain
}

describe("the list of a validator's delegators", () => {
  it("is made once for all questions between two commits", () => {
    const chain = delegated(20)
    const first = list(chain)
    expect(first.delegators).toHaveLength(LIMIT)
    expect(list(chain).delegators).toBe(first.delegators)
    expect(chain.ledger.read.delegators(val.address, 5).delegators).toHaveLength(5)
  })

  it("lists the largest first, and lower addresses first among equals", () => {
    for (const isAscending of [true, false]) {
      const people = Array.from({ length: 60 }, (_, n) => person(`delegator ${n}`))
      const lowest = people.map(({ address }) => address).sort()
      const order = [...people].sort((a, b) => (a.address < b.address === isAscending ? -1 : 1))
      const chain = new Chain({
        accounts: Object.fromEntries(people.map(({ name }) => [name, 5])),
        protocol: { roundReward: Sats.ZERO },
      })
      chain.run(...order.map((who) => chain.delegate(who, val, coins(1))))
      expect(list(chain).delegators.map(({ address }) => address)).toEqual(lowest.slice(0, LIMIT))
    }
  })

  it("has the largest of many, in any order of arrival", () => {
    const amounts = Array.from({ length: 97 }, (_, n) => coins(1) + ((n * 37) % 97))
    const names = amounts.map((_, n) => `delegator ${n}`)
    const chain = new Chain({
      accounts: Object.fromEntries(names.map((name) => [name, 5])),
      protocol: { roundReward: Sats.ZERO },
    })
    chain.run(...names.map((name, n) => chain.delegate(person(name), val, amounts[n] ?? 0)))
    expect(list(chain).delegators.map(({ amount }) => amount - coins(1))).toEqual([
      96, 95, 94, 93, 92, 91, 90, 89, 88, 87,
    ])
  })

  it("is exact after every commit up to 2,000 delegators", () => {
    const chain = delegated(1_999)
    expect(list(chain).delegators[0]?.address).toBe(person("delegator 1998").address)
    chain.run(chain.delegate(person("whale"), val, coins(4_000)))
    expect(list(chain).delegators[0]?.address).toBe(person("whale").address)
  })

  it("may lag one commit per two thousand delegators, beside an up-to-date count and total", () => {
    const chain = delegated(4_001)
    const before = list(chain)
    const looked = chain.ledger.read.head.index
    chain.run(chain.delegate(person("whale"), val, coins(4_000)))
    expect(list(chain)).toMatchObject({ count: 4_002, delegators: before.delegators })
    expect(list(chain).total).toBeGreaterThan(before.total + coins(3_999))
    while (chain.ledger.read.head.index < looked + 3) chain.advanceTo(chain.round + 1)
    expect(list(chain).delegators[0]?.address).toBe(person("whale").address)
  })
})

describe("a search for the largest delegators", () => {
  const names = (of: ReadonlyArray<{ readonly address: string }>) => of.map(({ address }) => address)

  it("examines one delegator per step if it must, with the same result", () => {
    const chain = delegated(100)
    const search = chain.ledger.read.searchDelegators(val.address, LIMIT)
    let steps = 0
    while (!search.step(() => false)) steps++
    expect(steps).toBe(100)
    expect(search.found).toEqual(list(chain).delegators)
  })

  it("continues over commits in which delegators come, leave and add, and finds each once", () => {
    const chain = delegated(60)
    const search = chain.ledger.read.searchDelegators(val.address, 100)
    const [first, second, third] = [59, 30, 1].map((n) => person(`delegator ${n}`))
    if (first === undefined || second === undefined || third === undefined) return expect.unreachable()
    for (let n = 0; n < 40; n++) search.step(() => false)
    chain.run(chain.undelegate(first), chain.undelegate(third), chain.delegate(second, val, coins(5)))
    chain.run(chain.delegate(person("whale"), val, coins(4_000)))
    while (!search.step(() => false)) chain.advanceTo(chain.round + 1)
    const after = chain.ledger.read.searchDelegators(val.address, 100)
    after.step(() => true)
    const whale = person("whale").address
    expect(names(search.found).sort()).toEqual(names(after.found.filter(({ address }) => address !== whale)).sort())
    expect(search.found.filter(({ isUndelegating }) => isUndelegating)).toHaveLength(2)
  })
})
