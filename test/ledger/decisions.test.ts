/** Votes, their decisions, and the execution of proposals. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as Records from "../../src/ledger/tables/Records.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import { fromRecords } from "../support/Restored.js"
import { Chain, coins, type Person, tableKey, told, type World } from "./builders.js"
import { alice, carol, other, val } from "./People.js"
import { proposal, voted, voting, world } from "./Proposals.js"

describe("a vote", () => {
  it("counts once with the snapshot's weight, for validators of the snapshot", () => {
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

  it("counts up to the last round of voting, not after", () => {
    const chain = voted({ _tag: "Text" }, [])
    chain.advanceTo(10)
    expect(chain.run(voting(chain, val, true)).map(told)).toEqual(["applied"])
    expect(chain.run(voting(chain, other, true)).map(told)).toEqual(["failed: voting_ended"])
    expect(chain.run(voting(chain, other, true, 9)).map(told)).toEqual(["failed: ProposalNotFound"])
  })

  it("leaves a permanent record only if it was cast", () => {
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

  it("passes with turnout and approval, and is executed after the delay", () => {
    const chain = voted({ _tag: "ParameterChange", param: "slash_percent", value: 77 }, [[val, true]])
    expect([statusAt(chain, 11), statusAt(chain, 12), statusAt(chain, 15)]).toEqual(["Active", "Passed", "Passed"])
    const before = chain.ledger.read.parameters
    expect(before.slashPercent).toBe(50)
    expect(statusAt(chain, 16)).toBe("Executed")
    expect(chain.ledger.read.parameters).toEqual({ ...before, slashPercent: 77 })
  })

  it("is a rejection below the approval and below the turnout", () => {
    // 60 % of the votes cast are less than 66 %; no votes at all are less than 10 %.
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

  it("and its execution happen in one commit without a delay", () => {
    const chain = voted({ _tag: "Text" }, [[val, true]], {
      parameters: { ...world.parameters, executionDelayRounds: 0 },
    })
    expect(chain.advanceTo(12).events).toEqual([
      { _tag: "ProposalDecided", id: 1, status: "Passed", bond: "returned" },
      { _tag: "ProposalCarriedOut", id: 1, status: "Executed", failure: null },
    ])
  })

  it("to reject ends a proposal, also without a delay", () => {
    const chain = voted({ _tag: "TreasurySpend", recipient: carol.address, amount: coins(1) }, [[val, false]], {
      parameters: { ...world.parameters, executionDelayRounds: 0 },
    })
    expect(chain.advanceTo(12).events).toEqual([
      { _tag: "ProposalDecided", id: 1, status: "Rejected", bond: "returned" },
    ])
    expect([proposal(chain)?.status, chain.balance(carol)]).toEqual(["Rejected", 0])
  })

  it("leaves parameters for vertices and rewards unchanged until the next epoch", () => {
    const chain = voted({ _tag: "ParameterChange", param: "treasury_percent", value: 50 }, [[val, true]])
    statusAt(chain, 12)
    statusAt(chain, 16)
    expect([chain.ledger.read.parameters.treasuryPercent, chain.epoch.rules.treasuryPercent]).toEqual([50, 10])
    chain.closeEpoch()
    expect(chain.epoch.rules.treasuryPercent).toBe(50)
  })
})

describe("the execution of a proposal", () => {
  const carriedOut = (payload: ProposalPayload, more: World = {}) => {
    const chain = voted(payload, [[val, true]], more)
    chain.advanceTo(12)
    chain.advanceTo(16)
    return chain
  }

  it("pays from the treasury at most its balance", () => {
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

  it("changes no parameter that a newer version has dropped or narrowed since", () => {
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
