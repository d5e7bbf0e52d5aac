/** The ledger's reasons for refusing transactions. */
import { describe, expect, it } from "vitest"
import type { Outcome } from "../../src/ledger/rules/Execution.js"
import { describe as tell } from "../../src/ledger/rules/Rejection.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import type { Authorization, Transaction } from "../../src/protocol/transaction/Transaction.js"
import { Chain, coins, type Person, person, signedBy, singleKey, told, type World } from "./builders.js"
import { alice, bob, val } from "./People.js"

describe("a rejection", () => {
  it("states the expected and the found value in one line", () => {
    const chain = new Chain({ accounts: { alice: 5 } })
    const outcomes = chain.run(
      chain.transfer(alice, bob, coins(5), 1_000),
      chain.transfer(alice, bob, 1, 7),
      chain.tx(alice, { _tag: "UnstakeTx" }, { nonce: 9 }),
    )
    expect(outcomes.map((outcome) => (outcome._tag === "Applied" ? "" : tell(outcome.reason)))).toEqual([
      "5.00001 UDG (500001000 sats) needed, 5 UDG (500000000 sats) available",
      "the fee is 0.00000007 UDG (7 sats); at least 0.00001 UDG (1000 sats) is required",
      "nonce 9 is too far ahead; the next one is 2",
    ])
    expect(outcomes.map(told)[2]).toBe("no effect: NonceTooHigh")
  })

  it("for a lack of coins states the rest besides pending transactions", () => {
    const chain = new Chain({ accounts: { alice: 5 } })
    const rejected = (reserved: number) => {
      const rejection = chain.ledger.admission(chain.transfer(alice, bob, coins(5), 1_000), reserved)
      return rejection && tell(rejection)
    }
    expect([rejected(0), rejected(1), rejected(coins(6))]).toEqual([
      "5.00001 UDG (500001000 sats) needed, 5 UDG (500000000 sats) available",
      "5.00001 UDG (500001000 sats) needed, 4.99999999 UDG (499999999 sats) available; " +
        "pending transactions of the account take 0.00000001 UDG (1 sat)",
      "5.00001 UDG (500001000 sats) needed, 0 UDG (0 sats) available; " +
        "pending transactions of the account take 6 UDG (600000000 sats)",
    ])
  })

  const [carol, other, nobody] = [person("carol"), person("other"), person("nobody")]
  const world: World = {
    accounts: { alice: 9_000, bob: 9_000, carol: 500, val: 1, other: 5_000 },
    validators: { val: 10_000, other: 4_000 },
  }
  const sayOf = (outcome: Outcome): string => {
    if (outcome._tag === "Applied") return "applied"
    const { reason } = outcome
    return reason._tag === "InvalidTransaction" ? `${reason.rule}: ${tell(reason)}` : tell(reason)
  }
  const toldBy = (chain: Chain, ...transactions: ReadonlyArray<Transaction>) => chain.run(...transactions).map(sayOf)

  it("of a stake names the obstacle", () => {
    const chain = new Chain(world)
    const setCommission = (who: Person) => chain.tx(who, { _tag: "SetCommissionTx", commissionPercent: 5 })
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    expect(
      toldBy(
        chain,
        chain.delegate(bob, val, coins(1)),
        chain.stake(bob, coins(2_000)),
        chain.stake(other, coins(2_000)),
        chain.unstake(carol),
        setCommission(carol),
        setCommission(val),
        setCommission(val),
        chain.stake(alice, coins(2_000)),
        chain.unstake(alice),
        chain.stake(alice, coins(2_000)),
        chain.unstake(alice),
        setCommission(alice),
      ),
    ).toEqual([
      "applied",
      "delegates_already: an account that delegates cannot stake: undelegate first",
      "barred: this validator was slashed for equivocation and must leave before it can stake again",
      "not_staking: this account has no stake",
      "not_staking: only a staker has a commission",
      "applied",
      "commission_set_this_epoch: the commission can be set only once an epoch",
      "applied",
      "applied",
      "leaving: the stake is leaving until round 80",
      "leaving: the stake is already leaving, until round 80",
      "leaving: the commission of a leaving stake cannot be set",
    ])
  })

  it("of a delegation names the obstacle", () => {
    const protocol = { roundReward: coins(50_000) }
    const chain = new Chain({ ...world, parameters: { minDelegation: 2 }, protocol })
    expect(
      toldBy(
        chain,
        chain.delegate(carol, val, 1),
        chain.delegate(carol, carol, 2),
        chain.delegate(other, val, 2),
        chain.delegate(carol, nobody, 2),
        chain.undelegate(carol),
        chain.delegate(bob, val, coins(1)),
        chain.delegate(bob, other, 2),
      ),
    ).toEqual([
      "delegation_below_minimum: at least 0.00000002 UDG (2 sats) must be delegated",
      "own_validator: an account cannot delegate to itself",
      "stakes_already: an account with a stake cannot delegate: unstake first",
      `validator_not_active: ${nobody.address} is not an active validator`,
      "not_delegating: this account does not delegate",
      "applied",
      `delegates_elsewhere: this account already delegates to ${val.address}`,
    ])
    // The rewards of an epoch make each share more expensive than two sats.
    chain.closeEpoch()
    expect(
      toldBy(
        chain,
        chain.delegate(carol, val, 2),
        chain.undelegate(bob),
        chain.undelegate(bob),
        chain.delegate(bob, val, 2),
      ),
    ).toEqual([
      "pool_shares: 0.00000002 UDG (2 sats) cannot be converted into shares of the pool (TooSmallForOneShare)",
      "applied",
      "leaving: the delegation is already leaving, until round 120",
      "leaving: a delegation is leaving until round 120",
    ])
  })

  it("of a proposal or a vote names the requirement", () => {
    const chain = new Chain({
      ...world,
      council: ["alice"],
      parameters: { maxActiveProposals: 2, maxActivePerProposer: 1 },
    })
    const propose = (who: Person, payload: ProposalPayload = { _tag: "Text" }) =>
      chain.tx(who, { _tag: "CreateProposalTx", title: "t", description: "", payload }, { fee: 1_000 })
    const change = (param: string, value: number) => propose(alice, { _tag: "ParameterChange", param, value })
    const vote = (who: Person, id: number) =>
      chain.tx(who, { _tag: "VoteTx", proposalId: Natural.proposalId(id), vote: true }, { fee: 1_000 })
    expect(
      toldBy(
        chain,
        propose(bob),
        change("round_reward", 5),
        change("slash_percent", 9),
        change("slash_percent", 101),
        change("cooldown_rounds", 39),
        propose(alice),
        propose(alice),
        propose(val),
        propose(other),
        vote(val, 9),
        vote(alice, 1),
        vote(val, 1),
        vote(val, 1),
      ),
    ).toEqual([
      "a proposal requires a council seat or a stake of at least 2000 UDG (200000000000 sats)",
      "unknown_parameter: round_reward is not a governable parameter",
      "parameter_out_of_bounds: slash_percent must be from 10 to 100, not 9",
      "parameter_out_of_bounds: slash_percent must be from 10 to 100, not 101",
      "parameter_out_of_bounds: cooldown_rounds must be from 40 to 10000000, not 39",
      "applied",
      "an account can have at most 1 active proposal at a time; wait until one is decided",
      "applied",
      "the network can have at most 2 active proposals at a time; wait until one is decided",
      "proposal 9 does not exist",
      "only validators that were active when proposal 1 was made can vote on it",
      "applied",
      "this validator has already voted on proposal 1",
    ])
    chain.advanceTo(12)
    expect(toldBy(chain, vote(other, 1), chain.unstake(val), chain.unstake(other), propose(alice))).toEqual([
      "voting_ended: voting on proposal 1 ended at round 11",
      "applied",
      "applied",
      "no_voters: there is no active validator who could vote",
    ])
  })

  it("of a name, a nonce or a signature says which", () => {
    const chain = new Chain({ ...world, names: { "the-bank": "carol" } })
    const register = (who: Person, name: string) =>
      chain.tx(who, { _tag: "RegisterNameTx", name: name as never }, { fee: 100_000 })
    const keys = [bob.publicKey, carol.publicKey]
    const policy = chain.tx(alice, { _tag: "SetAccountPolicyTx", threshold: 2, keys }, { fee: 1_000, nonce: 0 })
    const unstake = (who: Person, nonce: number, authorization: Authorization) =>
      chain.tx(who, { _tag: "UnstakeTx" }, { nonce, authorization })
    expect(
      toldBy(
        chain,
        register(bob, "the-bank"),
        register(carol, "carol"),
        unstake(bob, 0, singleKey(bob)),
        unstake(bob, 1, signedBy(bob)),
        unstake(bob, 1, singleKey(carol)),
        policy,
        unstake(alice, 1, singleKey(alice)),
        unstake(alice, 1, signedBy(bob, val)),
        unstake(alice, 1, signedBy(carol)),
      ),
    ).toEqual([
      "the name the-bank is taken",
      "has_a_name: this account already has the name @the-bank",
      "nonce 0 is already used; the next one is 1",
      "this account has a single key: send pub_key and signature",
      `from is not the address of pub_key, which is ${carol.address}`,
      "applied",
      "this is a smart account: send signatures of its keys",
      `the key of ${val.address} is not part of the account's policy`,
      "1 signature, but 2 of the account's keys must sign",
    ])
  })
})
