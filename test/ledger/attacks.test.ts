/** Attacks, one story each. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as Delegation from "../../src/ledger/rules/Delegation.js"
import * as Unlocking from "../../src/ledger/rules/Unlocking.js"
import { Accounts } from "../../src/ledger/tables/Accounts.js"
import * as Pool from "../../src/ledger/tables/Pool.js"
import { State } from "../../src/ledger/tables/State.js"
import * as Protocol from "../../src/protocol/epoch/Protocol.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type { Name } from "../../src/protocol/identity/Name.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import type { Operation } from "../../src/protocol/transaction/Operation.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import { fromRecords } from "../support/Restored.js"
import { Chain, coins, type Person, person, signedBy, singleKey, stranger, tableKey, told } from "./builders.js"

const fail = (expected: string): never => {
  throw new Error(`${expected} expected`)
}

const [alice, bob, carol, val, evil] = [person("alice"), person("bob"), person("carol"), person("val"), person("evil")]

describe("a flood of accounts with similar addresses", () => {
  const address = (i: number) => stranger(`00000000000000000000${i.toString(16).padStart(20, "0")}`).address

  it("finds each of them while the table grows in steps", () => {
    const accounts = new Accounts(tableKey)
    const rows = Array.from({ length: 5_000 }, (_, i) => accounts.findOrAdd(address(i)))
    expect(rows).toEqual(rows.map((_, row) => row))
    expect(rows.map((_, i) => accounts.find(address(i)))).toEqual(rows)
    expect(accounts.find(address(5_000))).toBeUndefined()
  })

  it("gives the same digest in any order", () => {
    const order = Array.from({ length: 300 }, (_, i) => i)
    const digestOf = (order: ReadonlyArray<number>) => {
      const chain = new Chain({ accounts: { alice: 9_000 } })
      chain.run(...order.map((i) => chain.transfer(alice, stranger(address(i)), 1 + i)))
      return chain.ledger.effectsDigest
    }
    expect(digestOf([...order].reverse())).toBe(digestOf(order))
    expect(digestOf(order.slice(1))).not.toBe(digestOf(order))
  })

  it("is sorted although thousands share their first word", () => {
    const chain = new Chain({ accounts: { alice: 9_000 } })
    const transactions = Array.from({ length: 2_000 }, (_, i) =>
      chain.transfer(alice, stranger(address((i * 7_919) % 2_003)), 1),
    )
    const { changes } = chain.commit([{ by: val, transactions }])
    const keys = [...changes]
      .filter(({ kind }) => kind === "Account")
      .map(({ key }) => Buffer.from(key).toString("hex"))
    expect(keys).toHaveLength(2_002)
    expect(keys).toEqual([...keys].sort())
  })
})

describe("spam of fee-exempt transactions", () => {
  it("leaves no trace from empty accounts, not even a record", () => {
    const chain = new Chain({})
    const records = [...chain.ledger.records()].length
    const nobodies = Array.from({ length: 500 }, (_, i) => person(`nobody ${i}`))
    const outcomes = chain.run(
      ...nobodies.flatMap((nobody) => [
        chain.unstake(nobody),
        chain.undelegate(nobody),
        chain.delegate(nobody, val, coins(1)),
        chain.tx(nobody, { _tag: "SetCommissionTx", commissionPercent: 1 }),
      ]),
    )
    expect(new Set(outcomes.map(({ _tag }) => _tag))).toEqual(new Set(["NoEffect"]))
    // The commit itself: a claimed coinbase, a commit to be named, and the proposer's first balance in its account.
    expect([...chain.ledger.records()].length - records).toBe(2)
  })

  it("costs funded accounts the minimum fee each time", () => {
    const chain = new Chain({ accounts: { evil: 0.00005 } })
    const outcomes = chain.run(...Array.from({ length: 10 }, () => chain.unstake(evil)))
    expect(outcomes.filter(({ _tag }) => _tag === "Failed")).toHaveLength(5)
    expect(outcomes.slice(5).map(told)).toEqual(
      Array.from({ length: 5 }, (_, i) => (i === 0 ? "no effect: not_staking" : "no effect: NonceTooHigh")),
    )
    expect(chain.balance(evil)).toBe(0)
  })
})

/** One transaction of every type, with no fee and the first nonce. */
const freeOfEveryType = (chain: Chain, from: Person): ReadonlyArray<Transaction> => {
  const operations: ReadonlyArray<Operation> = [
    { _tag: "Transfer", to: val.address, amount: Sats.MAX_SUPPLY, memo: "" },
    { _tag: "StakeTx", amount: Sats.MAX_SUPPLY },
    { _tag: "UnstakeTx" },
    { _tag: "DelegateTx", validator: val.address, amount: Sats.MAX_SUPPLY },
    { _tag: "UndelegateTx" },
    { _tag: "SetCommissionTx", commissionPercent: 100 },
    { _tag: "CreateProposalTx", title: "t", description: "", payload: { _tag: "Text" } },
    { _tag: "VoteTx", proposalId: Natural.proposalId(Number.MAX_SAFE_INTEGER), vote: true },
    { _tag: "RegisterNameTx", name: "nobody" as Name },
    { _tag: "SetAccountPolicyTx", threshold: 1, keys: [from.publicKey] },
  ]
  return operations.map((operation) => chain.tx(from, operation, { nonce: 0 }))
}

