/** The ten types: applied, failed with the fee kept, without effect. One validator `val` of 10 000 coins proposes. */
import { describe, expect, it } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Chain, coins, type Draft, person, signedBy, singleKey, told } from "./builders.js"
import { expectOutcomes } from "./Outcomes.js"
import { alice, bob, carol, other, val } from "./People.js"

const ghost = person("ghost")

const world = { accounts: { alice: 9_000, bob: 50, carol: 0.00001 } }

describe("any transaction", () => {
  it("pays its fee to the author of the vertex", () => {
    const chain = new Chain({ ...world, protocol: { roundReward: Sats.ZERO } })
    chain.run(chain.transfer(alice, bob, 5, 1_234))
    expect([chain.balance(alice), chain.balance(bob), chain.balance(val)]).toEqual([
      coins(9_000) - 1_239,
      coins(50) + 5,
      1_234,
    ])
  })

  it("has no effect with a nonce too high or too low, or a fee the sender cannot pay", () => {
    const chain = new Chain(world)
    const { operation } = chain.transfer(alice, bob, 5)
    expectOutcomes(chain, [
      [chain.tx(alice, operation, { fee: 1_000, nonce: 1 }), "no effect: NonceTooHigh"],
      [chain.tx(alice, operation, { fee: 1_000, nonce: 0 }), "applied"],
      [chain.tx(alice, operation, { fee: 1_000, nonce: 0 }), "no effect: NonceTooLow"],
      [chain.tx(carol, operation, { fee: 1_001, nonce: 0 }), "no effect: InsufficientBalance"],
      [chain.tx(ghost, operation, { fee: 1_000, nonce: 0 }), "no effect: InsufficientBalance"],
    ])
    expect([chain.account(alice).nonce, chain.account(carol).nonce]).toEqual([1, 0])
    expect(chain.balance(carol)).toBe(1_000)
  })

  it("has no effect when the signing key is not the account's", () => {
    const chain = new Chain(world)
    const { operation } = chain.transfer(alice, bob, 5)
    const forged = [singleKey(bob), signedBy(alice)].map((authorization) =>
      chain.tx(alice, operation, { fee: 1_000, nonce: 0, authorization }),
    )
    expect(chain.run(...forged).map(told)).toEqual(["no effect: InvalidSignature", "no effect: InvalidSignature"])
  })

  it("costs its fee when it fails, and the minimum where applying would have been free", () => {
    const chain = new Chain(world)
    const before = chain.balance(alice)
    expectOutcomes(chain, [
      [chain.unstake(alice), "failed: not_staking"],
      [chain.tx(alice, { _tag: "UndelegateTx" }, { fee: 5_000 }), "failed: not_delegating"],
      [chain.transfer(alice, bob, 5, 999), "failed: fee_below_minimum"],
      [chain.unstake(ghost), "no effect: not_staking"],
    ])
    expect(before - chain.balance(alice)).toBe(1_000 + 5_000 + 999)
    expect(chain.account(alice).nonce).toBe(3)
  })

  it("that its sender cannot pay for is refused for that, before any other check", () => {
    const chain = new Chain(world)
    const unstake = (authorization = singleKey(carol)) =>
      chain.tx(carol, { _tag: "UnstakeTx" }, { fee: 1_001, nonce: 0, authorization })
    expect(chain.run(unstake(), unstake(singleKey(bob))).map(told)).toEqual([
      "no effect: InsufficientBalance",
      "no effect: InsufficientBalance",
    ])
  })

  it("pays for its failure from a fee of one sat on", () => {
    const chain = new Chain(world)
    const before = chain.balance(alice)
    expect(chain.run(chain.transfer(alice, bob, 5, 1)).map(told)).toEqual(["failed: fee_below_minimum"])
    expect(before - chain.balance(alice)).toBe(1)
  })

  it("without a fee has no effect unless its type may be free", () => {
    const chain = new Chain(world)
    const outcomes = chain.run(chain.transfer(alice, bob, 5, 0), chain.tx(alice, { _tag: "UnstakeTx" }, { nonce: 0 }))
    expect(outcomes).toMatchObject([
      { _tag: "NoEffect", reason: { rule: "fee_below_minimum", reason: expect.stringContaining("1000") } },
      { _tag: "Failed", fee: 1_000, reason: { rule: "not_staking" } },
    ])
    expect(chain.account(alice)).toMatchObject({ balance: coins(9_000) - 1_000, nonce: 1 })
  })

  it("moves the coins of delegators, stakers and leavers like all others", () => {
    const chain = new Chain({
      ...world,
      accounts: { alice: 9_000, bob: 9_000, other: 10 },
      validators: { val: 10_000, other: 4_000 },
    })
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    const outcomes = chain.run(
      chain.delegate(alice, val, coins(1)),
      chain.stake(bob, coins(2_000)),
      chain.unstake(bob),
      ...[alice, bob, other].map((who) => chain.transfer(who, carol, 5)),
    )
    expect(new Set(outcomes.map(told))).toEqual(new Set(["applied"]))
    expect(chain.balance(carol)).toBe(15)
  })
})

