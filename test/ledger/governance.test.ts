/** Proposals from creation to execution. Votes of two validators: val with 6 000 coins, other with 4 000. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { fromRecords } from "../support/Restored.js"
import { Chain, coins, tableKey, told, type World } from "./builders.js"
import { expectOutcomes } from "./Outcomes.js"
import { alice, bob, carol, other, val } from "./People.js"
import { proposal, proposing, voted, voting, world } from "./Proposals.js"

describe("creating a proposal", () => {
  it("takes a snapshot of effective stakes with working pools only", () => {
    const chain = new Chain(world)
    chain.run(chain.delegate(bob, val, coins(7)))
    const pool = chain.ledger.read.delegation(bob.address)?.amount ?? 0
    const outcomes = chain.run(proposing(chain, alice, { _tag: "Text" }))
    expect(outcomes).toEqual([{ _tag: "Applied", fee: 1_000, toTreasury: 0, taken: 1_000_000, proposalId: 1 }])
    expect(proposal(chain)).toMatchObject({
      id: 1,
      status: "Active",
      createdAtRound: 2,
      votingEndsAtRound: 12,
      executesAtRound: 17,
      snapshotTotalStake: coins(10_000) + pool,
    })
    expect(chain.ledger.read.voters(Natural.proposalId(1)).map(({ weight }) => weight)).toEqual(
      [val, other]
        .sort((a, b) => (a.address < b.address ? -1 : 1))
        .map((who) => (who === val ? coins(6_000) + pool : coins(4_000))),
    )
  })

  it("requires a council seat or the stake", () => {
    const chain = new Chain(world)
    expect(
      chain.run(proposing(chain, bob, { _tag: "Text" }), proposing(chain, val, { _tag: "Text" })).map(told),
    ).toEqual(["failed: NotAllowed", "applied"])
  })

  it("requires no more than the stake, since a leaving or barred stake is at risk too", () => {
    const chain = new Chain(world)
    chain.run(chain.unstake(other))
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    // Half of 4 000 coins are left: exactly what a proposal requires.
    expect(chain.account(other).stake).toMatchObject({ amount: coins(2_000), leaving: { epoch: 1 } })
    expect(chain.run(proposing(chain, other, { _tag: "Text" })).map(told)).toEqual(["applied"])
  })

  it("requires an existing parameter and a value within its bounds", () => {
    const chain = new Chain(world)
    const change = (param: string, value: number) => proposing(chain, alice, { _tag: "ParameterChange", param, value })
    expectOutcomes(chain, [
      [change("round_reward", 5), "failed: unknown_parameter"],
      [change("slash_percent", 9), "failed: parameter_out_of_bounds"],
      [change("slash_percent", 101), "failed: parameter_out_of_bounds"],
      [change("cooldown_rounds", 39), "failed: parameter_out_of_bounds"],
      [change("cooldown_rounds", 40), "applied"],
    ])
  })

  it("is limited to twenty active ones, and possible again once some are decided", () => {
    const chain = new Chain(world)
    const many = (count: number) => Array.from({ length: count }, () => proposing(chain, alice, { _tag: "Text" }))
    expect(chain.run(...many(21)).map(told)).toEqual([
      ...Array.from({ length: 20 }, () => "applied"),
      "failed: TooManyActiveProposals",
    ])
    chain.advanceTo(12)
    expect(chain.run(...many(1)).map(told)).toEqual(["applied"])
    expect(chain.ledger.read.proposals(3).map(({ id }) => id)).toEqual([21, 20, 19])
  })

  it("frees a place once, at the decision, and not again at execution", () => {
    const chain = new Chain({ ...world, parameters: { ...world.parameters, maxActiveProposals: 1 } })
    chain.run(proposing(chain, alice, { _tag: "Text" }), voting(chain, val, true))
    chain.advanceTo(12)
    expect(chain.run(proposing(chain, alice, { _tag: "Text" })).map(told)).toEqual(["applied"])
    chain.advanceTo(16)
    expect(proposal(chain)?.status).toBe("Executed")
    expect(chain.run(proposing(chain, val, { _tag: "Text" })).map(told)).toEqual(["failed: TooManyActiveProposals"])
  })

  it("comes first by id when two are due in one commit, whichever was due first", () => {
    const chain = voted({ _tag: "Text" }, [[val, true]])
    chain.run(proposing(chain, alice, { _tag: "Text" }))
    chain.run(voting(chain, val, true, 2))
    chain.advanceTo(12)
    // The second one was to be decided in round 14, the first one to be executed in round 16.
    expect(chain.advanceTo(30).events).toEqual([
      { _tag: "ProposalCarriedOut", id: 1, status: "Executed", failure: null },
      { _tag: "ProposalDecided", id: 2, status: "Passed", bond: "returned" },
      { _tag: "ProposalCarriedOut", id: 2, status: "Executed", failure: null },
    ])
  })

  it("costs a commit only due proposals, even if many wait for execution", () => {
    const chain = new Chain({ ...world, parameters: { ...world.parameters, executionDelayRounds: 200 } })
    const waiting = [1, 2, 3].flatMap((id) => {
      chain.run(proposing(chain, alice, { _tag: "Text" }))
      chain.run(voting(chain, val, true, id))
      return chain.advanceTo(chain.round + 12).events
    })
    expect(waiting.map(({ _tag }) => _tag)).toEqual(["ProposalDecided", "ProposalDecided", "ProposalDecided"])
    expect(chain.ledger.read.proposals(9).map(({ status }) => status)).toEqual(["Passed", "Passed", "Passed"])
    while (chain.round < 200) chain.closeEpoch()
    const carriedOut: Array<readonly [number, number]> = []
    for (const round of [210, 211, 224, 225, 238, 239]) {
      for (const event of chain.advanceTo(round).events) {
        if (event._tag === "ProposalCarriedOut") carriedOut.push([round, event.id])
      }
    }
    expect(carriedOut).toEqual([
      [211, 1],
      [225, 2],
      [239, 3],
    ])
  })

  it("to change a parameter takes a free place and a voter, like any other", () => {
    const change = { _tag: "ParameterChange", param: "slash_percent", value: 77 } as const
    const few = new Chain({
      ...world,
      parameters: { ...world.parameters, maxActiveProposals: 2, maxActivePerProposer: 1 },
    })
    expectOutcomes(few, [
      [proposing(few, alice, change), "applied"],
      [proposing(few, alice, change), "failed: TooManyActiveProposals"],
      [proposing(few, val, change), "applied"],
      [proposing(few, other, change), "failed: TooManyActiveProposals"],
    ])
    const nobody = new Chain(world)
    nobody.run(nobody.unstake(val), nobody.unstake(other))
    expect(nobody.run(proposing(nobody, alice, change)).map(told)).toEqual(["failed: no_voters"])
  })

  it("is impossible without a possible voter: 0 of 0 would pass", () => {
    const chain = new Chain(world)
    chain.run(chain.unstake(val), chain.unstake(other))
    expect(chain.run(proposing(chain, alice, { _tag: "Text" })).map(told)).toEqual(["failed: no_voters"])
  })
})

/** A bond of 10 coins and no rewards, so that every sat is accounted for. */
const bonded: World = {
  ...world,
  parameters: { ...world.parameters, proposalBond: coins(10) },
  protocol: { roundReward: Sats.ZERO },
}