describe("a transaction of an account that does not exist", () => {
  const world = { accounts: { alice: 500, bob: 1 } }
  const delegated = () => {
    const chain = new Chain(world)
    chain.run(chain.delegate(alice, val, coins(1)))
    return chain
  }

  // `Pool.deposit` added the amount to the pool before the balance was checked, and threw above the maximum supply:
  // every node that heard such a transaction ended.
  it("that delegates the maximum supply is refused at admission and has no effect in a vertex", () => {
    const chain = delegated()
    const everything = chain.delegate(evil, val, Sats.MAX_SUPPLY)
    expect(chain.ledger.admission(everything, 0)?._tag).toBe("InsufficientBalance")
    expect(chain.run(everything).map(told)).toEqual(["no effect: InsufficientBalance"])
  })

  // A failure with a fee of 0 tried to raise the nonce of an account without a row.
  it("has no effect and leaves no record, for any type", () => {
    const chain = delegated()
    const before = [...chain.ledger.records()].filter(({ kind }) => kind === "Account").length
    const transactions = freeOfEveryType(chain, evil)
    for (const transaction of transactions) expect(chain.ledger.admission(transaction, 0)).toBeDefined()
    const outcomes = chain.run(...transactions)
    expect(outcomes.map(({ _tag }) => _tag)).toEqual(outcomes.map(() => "NoEffect"))
    expect([...chain.ledger.records()].filter(({ kind }) => kind === "Account")).toHaveLength(before)
  })

  // A council seat that was granted and removed leaves an empty row, which a restored node lacks.
  it("has no effect either where an account was emptied, on a running node and on a restored one", () => {
    const chain = new Chain({ ...world, council: ["val"], parameters: { councilPercent: 0 } })
    const seat = (action: "add" | "remove") =>
      chain.tx(
        val,
        {
          _tag: "CreateProposalTx",
          title: "t",
          description: "",
          payload: { _tag: "CouncilMembership", action, address: evil.address },
        },
        { fee: 1_000 },
      )
    for (let i = 0; i < 20; i++) chain.commit([{ by: val }])
    for (const action of ["add", "remove"] as const) {
      chain.run(seat(action))
      const [proposal] = chain.ledger.read.proposals(1)
      chain.run(
        chain.tx(val, { _tag: "VoteTx", proposalId: proposal?.id ?? fail("a proposal"), vote: true }, { fee: 1_000 }),
      )
      while (chain.ledger.read.proposals(1)[0]?.status !== "Executed") chain.commit([{ by: val }], chain.round + 10)
    }
    expect(chain.account(evil)).toEqual(AccountRecord.empty)
    const { ledger, genesis } = chain
    const other = Either.getOrThrow(
      fromRecords(genesis.protocol, { low: 7, high: 7 }, ledger.records(), ledger.effectsDigest),
    )
    const outcomes = chain.run(...freeOfEveryType(chain, evil))
    expect(outcomes.map(({ _tag }) => _tag)).toEqual(outcomes.map(() => "NoEffect"))
    const executed = Either.getOrThrow(other.execute(chain.inputs.at(-1) ?? fail("an input")))
    expect([executed.effectsDigest, executed.vertices[0]?.transactions]).toEqual([ledger.effectsDigest, outcomes])
  })

  it("has no effect for a fee of 0 even where the account is rich, since failures always pay", () => {
    const chain = delegated()
    const free = chain.tx(bob, { _tag: "Transfer", to: alice.address, amount: Sats.make(1), memo: "" })
    expect(chain.run(free).map(told)).toEqual(["no effect: fee_below_minimum"])
    expect(chain.account(bob)).toMatchObject({ balance: coins(1), nonce: 0 })
  })
})