describe("Transfer", () => {
  it("keeps only the fee when the amount is missing", () => {
    const chain = new Chain(world)
    expect(chain.run(chain.transfer(bob, alice, coins(50))).map(told)).toEqual(["failed: InsufficientBalance"])
    expect(chain.balance(bob)).toBe(coins(50) - 1_000)
  })

  it("to oneself costs only the fee", () => {
    const chain = new Chain(world)
    expect(chain.run(chain.transfer(bob, bob, coins(50) - 1_000)).map(told)).toEqual(["applied"])
    expect(chain.balance(bob)).toBe(coins(50) - 1_000)
  })

  it("spends the last sat, and money received earlier in the same vertex", () => {
    const chain = new Chain(world)
    const outcomes = chain.run(chain.transfer(alice, ghost, 3_000), chain.transfer(ghost, bob, 2_000))
    expect(outcomes.map(told)).toEqual(["applied", "applied"])
    expect([chain.balance(ghost), chain.account(ghost).nonce]).toEqual([0, 1])
  })
})

describe("transactions with a joint lookup of accounts", () => {
  // The joint lookup says nothing about accounts that are created in between.
  it("find an account that an earlier transfer created", () => {
    const chain = new Chain({ ...world, protocol: { roundReward: Sats.ZERO } })
    const through = Array.from({ length: 200 }, (_, n) => person(`hop ${n}`))
    const hops = through.map((hop, n) => {
      const before = n === 0 ? alice : (through[n - 1] ?? alice)
      return chain.transfer(before, hop, coins(1_000) - n * 1_000)
    })
    expect(new Set(chain.run(...hops).map(told))).toEqual(new Set(["applied"]))
    expect(chain.balance(through.at(-1) ?? alice)).toBe(coins(1_000) - 199_000)
    expect(chain.balance(through[0] ?? alice)).toBe(0)
  })
})

describe("StakeTx and UnstakeTx", () => {
  it("stake at once, top up, and leave once", () => {
    const chain = new Chain(world)
    expectOutcomes(chain, [
      [chain.stake(alice, coins(2_000)), "applied"],
      [chain.stake(alice, coins(2_500)), "applied"],
      [chain.unstake(alice), "applied"],
      [chain.unstake(alice), "failed: leaving"],
      [chain.stake(alice, coins(2_000)), "failed: leaving"],
    ])
    expect(chain.ledger.read.stake(alice.address)).toMatchObject({
      stakedAmount: coins(4_500),
      effectiveStake: coins(4_500),
      commissionPercent: 10,
      isActiveValidator: false,
      leaving: { epoch: 1, unlockAtRound: 80 },
    })
  })

  it("exclude staking while delegating, and delegating while staking", () => {
    const chain = new Chain({ ...world, accounts: { alice: 9_000, bob: 9_000 } })
    expectOutcomes(chain, [
      [chain.delegate(alice, val, coins(1)), "applied"],
      [chain.stake(alice, coins(2_000)), "failed: delegates_already"],
      [chain.stake(bob, coins(2_000)), "applied"],
      [chain.delegate(bob, val, coins(1)), "failed: stakes_already"],
    ])
  })

  it("fail without the balance", () => {
    const chain = new Chain(world)
    expect(chain.run(chain.stake(bob, coins(2_000))).map(told)).toEqual(["failed: InsufficientBalance"])
  })
})