describe("the bond of a proposal", () => {
  const made = (): Chain => {
    const chain = new Chain(bonded)
    chain.runBy(other, proposing(chain, alice, { _tag: "Text" }))
    return chain
  }
  const figures = ({ ledger }: Chain) => {
    const { liquid, treasury, total } = ledger.read.totals
    Either.getOrThrowWith(ledger.recount(), (violation) => violation)
    return { alice: ledger.read.account(alice.address).balance, liquid, treasury, total }
  }
  const before = figures(new Chain(bonded))

  it("leaves the balance and stays liquid while votes are cast", () => {
    const chain = made()
    expect(figures(chain)).toEqual({ ...before, alice: before.alice - 1_000 - coins(10) })
    expect(proposal(chain)).toMatchObject({ bond: coins(10), bondStatus: "held" })
  })

  it("returns with enough turnout after any decision, even to an account that has spent all else", () => {
    for (const vote of [true, false]) {
      const chain = made()
      chain.run(voting(chain, val, vote))
      const rest = chain.balance(alice) - 1_000
      chain.run(chain.transfer(alice, bob, rest))
      expect(chain.balance(alice)).toBe(0)
      chain.advanceTo(12)
      expect(figures(chain)).toEqual({ ...before, alice: coins(10) })
      expect(proposal(chain)).toMatchObject({ status: vote ? "Passed" : "Rejected", bondStatus: "returned" })
    }
  })

  it("returns once, with the decision, and not again at execution", () => {
    const chain = made()
    chain.run(voting(chain, val, true))
    chain.advanceTo(12)
    expect(figures(chain).alice).toBe(before.alice - 1_000)
    expect(chain.advanceTo(16).events).toEqual([
      { _tag: "ProposalCarriedOut", id: 1, status: "Executed", failure: null },
    ])
    expect(figures(chain)).toEqual({ ...before, alice: before.alice - 1_000 })
  })

  it("goes to the treasury without enough turnout, exactly below it", () => {
    const withQuorum = (quorumPercent: number): Chain => {
      const chain = new Chain({ ...bonded, parameters: { ...bonded.parameters, quorumPercent } })
      chain.runBy(other, proposing(chain, alice, { _tag: "Text" }), voting(chain, other, true))
      chain.advanceTo(12)
      return chain
    }
    // 4 000 of 10 000 coins were cast.
    expect(proposal(withQuorum(40))?.bondStatus).toBe("returned")
    const forfeited = withQuorum(41)
    expect(proposal(forfeited)).toMatchObject({ status: "Rejected", bondStatus: "forfeited" })
    expect(figures(forfeited)).toEqual({
      alice: before.alice - 1_000 - coins(10),
      liquid: before.liquid - coins(10),
      treasury: before.treasury + coins(10),
      total: before.total,
    })
  })

  it("must be there besides the fee and pending amounts, at admission and at execution", () => {
    const chain = new Chain({ ...bonded, council: ["bob"], accounts: { ...bonded.accounts, bob: 15 } })
    const propose = proposing(chain, bob, { _tag: "Text" })
    const admission = (reserved: number) => chain.ledger.admission(propose, reserved)?._tag
    expect(chain.ledger.spending(propose)).toBe(coins(10) + 1_000)
    expect([admission(0), admission(coins(5) - 1_000), admission(coins(5) - 999)]).toEqual([
      undefined,
      undefined,
      "InsufficientBalance",
    ])
    expect(chain.run(propose, proposing(chain, bob, { _tag: "Text" })).map(told)).toEqual([
      "applied",
      "failed: InsufficientBalance",
    ])
    expect(chain.ledger.read.proposals(9)).toHaveLength(1)
  })

  it("is the one at creation when a vote changes it", () => {
    const chain = made()
    chain.run(
      proposing(chain, alice, { _tag: "ParameterChange", param: "proposal_bond_sats", value: 5 }),
      voting(chain, val, true, 1),
    )
    chain.run(voting(chain, val, true, 2))
    chain.advanceTo(18)
    chain.run(proposing(chain, alice, { _tag: "Text" }))
    expect(chain.ledger.read.proposals(9).map(({ bond, bondStatus }) => [bond, bondStatus])).toEqual([
      [5, "held"],
      [coins(10), "returned"],
      [coins(10), "returned"],
    ])
    expect(chain.balance(alice)).toBe(before.alice - 3 * 1_000 - 5)
  })
})