describe("manipulation of the share price", () => {
  const world = { accounts: { alice: 900, bob: 900, carol: 900 }, parameters: { minDelegation: 1 } }

  it("a first deposit of one sat earns nothing that could price out the next one", () => {
    const chain = new Chain(world)
    chain.run(chain.delegate(alice, val, 1))
    // The pool's part of a reward is 0 until it carries weight beside the own stake.
    for (let i = 0; i < 5; i++) chain.commit([{ by: val }])
    expect(chain.run(chain.delegate(bob, val, 1)).map(told)).toEqual(["applied"])
  })

  // In a small network a pool of one coin doubles within hours. An account that moves that coin to another each time
  // holds ever fewer shares, until one share is worth most of what somebody else delegates.
  it("a pool with expensive shares takes nothing from the next delegator", () => {
    const pumps = ["pump 0", "pump 1", "pump 2", "pump 3"].map(person)
    const chain = new Chain({
      accounts: { ...Object.fromEntries(pumps.map(({ name }) => [name, 1_000])), bob: 100_000 },
      validators: { val: 2_000 },
      commission: 0,
      protocol: { roundReward: coins(500) },
    })
    // Four take turns, since a delegator that left waits for two epochs.
    let holder = val
    for (let turn = 0; turn < 40; turn++) {
      const next = pumps[turn % 4] ?? fail("somebody")
      const [joined] = chain.run(chain.delegate(next, val, coins(1)))
      // A coin no longer buys a share: the holders of the last ones keep them.
      if (joined?._tag !== "Applied") break
      if (turn > 0) chain.run(chain.undelegate(holder))
      holder = next
      chain.closeEpoch()
    }
    const held = chain.ledger.read.delegation(holder.address)?.amount ?? fail("a delegation")
    expect(held).toBeGreaterThan(coins(1))
    const before = chain.balance(bob)
    expect(chain.run(chain.delegate(bob, val, Math.floor(1.9 * held))).map(told)).toEqual(["applied"])
    const taken = before - chain.balance(bob)
    const worth = () => chain.ledger.read.delegation(bob.address)?.amount
    expect(worth()).toBeGreaterThanOrEqual(taken - 1)
    chain.run(chain.undelegate(holder))
    chain.closeEpoch()
    expect(worth()).toBeGreaterThanOrEqual(taken - 1)
  })

  it("dust stays with the pool, and its last holder takes it", () => {
    const chain = new Chain({ ...world, validators: { val: 2_000 } })
    chain.run(chain.delegate(alice, val, 3), chain.delegate(bob, val, 5), chain.delegate(carol, val, coins(100)))
    for (let i = 0; i < 7; i++) chain.commit([{ by: val }])
    chain.run(chain.undelegate(alice), chain.undelegate(bob), chain.undelegate(carol))
    for (let i = 0; i < 3; i++) chain.closeEpoch()
    expect([alice, bob, carol].map((who) => chain.ledger.read.delegation(who.address))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(chain.ledger.read.totals.delegated).toBe(0)
    expect(chain.ledger.read.stake(val.address).delegatorCount).toBe(0)
  })

  it("shares slashed to nothing stay dead in the next pool of the same validator", () => {
    const chain = new Chain({
      ...world,
      accounts: { ...world.accounts, evil: 9_000 },
      validators: { val: 9_000, evil: 3_000 },
      parameters: { slashPercent: 100 },
    })
    chain.run(chain.delegate(alice, evil, coins(100)))
    chain.commit([{ by: val, evidence: [chain.evidence(evil, 2)] }])
    for (let i = 0; i < 3; i++) chain.closeEpoch([val])
    chain.run(chain.stake(evil, coins(3_000)), chain.delegate(bob, evil, coins(10)))
    expect(chain.ledger.read.delegation(alice.address)).toBeUndefined()
    expect(chain.ledger.read.delegation(bob.address)?.amount).toBe(coins(10))
    expect(chain.run(chain.undelegate(alice)).map(told)).toEqual(["failed: not_delegating"])
    expect(Either.isRight(chain.ledger.recount())).toBe(true)
  })

  // Leavers of all epochs had one pool. Slashed almost to nothing repeatedly, it could issue no more shares, and
  // further leavers were released at once, before the evidence against their validator came.
  it("leavers always wait and can be slashed, independently of earlier leavers", () => {
    const chain = new Chain({ accounts: { alice: 5 } })
    const state = new State(Protocol.standard, tableKey)
    state.epoch = { weighedIn: Natural.epoch(7), base: Hash.ZERO, record: { ...chain.epoch, epoch: Natural.epoch(7) } }
    state.parameters = chain.genesis.parameters
    const row = state.accounts.findOrAdd(alice.address)
    const amount = coins(5)
    for (const sats of [amount, Sats.make(1)]) state.supply.mint(sats)
    state.supply.increase("delegated", Sats.make(amount + 1))
    state.leavingPools.set(evil.address, Natural.epoch(6), { amount: Sats.make(1), shares: 1n << 127n, generation: 0 })
    state.setValidator(evil.address, {
      ...state.newValidator(),
      working: { amount, shares: BigInt(amount), generation: 0 },
    })
    state.update(row, {
      delegation: { validator: evil.address, generation: 0, shares: BigInt(amount), leaving: null },
    })
    Delegation.applyUndelegate(state, row)
    Unlocking.depart(state)
    state.epoch = { weighedIn: Natural.epoch(8), base: Hash.ZERO, record: { ...chain.epoch, epoch: Natural.epoch(8) } }
    const worth = () => Delegation.worth(state, state.livingDelegation(row) ?? fail("alive"))
    expect([state.accounts.balance(row), state.supply.totals.delegated, worth()]).toEqual([0, amount + 1, amount])
    const [epoch, pool] = state.leavingPools.of(evil.address)[1] ?? fail("a pool of epoch 7")
    state.leavingPools.set(evil.address, epoch, Pool.slash(pool, 99).pool)
    expect(worth()).toBe(amount - Sats.percent(amount, 99))
    expect(Delegation.release(state, row)).toBe(amount - Sats.percent(amount, 99))
  })
})

describe("thousands of simultaneous leavers", () => {
  const crowd = Array.from({ length: 2 * Limits.RELEASES_PER_COMMIT + 300 }, (_, i) => person(`one of ${i}`))
  const left = () => {
    const chain = new Chain({ accounts: Object.fromEntries(crowd.map(({ name }) => [name, 10])) })
    chain.run(...crowd.flatMap((who) => [chain.delegate(who, val, coins(7)), chain.undelegate(who)]))
    return chain
  }

  it("change a validator's record and form one pool when the epoch closes", () => {
    const chain = left()
    chain.advanceTo(chain.lastRound - 1)
    const { changes } = chain.advanceTo(chain.lastRound)
    const kinds = [...changes].map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === "LeavingPool" || kind === "Validator")).toEqual(["Validator", "LeavingPool"])
    // Those who earned something in it, and no leavers.
    expect(kinds.filter((kind) => kind === "Account").length).toBeLessThan(3)
  })

  it("are released a thousand per commit in the order of addresses", () => {
    const chain = left()
    chain.closeEpoch()
    chain.closeEpoch()
    const { delegated } = chain.ledger.read.totals
    const released = [1, 2, 3, 4].map(() =>
      chain
        .commit([{ by: val }])
        .events.map((event) => (event._tag === "Unlocked" ? event.address : fail("a release"))),
    )
    expect(released.map(({ length }) => length)).toEqual([1_000, 1_000, 300, 0])
    expect(released.flat()).toEqual(crowd.map(({ address }) => address).sort())
    expect([chain.ledger.read.totals.delegated, delegated > 0]).toEqual([0, true])
  })

  it("are released in the same order by a ledger that was restored in between", () => {
    const chain = left()
    chain.closeEpoch()
    chain.closeEpoch()
    chain.commit([{ by: val }])
    const { ledger, genesis } = chain
    const records = [...ledger.records()].reverse()
    const other = Either.getOrThrow(fromRecords(genesis.protocol, { low: 7, high: 7 }, records, ledger.effectsDigest))
    chain.commit([{ by: val }])
    const input = chain.inputs.at(-1) ?? fail("an input")
    expect(Either.map(other.execute(input), ({ effectsDigest }) => effectsDigest)).toEqual(
      Either.right(ledger.effectsDigest),
    )
  })
})

