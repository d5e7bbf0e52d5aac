/** The recount of the supply, and the check of the running totals. */
import { setImmediate as turn } from "node:timers/promises"
import { Either, identity } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { fromHex, toHex } from "#crypto"
import type * as Pool from "../../src/ledger/tables/Pool.js"
import type { Totals } from "../../src/ledger/tables/Records.js"
import * as Records from "../../src/ledger/tables/Records.js"
import { Recount } from "../../src/ledger/tables/Recount.js"
import { Supply, zero } from "../../src/ledger/tables/Supply.js"
import * as Trie from "../../src/ledger/trie/Trie.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import * as StateRecord from "../../src/protocol/state/StateRecord.js"
import * as Rest from "../support/Rest.js"
import { Chain, coins, type Person, person } from "./builders.js"
import { lives, play } from "./Play.js"

const SEED = 20_260_202

// The lives are synchronous, and the runner gives up on a worker that is silent for a minute.
afterEach(() => turn())

describe("a recount over the leaves of a frozen state", () => {
  const alice = person("alice")
  const bob = person("bob")
  const story = (): Chain => {
    const chain = new Chain({ accounts: { alice: 9_000, bob: 50 }, council: ["bob"], treasury: 3 })
    chain.run(chain.stake(alice, coins(2_500)), chain.delegate(bob, person("val"), coins(7)))
    return chain
  }
  const count = (records: ReadonlyArray<StateRecord.StateRecord>) => {
    const trie = Trie.apply(
      Trie.empty,
      records.map((record) => ({ key: StateRecord.placeOf(record), value: StateRecord.encode(record) })),
    )
    const recount = new Recount()
    for (const leaf of Trie.leaves(trie)) Either.getOrThrowWith(recount.leaf(leaf), identity)
    return recount.finish()
  }

  it("agrees with the running totals", () => {
    const { ledger } = story()
    expect(count([...ledger.records()])).toEqual(Either.right(ledger.read.totals))
  })

  it(Rest.of("many lives", "finds leaf by leaf what it finds record by record"), () => {
    lives({ seed: SEED + 50_000, count: 20, length: 80 }, (stage, steps) => {
      const { ledger } = play(stage, steps).chain
      const byRecord = new Recount()
      for (const record of ledger.records()) Either.getOrThrowWith(byRecord.add(record), identity)
      expect(count([...ledger.records()])).toEqual(byRecord.finish())
    })
  })

  it("does not accept an impossible balance as a real one", () => {
    const key = fromHex(alice.address)
    const tooMuch = Binary.encode((writer) =>
      writer
        .u64(Sats.MAX_SUPPLY + 1)
        .u64(0)
        .u8(0),
    )
    const record = { kind: "Account", key, value: tooMuch } as const
    expect(() => count([record])).toThrow(/above the maximum supply/)
  })

  it("finds a missing account, a pool too large and shares without a holder", () => {
    const records = [...story().ledger.records()]
    for (const kind of ["Account", "Validator"] as const) {
      const missing = records.find((record) => record.kind === kind)
      const result = count(records.filter((record) => record !== missing))
      expect(Either.isLeft(result) && result.left).toMatchObject({ _tag: "SupplyInvariantViolated" })
    }
  })
})

