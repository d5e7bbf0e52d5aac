/** Proposals from their making to what they do. Votes of two validators: val with 6 000 coins, other with 4 000. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as Records from "../../src/ledger/tables/Records.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import { fromRecords } from "../support/Restored.js"
import { Chain, coins, type Person, person, tableKey, told, type World } from "./builders.js"

const [alice, bob, carol, val, other] = [
  person("alice"),
  person("bob"),
  person("carol"),
  person("val"),
  person("other"),
]

const world: World = {
  accounts: { alice: 9_000, bob: 50, val: 10, other: 10 },
  validators: { val: 6_000, other: 4_000 },
  council: ["alice"],
  treasury: 100,
  parameters: { votingPeriodRounds: 10, executionDelayRounds: 5 },
}

const proposing = (chain: Chain, who: Person, payload: ProposalPayload) =>
  chain.tx(who, { _tag: "CreateProposalTx", title: "A title", description: "", payload }, { fee: 1_000 })

const voting = (chain: Chain, who: Person, vote: boolean, id = 1) =>
  chain.tx(who, { _tag: "VoteTx", proposalId: Natural.proposalId(id), vote }, { fee: 1_000 })

/** A proposal made at round 1, these votes at round 2; voting ends at 11, execution is due at 16. */
const voted = (payload: ProposalPayload, votes: ReadonlyArray<readonly [Person, boolean]>, more: World = {}): Chain => {
  const chain = new Chain({ ...world, ...more })
  chain.run(proposing(chain, alice, payload))
  chain.run(...votes.map(([who, vote]) => voting(chain, who, vote)))
  return chain
}

const proposal = (chain: Chain, id = 1) => chain.ledger.read.proposal(Natural.proposalId(id))