describe("a proposer who wants every place for free", () => {
  it("gets a limited number of places, and pays for each without votes", () => {
    const chain = new Chain({ ...bonded, parameters: { ...bonded.parameters, maxActivePerProposer: 3 } })
    const many = Array.from({ length: 5 }, () => proposing(chain, alice, { _tag: "Text" }))
    expect(chain.run(...many, proposing(chain, val, { _tag: "Text" })).map(told)).toEqual([
      ...["applied", "applied", "applied", "failed: TooManyActiveProposals", "failed: TooManyActiveProposals"],
      "applied",
    ])
    expect(chain.ledger.admission(proposing(chain, alice, { _tag: "Text" }), 0)).toEqual({
      _tag: "TooManyActiveProposals",
      limit: 3,
      of: "proposer",
    })
    chain.advanceTo(12)
    expect(chain.ledger.read.totals.treasury).toBe(coins(100 + 4 * 10))
    expect(chain.run(proposing(chain, alice, { _tag: "Text" })).map(told)).toEqual(["applied"])
  })

  it("leaves texts for a week, then a record of a few bytes, after any decision", () => {
    const chain = new Chain(bonded)
    const description = "d".repeat(Limits.DESCRIPTION_BYTES)
    const title = "t".repeat(Limits.TITLE_BYTES)
    const payload = { _tag: "TreasurySpend", recipient: carol.address, amount: coins(101) } as const
    const [executed, failed, rejected] = [{ _tag: "Text" } as const, payload, { _tag: "Text" } as const].map(
      (payload) => chain.tx(alice, { _tag: "CreateProposalTx", title, description, payload }, { fee: 1_000 }),
    )
    if (!executed || !failed || !rejected) throw new Error("three proposals")
    chain.run(executed, failed, rejected)
    chain.run(voting(chain, val, true, 1), voting(chain, val, true, 2))
    const { executesAtRound } = proposal(chain) ?? { executesAtRound: 0 }
    const end = executesAtRound + Limits.PROPOSAL_TEXTS_ROUNDS
    const sizes = () =>
      [...chain.ledger.records()].filter(({ kind }) => kind === "Proposal").map(({ value }) => value.length)
    // The next epoch begins after the commit that closed this one, however late that came.
    chain.advanceTo(executesAtRound)
    chain.advanceTo(end - 1)
    expect(Math.min(...sizes())).toBeGreaterThan(4_224)
    expect(chain.ledger.read.proposals(9).map(({ status }) => status)).toEqual(["Rejected", "Failed", "Executed"])
    chain.advanceTo(end)
    expect(Math.max(...sizes())).toBeLessThan(256)
    expect(chain.ledger.read.proposals(9).map(({ texts, transaction }) => [texts, transaction])).toEqual(
      [rejected, failed, executed].map(({ id }) => [null, id]),
    )
    // They do not affect a restarted node: new proposals are decided as usual.
    const restored = fromRecords(chain.genesis.protocol, tableKey, chain.ledger.records(), chain.ledger.effectsDigest)
    const again = new Chain(chain.genesis, Either.getOrThrow(restored))
    again.run(proposing(again, alice, { _tag: "Text" }))
    expect(again.advanceTo(again.round + 11).events).toMatchObject([{ _tag: "ProposalDecided", id: 4 }])
  })
})