describe("unstaking before equivocating", () => {
  const world = { validators: { val: 9_000, evil: 4_000 }, accounts: { evil: 1, alice: 500 } }

  it("within the epoch is punished in the same epoch and in the next", () => {
    for (const waits of [false, true]) {
      const chain = new Chain(world)
      const { epoch } = chain
      chain.run(chain.unstake(evil))
      const evidence = [chain.evidence(evil, 30, epoch)]
      chain.advanceTo(31)
      if (waits) chain.closeEpoch()
      expect(chain.commit([{ by: val, evidence }]).events).toHaveLength(1)
      expect(chain.account(evil).stake?.amount).toBe(coins(2_000))
    }
  })

  it("leaves the stake in place until the last commit in which the evidence counts", () => {
    const chain = new Chain(world)
    const { epoch } = chain
    chain.run(chain.unstake(evil))
    chain.closeEpoch()
    chain.advanceTo(chain.lastRound - 1)
    const { events } = chain.commit([{ by: val, evidence: [chain.evidence(evil, 30, epoch)] }], chain.lastRound)
    expect(events[0]).toMatchObject({ _tag: "Slashed", ownStake: coins(2_000) })
  })

  it("does not save the validator's former delegators either", () => {
    const chain = new Chain(world)
    chain.run(chain.delegate(alice, evil, coins(500)), chain.undelegate(alice))
    chain.closeEpoch()
    const before = chain.ledger.read.delegation(alice.address)?.amount ?? 0
    chain.commit([{ by: val, evidence: [chain.evidence(evil, 50)] }])
    const after = chain.ledger.read.delegation(alice.address)?.amount
    expect(after).toBe(before - Sats.percent(Sats.make(before), 50))
  })
})