describe("DelegateTx and UndelegateTx", () => {
  it("add up with one validator and cannot go to a second", () => {
    const chain = new Chain({ ...world, validators: { val: 10_000, other: 5_000 } })
    expectOutcomes(chain, [
      [chain.delegate(alice, val, coins(3)), "applied"],
      [chain.delegate(alice, val, coins(4)), "applied"],
      [chain.delegate(alice, other, coins(4)), "failed: delegates_elsewhere"],
      [chain.undelegate(alice), "applied"],
      [chain.undelegate(alice), "failed: leaving"],
      [chain.delegate(alice, val, coins(4)), "failed: leaving"],
    ])
    expect(chain.ledger.read.delegation(alice.address)).toMatchObject({
      validator: val.address,
      leaving: { epoch: 1, unlockAtRound: 80 },
    })
  })

  it("require the minimum, an active validator, and another account", () => {
    const chain = new Chain({ ...world, accounts: { alice: 9_000, bob: 50 } })
    chain.run(chain.stake(alice, coins(2_000)), chain.unstake(alice))
    expectOutcomes(chain, [
      [chain.delegate(bob, val, coins(1) - 1), "failed: delegation_below_minimum"],
      [chain.delegate(bob, carol, coins(1)), "failed: validator_not_active"],
      [chain.delegate(bob, alice, coins(1)), "failed: validator_not_active"],
      [chain.delegate(bob, bob, coins(1)), "failed: own_validator"],
    ])
  })
})

describe("SetCommissionTx", () => {
  const setTo = (chain: Chain, who = val, percent = 33) =>
    chain.tx(who, { _tag: "SetCommissionTx", commissionPercent: percent })

  it("takes effect at once, for stakers, once an epoch", () => {
    const chain = new Chain({ accounts: { ...world.accounts, val: 1 } })
    expect(chain.run(setTo(chain), setTo(chain, val, 5), setTo(chain, alice)).map(told)).toEqual([
      "applied",
      "failed: commission_set_this_epoch",
      "failed: not_staking",
    ])
    expect(chain.ledger.read.stake(val.address).commissionPercent).toBe(33)
    chain.closeEpoch()
    expect(chain.run(setTo(chain, val, 5)).map(told)).toEqual(["applied"])
  })
})

describe("RegisterNameTx", () => {
  const register = (chain: Chain, who: typeof alice, name: string, fee = 100_000) =>
    chain.tx(who, { _tag: "RegisterNameTx", name: name as never }, { fee })

  it("gives the first comer one name, and the fee to the treasury", () => {
    const chain = new Chain({ ...world, names: { "the-bank": "carol" }, protocol: { roundReward: Sats.ZERO } })
    expectOutcomes(chain, [
      [register(chain, alice, "alice", 150_000), "applied"],
      [register(chain, bob, "alice"), "failed: NameTaken"],
      [register(chain, alice, "alice2"), "failed: has_a_name"],
      [register(chain, bob, "the-bank"), "failed: NameTaken"],
      [register(chain, bob, "bob", 99_999), "failed: fee_below_minimum"],
    ])
    expect(chain.ledger.read.totals.treasury).toBe(150_000)
    expect(chain.balance(val)).toBe(100_000 * 3 + 99_999)
    expect(chain.ledger.read.addressOf("alice" as never)).toBe(alice.address)
    expect(chain.account(alice).name).toBe("alice")
  })
})