describe("making a proposal", () => {
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

  it("takes a council seat or the stake", () => {
    const chain = new Chain(world)
    expect(
      chain.run(proposing(chain, bob, { _tag: "Text" }), proposing(chain, val, { _tag: "Text" })).map(told),
    ).toEqual(["failed: NotAllowed", "applied"])
  })

  it("takes no more than the stake: one that is leaving or barred is at risk like any other", () => {
    const chain = new Chain(world)
    chain.run(chain.unstake(other))
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    // Half of 4 000 coins are left: exactly what a proposal takes.
    expect(chain.account(other).stake).toMatchObject({ amount: coins(2_000), leaving: { epoch: 1 } })
    expect(chain.run(proposing(chain, other, { _tag: "Text" })).map(told)).toEqual(["applied"])
  })

  it("takes a parameter that exists and a value within its bounds", () => {
    const chain = new Chain(world)
    const change = (param: string, value: number) => proposing(chain, alice, { _tag: "ParameterChange", param, value })
    const outcomes = chain.run(
      change("round_reward", 5),
      change("slash_percent", 9),
      change("slash_percent", 101),
      change("cooldown_rounds", 39),
      change("cooldown_rounds", 40),
    )
    expect(outcomes.map(told)).toEqual([
      "failed: unknown_parameter",
      "failed: parameter_out_of_bounds",
      "failed: parameter_out_of_bounds",
      "failed: parameter_out_of_bounds",
      "applied",
    ])
  })

  it("stops at twenty active ones, and goes on once some are decided", () => {
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

  it("frees its place once, when it is decided: not again when it is carried out", () => {
    const chain = new Chain({ ...world, parameters: { ...world.parameters, maxActiveProposals: 1 } })
    chain.run(proposing(chain, alice, { _tag: "Text" }), voting(chain, val, true))
    chain.advanceTo(12)
    expect(chain.run(proposing(chain, alice, { _tag: "Text" })).map(told)).toEqual(["applied"])
    chain.advanceTo(16)
    expect(proposal(chain)?.status).toBe("Executed")
    expect(chain.run(proposing(chain, val, { _tag: "Text" })).map(told)).toEqual(["failed: TooManyActiveProposals"])
  })

  it("comes before a later one in a commit to which both are due, whichever was due first", () => {
    const chain = voted({ _tag: "Text" }, [[val, true]])
    chain.run(proposing(chain, alice, { _tag: "Text" }))
    chain.run(voting(chain, val, true, 2))
    chain.advanceTo(12)
    // The second one was to be decided in round 14, the first one to be carried out in round 16.
    expect(chain.advanceTo(30).events).toEqual([
      { _tag: "ProposalCarriedOut", id: 1, status: "Executed", failure: null },
      { _tag: "ProposalDecided", id: 2, status: "Passed", bond: "returned" },
      { _tag: "ProposalCarriedOut", id: 2, status: "Executed", failure: null },
    ])
  })

  it("leaves no more to look at in a commit than what is due, however many wait to be carried out", () => {
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

  it("to change a parameter takes a free place and somebody who votes, like any other", () => {
    const change = { _tag: "ParameterChange", param: "slash_percent", value: 77 } as const
    const few = new Chain({
      ...world,
      parameters: { ...world.parameters, maxActiveProposals: 2, maxActivePerProposer: 1 },
    })
    expect(
      few
        .run(
          proposing(few, alice, change),
          proposing(few, alice, change),
          proposing(few, val, change),
          proposing(few, other, change),
        )
        .map(told),
    ).toEqual(["applied", "failed: TooManyActiveProposals", "applied", "failed: TooManyActiveProposals"])
    const nobody = new Chain(world)
    nobody.run(nobody.unstake(val), nobody.unstake(other))
    expect(nobody.run(proposing(nobody, alice, change)).map(told)).toEqual(["failed: no_voters"])
  })

  it("is impossible while nobody could vote: 0 of 0 would pass", () => {
    const chain = new Chain(world)
    chain.run(chain.unstake(val), chain.unstake(other))
    expect(chain.run(proposing(chain, alice, { _tag: "Text" })).map(told)).toEqual(["failed: no_voters"])
  })
})

/** A bond of 10 coins; rewards of nothing, so that every sat can be told. */
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

  it("comes back with a quorum, whatever was decided, also to an account that has spent all else", () => {
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

  it("comes back once: with the decision, not again when the proposal is carried out", () => {
    const chain = made()
    chain.run(voting(chain, val, true))
    chain.advanceTo(12)
    expect(figures(chain).alice).toBe(before.alice - 1_000)
    expect(chain.advanceTo(16).events).toEqual([
      { _tag: "ProposalCarriedOut", id: 1, status: "Executed", failure: null },
    ])
    expect(figures(chain)).toEqual({ ...before, alice: before.alice - 1_000 })
  })

  it("goes to the treasury without one, exactly below the quorum", () => {
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

  it("must be there besides the fee and what is pending, at the door and when it is executed", () => {
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

  it("is the one of the proposal's making when a vote changes it", () => {
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

describe("a proposer who wants every place for nothing", () => {
  it("gets so many places and leaves the others, and pays for each that nobody votes on", () => {
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

  it("leaves texts for a week, then a record of some bytes, whatever became of the proposal", () => {
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
    // The next epoch begins behind the commit that closed this one, however late that came.
    chain.advanceTo(executesAtRound)
    chain.advanceTo(end - 1)
    expect(Math.min(...sizes())).toBeGreaterThan(4_224)
    expect(chain.ledger.read.proposals(9).map(({ status }) => status)).toEqual(["Rejected", "Failed", "Executed"])
    chain.advanceTo(end)
    expect(Math.max(...sizes())).toBeLessThan(256)
    expect(chain.ledger.read.proposals(9).map(({ texts, transaction }) => [texts, transaction])).toEqual(
      [rejected, failed, executed].map(({ id }) => [null, id]),
    )
    // They are no business of a node that starts again: what is proposed now is decided as ever.
    const restored = fromRecords(chain.genesis.protocol, tableKey, chain.ledger.records(), chain.ledger.effectsDigest)
    const again = new Chain(chain.genesis, Either.getOrThrow(restored))
    again.run(proposing(again, alice, { _tag: "Text" }))
    expect(again.advanceTo(again.round + 11).events).toMatchObject([{ _tag: "ProposalDecided", id: 4 }])
  })
})

describe("a vote", () => {
  it("counts with the weight of the snapshot, once, for validators of the snapshot", () => {
    const chain = voted({ _tag: "Text" }, [[val, true]])
    chain.run(chain.stake(alice, coins(3_000)))
    const outcomes = chain.run(voting(chain, val, false), voting(chain, alice, true), voting(chain, other, false))
    expect(outcomes.map(told)).toEqual(["failed: AlreadyVoted", "failed: NotAllowed", "applied"])
    expect(proposal(chain)).toMatchObject({ votesFor: coins(6_000), votesAgainst: coins(4_000) })
    expect(chain.ledger.read.ballot(Natural.proposalId(1), other.address)).toEqual({
      weight: coins(4_000),
      vote: false,
    })
  })

  it("counts up to the last round of the voting, not after", () => {
    const chain = voted({ _tag: "Text" }, [])
    chain.advanceTo(10)
    expect(chain.run(voting(chain, val, true)).map(told)).toEqual(["applied"])
    expect(chain.run(voting(chain, other, true)).map(told)).toEqual(["failed: voting_ended"])
    expect(chain.run(voting(chain, other, true, 9)).map(told)).toEqual(["failed: ProposalNotFound"])
  })

  it("leaves a record for good only where it was cast", () => {
    const chain = voted({ _tag: "Text" }, [[val, true]])
    const ballots = () => [...chain.ledger.records()].filter(({ kind }) => kind === "Ballot").length
    const id = Natural.proposalId(1)
    chain.advanceTo(11)
    expect([ballots(), chain.ledger.read.voters(id).length]).toEqual([2, 2])
    chain.advanceTo(12)
    expect(ballots()).toBe(1)
    expect(chain.ledger.read.voters(id)).toEqual([{ address: val.address, weight: coins(6_000), vote: true }])
    expect(chain.ledger.read.ballot(id, other.address)).toBeUndefined()
    expect(chain.run(voting(chain, other, true)).map(told)).toEqual(["failed: voting_ended"])
    expect(proposal(chain)).toMatchObject({ votesFor: coins(6_000), snapshotTotalStake: coins(10_000) })
  })

  it("and its proposal are kept whole with the longest texts and reason", () => {
    const chain = new Chain(world)
    const title = "t".repeat(Limits.TITLE_BYTES)
    const description = "ä".repeat(Limits.DESCRIPTION_BYTES / 2)
    const payload = { _tag: "ParameterChange", param: "approval_percent", value: 99 } as const
    chain.run(
      chain.tx(val, { _tag: "CreateProposalTx", title, description, payload }, { fee: 1_000 }),
      voting(chain, val, true),
    )
    expect(proposal(chain)).toMatchObject({ texts: { title, description }, payload, votesFor: coins(6_000) })
  })
})

describe("a decision", () => {
  const statusAt = (chain: Chain, round: number) => {
    chain.advanceTo(round)
    return proposal(chain)?.status
  }

  it("passes with quorum and approval, and is carried out after the delay", () => {
    const chain = voted({ _tag: "ParameterChange", param: "slash_percent", value: 77 }, [[val, true]])
    expect([statusAt(chain, 11), statusAt(chain, 12), statusAt(chain, 15)]).toEqual(["Active", "Passed", "Passed"])
    const before = chain.ledger.read.parameters
    expect(before.slashPercent).toBe(50)
    expect(statusAt(chain, 16)).toBe("Executed")
    expect(chain.ledger.read.parameters).toEqual({ ...before, slashPercent: 77 })
  })

  it("is rejected below the approval and below the quorum", () => {
    // 60 % of the votes cast are not 66 %; nobody at all is not 10 %.
    for (const votes of [
      [
        [val, true],
        [other, false],
      ] as const,
      [],
    ]) {
      expect(statusAt(voted({ _tag: "Text" }, votes), 12)).toBe("Rejected")
    }
  })

  it("is exact at the bounds", () => {
    const at = (quorumPercent: number, approvalPercent: number) =>
      voted(
        { _tag: "Text" },
        [
          [val, true],
          [other, false],
        ],
        { parameters: { ...world.parameters, quorumPercent, approvalPercent } },
      )
    expect([statusAt(at(100, 60), 12), statusAt(at(100, 61), 12)]).toEqual(["Passed", "Rejected"])
    const one = (quorumPercent: number) =>
      voted({ _tag: "Text" }, [[other, true]], { parameters: { ...world.parameters, quorumPercent } })
    expect([statusAt(one(40), 12), statusAt(one(41), 12)]).toEqual(["Passed", "Rejected"])
  })

  it("happens with the execution in one commit when no delay is set", () => {
    const chain = voted({ _tag: "Text" }, [[val, true]], {
      parameters: { ...world.parameters, executionDelayRounds: 0 },
    })
    expect(chain.advanceTo(12).events).toEqual([
      { _tag: "ProposalDecided", id: 1, status: "Passed", bond: "returned" },
      { _tag: "ProposalCarriedOut", id: 1, status: "Executed", failure: null },
    ])
  })

  it("to reject is the end of a proposal, also where no delay is set", () => {
    const chain = voted({ _tag: "TreasurySpend", recipient: carol.address, amount: coins(1) }, [[val, false]], {
      parameters: { ...world.parameters, executionDelayRounds: 0 },
    })
    expect(chain.advanceTo(12).events).toEqual([
      { _tag: "ProposalDecided", id: 1, status: "Rejected", bond: "returned" },
    ])
    expect([proposal(chain)?.status, chain.balance(carol)]).toEqual(["Rejected", 0])
  })

  it("freezes what vertices and rewards read until the next epoch", () => {
    const chain = voted({ _tag: "ParameterChange", param: "treasury_percent", value: 50 }, [[val, true]])
    statusAt(chain, 12)
    statusAt(chain, 16)
    expect([chain.ledger.read.parameters.treasuryPercent, chain.epoch.rules.treasuryPercent]).toEqual([50, 10])
    chain.closeEpoch()
    expect(chain.epoch.rules.treasuryPercent).toBe(50)
  })
})

describe("what a proposal does", () => {
  const carriedOut = (payload: ProposalPayload, more: World = {}) => {
    const chain = voted(payload, [[val, true]], more)
    chain.advanceTo(12)
    chain.advanceTo(16)
    return chain
  }

  it("pays from the treasury what is there", () => {
    const spend = (amount: number) =>
      ({ _tag: "TreasurySpend", recipient: carol.address, amount: coins(amount) }) as const
    const quiet = { protocol: { roundReward: Sats.ZERO } }
    const paid = carriedOut(spend(60), quiet)
    expect([paid.balance(carol), paid.ledger.read.totals.treasury]).toEqual([coins(60), coins(40)])
    const failed = carriedOut(spend(101), quiet)
    expect(proposal(failed)).toMatchObject({ status: "Failed", failure: "treasury_too_small" })
    expect([failed.balance(carol), failed.ledger.read.totals.treasury]).toEqual([0, coins(100)])
  })

  it("pays the treasury to its last sat", () => {
    const everything = { _tag: "TreasurySpend", recipient: carol.address, amount: coins(100) } as const
    const chain = carriedOut(everything, { protocol: { roundReward: Sats.ZERO } })
    expect(proposal(chain)).toMatchObject({ status: "Executed", failure: null })
    expect([chain.balance(carol), chain.ledger.read.totals.treasury]).toEqual([coins(100), 0])
  })

  it("changes no parameter that a newer version has dropped since, or whose bounds it has narrowed", () => {
    const failureOf = (param: string, value: number) => {
      const made = voted({ _tag: "ParameterChange", param: "slash_percent", value: 77 }, [[val, true]])
      const records = [...made.ledger.records()].map((record) => {
        if (record.kind !== "Proposal") return record
        const before = Either.getOrThrow(Records.decode(Records.proposal, record.value))
        const payload = { _tag: "ParameterChange", param, value } as const
        return { ...record, value: Binary.encode((writer) => Records.proposal.write(writer, { ...before, payload })) }
      })
      const restored = fromRecords(made.genesis.protocol, tableKey, records, made.ledger.effectsDigest)
      const chain = new Chain(made.genesis, Either.getOrThrow(restored))
      const before = chain.ledger.read.parameters
      chain.advanceTo(12)
      chain.advanceTo(16)
      expect(chain.ledger.read.parameters).toEqual(before)
      return proposal(chain)?.failure
    }
    expect(failureOf("slash_percent", 101)).toBe("parameter_out_of_bounds")
    expect(failureOf("slash_percents", 77)).toBe("unknown_parameter")
  })

  it("seats and unseats the council", () => {
    const seat = (action: "add" | "remove", who: Person) =>
      carriedOut({ _tag: "CouncilMembership", action, address: who.address })
    expect(seat("add", carol).ledger.read.council()).toEqual([alice.address, carol.address].sort())
    expect(seat("remove", alice).ledger.read.council()).toEqual([])
    expect(proposal(seat("add", alice))?.failure).toBe("seat_held")
    expect(proposal(seat("remove", carol))?.failure).toBe("seat_not_held")
  })

  it("cannot seat a twenty-second member", () => {
    const council = ["alice", ...Array.from({ length: 20 }, (_, i) => `member ${i}`)]
    const chain = carriedOut({ _tag: "CouncilMembership", action: "add", address: carol.address }, { council })
    expect(proposal(chain)).toMatchObject({ status: "Failed", failure: "no_free_seat" })
  })
})