describe("the result of a recount", () => {
  const [alice, bob, carol, dora, val] = ["alice", "bob", "carol", "dora", "val"].map(person)
  if (!alice || !bob || !carol || !dora || !val) throw new Error("five people")
  /** A stake, a held bond, seven coins that stay with val, five that leave in this epoch and three that left before. */
  const story = (): ReadonlyArray<StateRecord.StateRecord> => {
    const chain = new Chain({
      accounts: { alice: 9_000, bob: 50, carol: 50, dora: 50 },
      council: ["bob"],
      treasury: 3,
      parameters: { proposalBond: coins(2) },
      protocol: { roundReward: Sats.ZERO },
    })
    chain.run(
      chain.stake(alice, coins(2_500)),
      ...[bob, carol, dora].map((who, i) => chain.delegate(who, val, coins(7 - 2 * i))),
      chain.undelegate(dora),
    )
    chain.closeEpoch()
    const propose = { _tag: "CreateProposalTx", title: "t", description: "", payload: { _tag: "Text" } } as const
    chain.run(chain.undelegate(carol), chain.tx(bob, propose, { fee: 1_000 }))
    return [...chain.ledger.records()]
  }
  const records = story()

  const counted = (some: ReadonlyArray<StateRecord.StateRecord>) => {
    const recount = new Recount()
    for (const record of some) Either.getOrThrowWith(recount.add(record), identity)
    return recount.finish()
  }
  /** The problem with the records of one of them changed. */
  const problemOf = <V>(codec: Records.Codec<V>, change: (value: V) => V): string => {
    const changed = records.map((record) => {
      if (record.kind !== codec.kind) return record
      const value = change(Either.getOrThrow(Records.decode(codec, record.value)))
      return { ...record, value: Binary.encode((writer) => codec.write(writer, value)) }
    })
    return Either.match(counted(changed), { onLeft: ({ problem }) => problem, onRight: () => "none" })
  }
  const problemOfAccount = (
    who: Person,
    change: (account: AccountRecord.AccountRecord) => Partial<AccountRecord.AccountRecord>,
  ): string => {
    const changed = records.map((record) => {
      if (record.kind !== "Account" || toHex(record.key) !== who.address) return record
      const account = Either.getOrThrow(AccountRecord.decode(record.value))
      return { ...record, value: AccountRecord.encode({ ...account, ...change(account) }) }
    })
    return Either.match(counted(changed), { onLeft: ({ problem }) => problem, onRight: () => "none" })
  }
  const more = (amount: Sats.Sats): Sats.Sats => Sats.make(amount + 1)
  const { epoch } = new Chain({}).epoch

  it("is empty where nothing is wrong", () => {
    expect(Either.isRight(counted(records))).toBe(true)
    expect(Either.isRight(counted([...records].reverse()))).toBe(true)
  })

  it("has each sum that differs from the running total", () => {
    const liquid = "balances and held bonds do not add up to the liquid total"
    expect(problemOfAccount(bob, ({ balance }) => ({ balance: more(balance) }))).toBe(liquid)
    expect(problemOf(Records.proposal, (proposal) => ({ ...proposal, bond: more(proposal.bond) }))).toBe(liquid)
    const staked = ({ stake }: AccountRecord.AccountRecord) => ({
      stake: stake && { ...stake, amount: more(stake.amount) },
    })
    expect(problemOfAccount(alice, staked)).toBe("the stakes do not add up to the staked total")
    const pools = "the pools do not add up to the delegated total"
    const larger = (pool: Pool.Pool) => ({ ...pool, amount: pool.amount === 0 ? pool.amount : more(pool.amount) })
    expect(problemOf(Records.validator, (validator) => ({ ...validator, working: larger(validator.working) }))).toBe(
      pools,
    )
    expect(problemOf(Records.leavingPool, larger)).toBe(pools)
    const total = "the components do not add up to the total supply"
    expect(problemOf(Records.totals, (totals) => ({ ...totals, total: more(totals.total) }))).toBe(total)
    expect(problemOf(Records.totals, (totals) => ({ ...totals, treasury: more(totals.treasury) }))).toBe(total)
  })

  it("has each pool whose shares do not match its delegators", () => {
    const shares = { staying: BigInt(coins(7)), departing: BigInt(coins(5)), left: BigInt(coins(3)) }
    const departing = problemOf(Records.validator, (validator) => ({
      ...validator,
      departing: validator.departing === 0n ? 0n : validator.departing - 1n,
    }))
    expect(departing).toBe(
      `${shares.departing - 1n} shares of ${val.address} count as departing, but its delegators hold ${shares.departing}`,
    )
    const more = (pool: Pool.Pool) => ({ ...pool, shares: pool.shares === 0n ? 0n : pool.shares + 1n })
    const working = shares.staying + shares.departing
    expect(problemOf(Records.validator, (validator) => ({ ...validator, working: more(validator.working) }))).toBe(
      `pool ${val.address} 0 0 has ${working + 1n} shares, but its delegators hold ${working}`,
    )
    expect(problemOf(Records.leavingPool, more)).toBe(
      `pool ${val.address} ${epoch} 0 has ${shares.left + 1n} shares, but its delegators hold ${shares.left}`,
    )
    const held = ({ delegation }: AccountRecord.AccountRecord) => ({
      delegation: delegation && { ...delegation, shares: delegation.shares - 1n },
    })
    expect(problemOfAccount(bob, held)).toBe(
      `pool ${val.address} 0 0 has ${working} shares, but its delegators hold ${working - 1n}`,
    )
  })

  it("has each impossible balance, even where two of them cancel out", () => {
    const recount = new Recount()
    for (const balance of [Sats.MAX_SUPPLY + 1, -Sats.MAX_SUPPLY - 1]) {
      recount.account(balance as Sats.Sats, AccountRecord.noExtras)
    }
    expect(Either.flip(recount.finish())).toMatchObject({
      right: { problem: "an account has a balance of 2100000000000001 sats" },
    })
  })

  it("has money in a pool without shares, and money beyond the maximum", () => {
    const unowned = new Recount()
    const amount = Sats.make(5)
    unowned.leavingPool(val.address, epoch, { amount, shares: 0n, generation: 0 })
    unowned.totals({ ...zero, delegated: amount, total: amount })
    expect(Either.flip(unowned.finish())).toMatchObject({
      right: { problem: `pool ${val.address} ${epoch} 0 has 0 shares for 5 sats` },
    })
    const rich = new Recount()
    rich.account(Sats.make(1), AccountRecord.noExtras)
    rich.totals({ ...zero, liquid: Sats.make(1), treasury: Sats.MAX_SUPPLY, total: (Sats.MAX_SUPPLY + 1) as Sats.Sats })
    expect(Either.flip(rich.finish())).toMatchObject({
      right: { problem: "supply above 2100000000000000 sats" },
    })
  })
})

describe("the check of the running totals after a commit", () => {
  const totals = { liquid: 1, staked: 2, delegated: 3, treasury: 4, total: 10 } as Record<
    keyof Totals,
    number
  > as Totals
  const messageOf = (some: Totals): string =>
    Either.match(new Supply(some).check(), { onLeft: ({ message }) => message, onRight: () => "none" })

  it("passes if they add up to a possible supply", () => {
    expect(messageOf(totals)).toBe("none")
    expect(messageOf({ ...zero, liquid: Sats.MAX_SUPPLY, total: Sats.MAX_SUPPLY })).toBe("none")
  })

  it("names both sides if they do not", () => {
    expect(messageOf({ ...totals, liquid: Sats.make(0) })).toBe(
      "the running totals do not add up; found liquid 0 + staked 2 + delegated 3 + treasury 4 = 9 sats, " +
        "expected liquid 0 + staked 2 + delegated 3 + treasury 4 = 10 sats",
    )
    const above = (Sats.MAX_SUPPLY + 1) as Sats.Sats
    expect(messageOf({ ...zero, liquid: above, total: above })).toMatch(/^supply above 2100000000000000 sats; found /)
  })
})