describe("SetAccountPolicyTx", () => {
  const policy = (threshold: number, ...keys: ReadonlyArray<typeof alice>): Draft["operation"] => ({
    _tag: "SetAccountPolicyTx",
    threshold,
    keys: keys.map(({ publicKey }) => publicKey),
  })
  const fee = 1_000

  it("gives the account to its keys, and later to others", () => {
    const chain = new Chain(world)
    const { operation } = chain.transfer(alice, bob, 5)
    expect(chain.run(chain.tx(alice, policy(2, bob, carol, val), { fee, nonce: 0 })).map(told)).toEqual(["applied"])
    const by = (nonce: number, authorization: Draft["authorization"]) =>
      chain.tx(alice, operation, { fee, nonce, ...(authorization && { authorization }) })
    expectOutcomes(chain, [
      [by(1, singleKey(alice)), "no effect: InvalidSignature"],
      [by(1, signedBy(bob)), "no effect: InvalidSignature"],
      [by(1, signedBy(bob, carol, alice)), "no effect: InvalidSignature"],
      [by(1, signedBy(carol, bob)), "applied"],
      [chain.tx(alice, policy(1, ghost), { fee, nonce: 2, authorization: signedBy(val, bob) }), "applied"],
      [by(3, signedBy(carol, bob)), "no effect: InvalidSignature"],
      [by(3, signedBy(ghost)), "applied"],
    ])
  })

  it("lets a smart account stake with the key of its address, which was kept", () => {
    const chain = new Chain(world)
    const stake: Draft["operation"] = { _tag: "StakeTx", amount: coins(3_000) }
    expectOutcomes(chain, [
      [chain.tx(alice, policy(1, bob), { fee, nonce: 0 }), "applied"],
      [chain.tx(alice, stake, { nonce: 1, authorization: signedBy(bob) }), "applied"],
    ])
    chain.closeEpoch()
    chain.closeEpoch(chain.committee, [alice])
    expect(chain.epoch.members).toContainEqual(expect.objectContaining({ publicKey: alice.publicKey }))
  })
})

describe("admission", () => {
  const admit = (chain: Chain, transaction: ReturnType<Chain["tx"]>, reserved = 0) => {
    const rejection = chain.ledger.admission(transaction, reserved)
    return rejection === undefined
      ? "welcome"
      : rejection._tag === "InvalidTransaction"
        ? rejection.rule
        : rejection._tag
  }

  it("checks signature, nonce, rules and balance in this order", () => {
    const chain = new Chain(world)
    const { operation } = chain.transfer(bob, alice, coins(49))
    const at = (nonce: number, fee = 1_000) => chain.tx(bob, operation, { nonce, fee })
    expect(admit(chain, chain.tx(bob, operation, { nonce: 99, fee: 0, authorization: singleKey(alice) }))).toBe(
      "InvalidSignature",
    )
    expect(admit(chain, at(64, 0))).toBe("NonceTooHigh")
    expect(admit(chain, at(63, 0))).toBe("fee_below_minimum")
    expect(admit(chain, at(63))).toBe("welcome")
    expect(admit(chain, at(1), coins(1) - 1_000)).toBe("welcome")
    expect(admit(chain, at(1), coins(1) - 999)).toBe("InsufficientBalance")
    chain.run(at(0))
    expect(admit(chain, at(0))).toBe("NonceTooLow")
  })

  it("reserves only the fee for transactions that move no amount", () => {
    const chain = new Chain(world)
    const operations: ReadonlyArray<Draft["operation"]> = [
      { _tag: "UnstakeTx" },
      { _tag: "UndelegateTx" },
      { _tag: "SetCommissionTx", commissionPercent: 5 },
      { _tag: "VoteTx", proposalId: Natural.proposalId(1), vote: true },
      { _tag: "RegisterNameTx", name: "alice" as never },
      { _tag: "SetAccountPolicyTx", threshold: 1, keys: [bob.publicKey] },
    ]
    for (const operation of operations) expect(chain.ledger.spending(chain.tx(alice, operation, { fee: 7 }))).toBe(7)
    expect(chain.ledger.spending(chain.stake(alice, coins(2_000)))).toBe(coins(2_000))
    expect(chain.ledger.spending(chain.delegate(alice, val, 5))).toBe(5)
    expect(chain.ledger.spending(chain.transfer(alice, bob, 5, 7))).toBe(12)
  })

  it("agrees with execution", () => {
    const chain = new Chain(world)
    const transactions = [chain.unstake(alice), chain.delegate(bob, carol, coins(1)), chain.transfer(carol, bob, 1)]
    const asked = transactions.map((transaction) => admit(chain, transaction))
    expect(asked).toEqual(["not_staking", "validator_not_active", "InsufficientBalance"])
    expect(chain.run(...transactions).map(told)).toEqual([
      "failed: not_staking",
      "failed: validator_not_active",
      "failed: InsufficientBalance",
    ])
  })
})