describe("a rotated-out key", () => {
  it("signs nothing any more, neither alone nor beside a valid one", () => {
    const chain = new Chain({ accounts: { alice: 10 } })
    const rotate = { _tag: "SetAccountPolicyTx", threshold: 1, keys: [carol.publicKey] } as const
    chain.run(chain.tx(alice, rotate, { fee: 1_000 }))
    const steal = { _tag: "Transfer", to: evil.address, amount: coins(1), memo: "" } as const
    const tries = [singleKey(alice), signedBy(alice), signedBy(carol, alice), singleKey(carol)]
    const outcomes = chain.run(
      ...tries.map((authorization) => chain.tx(alice, steal, { fee: 1_000, nonce: 1, authorization })),
    )
    expect(new Set(outcomes.map(told))).toEqual(new Set(["no effect: InvalidSignature"]))
    expect(chain.balance(evil)).toBe(0)
  })
})

describe("a second reward", () => {
  it("fails for two vertices of a slot in one commit, in two commits, and beyond the depth", () => {
    const chain = new Chain({ validators: { val: 9_000, evil: 9_000 } })
    const minted = (drafts: Parameters<Chain["commit"]>[0], round?: number) =>
      chain.commit(drafts, round).vertices.map((vertex) => vertex.minted > 0)
    expect(
      minted([
        { by: evil, round: 1 },
        { by: evil, round: 1 },
      ]),
    ).toEqual([true, false])
    expect(
      minted(
        [
          { by: evil, round: 1 },
          { by: val, round: 1 },
        ],
        5,
      ),
    ).toEqual([false, true])
    // Round 1 is above g of this commit, 5 − 10, so a vertex of it may still be ordered; later ones are not.
    expect(minted([{ by: evil, round: 1 }], 11)).toEqual([false])
  })
})

describe("a newcomer with most of the stake", () => {
  it("gets at most a quarter of the first committee, and the network closes epochs without it", () => {
    const chain = new Chain({ validators: { val: 3_000 }, accounts: { evil: 900_000 } })
    chain.run(chain.stake(evil, coins(900_000)))
    chain.closeEpoch([val], [evil])
    const weightOf = (who: typeof val) => chain.epoch.members.find(({ address }) => address === who.address)?.weight
    expect([weightOf(val), weightOf(evil)]).toEqual([coins(3_000), coins(1_000)])
    // It falls silent: the next close drops it.
    chain.closeEpoch([val], [])
    expect([weightOf(val), weightOf(evil)]).toEqual([coins(3_000), undefined])
  })
})
