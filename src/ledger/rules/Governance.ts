/** Proposals: who can make them, votes and their weights, decisions and effects. */
import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import * as ProtocolVersion from "../../protocol/epoch/ProtocolVersion.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Words from "../../protocol/numbers/Words.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import type { CreateProposal, Vote } from "../../protocol/transaction/Operation.js"
import type { ProposalFailure } from "../../protocol/transaction/ProposalFailure.js"
import type { ProposalPayload } from "../../protocol/transaction/ProposalPayload.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Row } from "../tables/AccountRows.js"
import type { Proposal } from "../tables/Records.js"
import type { State } from "../tables/State.js"
import type { Event } from "./Execution.js"
import type { Postings } from "./Postings.js"
import * as Rejection from "./Rejection.js"

/** The current bounds for a vote; undefined for an unknown name. Protocol versions cannot be skipped. */
const boundsOf = (state: State, param: string): { readonly min: number; readonly max: number } | undefined => {
  const entry = Parameters.find(param)
  if (entry !== undefined) return { min: Parameters.minimumOf(entry, state.protocol.epochRounds), max: entry.max }
  if (param !== ProtocolVersion.PARAMETER) return undefined
  const next = state.epoch.record.rules.protocolVersion + 1
  return { min: next, max: next }
}

const parameterRejection = (state: State, param: string, value: number): Rejection.Verdict => {
  const bounds = boundsOf(state, param)
  if (bounds === undefined) return Rejection.invalid("unknown_parameter", `${param} is not a governable parameter`)
  const { min, max } = bounds
  if (value >= min && value <= max) return undefined
  return Rejection.invalid("parameter_out_of_bounds", `${param} must be from ${min} to ${max}, not ${value}`)
}

export const proposalRejection = (
  state: State,
  from: Address,
  row: Row | undefined,
  { payload }: CreateProposal,
): Rejection.Verdict => {
  const { minStakeToPropose, maxActiveProposals, maxActivePerProposer } = state.parameters
  const { stake, isCouncilMember } = state.accounts.extras(row)
  if (!isCouncilMember && (stake?.amount ?? 0) < minStakeToPropose) {
    return Rejection.notAllowed(
      `a proposal requires a council seat or a stake of at least ${Words.amount(minStakeToPropose)}`,
    )
  }
  if (payload._tag === "ParameterChange") {
    const rejection = parameterRejection(state, payload.param, payload.value)
    if (rejection !== undefined) return rejection
  }
  if (state.agenda.active >= maxActiveProposals) {
    return { _tag: "TooManyActiveProposals", limit: maxActiveProposals, of: "network" }
  }
  if (state.agenda.activeOf(from) >= maxActivePerProposer) {
    return { _tag: "TooManyActiveProposals", limit: maxActivePerProposer, of: "proposer" }
  }
  // Nobody could vote, and 0 of 0 would pass.
  return state.hasActiveValidator()
    ? undefined
    : Rejection.invalid("no_voters", "there is no active validator who could vote")
}

/** Gives each active validator a ballot with its current effective stake as weight. */
const takeSnapshot = (state: State, id: Natural.ProposalId): Sats.Sats => {
  const voters = state.activeValidators()
  for (const { address, effective } of voters) {
    state.ballots.set(StateKey.ballot(id, address), { weight: effective, vote: null })
  }
  state.voters.set(
    id,
    voters.map(({ row }) => row),
  )
  return Sats.sumBounded(voters.map(({ effective }) => effective))
}

export const applyProposal = (
  state: State,
  { from, id: transaction }: Pick<Transaction, "from" | "id">,
  row: Row,
  operation: CreateProposal,
): Natural.ProposalId => {
  const { head, parameters, round } = state
  const id = head.nextProposalId
  const { title, description, payload } = operation
  const votingEndsAtRound = Natural.round(round + parameters.votingPeriodRounds)
  const bond = Sats.make(parameters.proposalBond)
  state.head = { ...head, nextProposalId: Natural.proposalId(id + 1) }
  state.hold(row, bond)
  const proposal: Proposal = {
    proposer: from,
    transaction,
    texts: { title, description },
    payload,
    bond,
    bondStatus: "held",
    createdAtRound: round,
    votingEndsAtRound,
    executesAtRound: Natural.round(votingEndsAtRound + parameters.executionDelayRounds),
    snapshotTotalStake: takeSnapshot(state, id),
    votesFor: Sats.ZERO,
    votesAgainst: Sats.ZERO,
    status: "Active",
    failure: null,
  }
  state.proposals.set(StateKey.counter(id), proposal)
  state.agenda.add(id, proposal)
  return id
}

export const voteRejection = (state: State, from: Address, { proposalId: id }: Vote): Rejection.Verdict => {
  const proposal = state.proposals.get(StateKey.counter(id))
  if (proposal === undefined) return { _tag: "ProposalNotFound", id }
  if (state.round > proposal.votingEndsAtRound) {
    return Rejection.invalid("voting_ended", `voting on proposal ${id} ended at round ${proposal.votingEndsAtRound}`)
  }
  const ballot = state.ballots.get(StateKey.ballot(id, from))
  if (ballot === undefined) {
    return Rejection.notAllowed(`only validators that were active when proposal ${id} was made can vote on it`)
  }
  return ballot.vote === null ? undefined : { _tag: "AlreadyVoted", id }
}

export const applyVote = (state: State, from: Address, { proposalId: id, vote }: Vote): void => {
  const ballot = state.ballots.get(StateKey.ballot(id, from))
  const proposal = state.proposals.get(StateKey.counter(id))
  if (ballot === undefined || proposal === undefined) return
  state.ballots.set(StateKey.ballot(id, from), { ...ballot, vote })
  state.proposals.set(
    StateKey.counter(id),
    vote
      ? { ...proposal, votesFor: Sats.addBounded(proposal.votesFor, ballot.weight) }
      : { ...proposal, votesAgainst: Sats.addBounded(proposal.votesAgainst, ballot.weight) },
  )
}

/** ⌈amount · percent ÷ 100⌉: the smallest integer that is at least this many percent. */
const percentRoundedUp = (amount: Sats.Sats, percent: number): Sats.Sats =>
  Sats.subtractBounded(amount, Sats.percent(amount, 100 - percent))

const castOn = ({ votesFor, votesAgainst }: Proposal): Sats.Sats => Sats.addBounded(votesFor, votesAgainst)

const hasTurnout = (proposal: Proposal, { quorumPercent }: Parameters.Parameters): boolean =>
  castOn(proposal) >= percentRoundedUp(proposal.snapshotTotalStake, quorumPercent)

/** The protocol version that a proposal names, if any. */
const versionIn = ({ payload }: Pick<Proposal, "payload">): ProtocolVersion.ProtocolVersion | undefined =>
  payload._tag === "ParameterChange" && payload.param === ProtocolVersion.PARAMETER ? payload.value : undefined

/** The protocol version once every passed proposal has taken effect. */
export const decidedVersion = (state: State): ProtocolVersion.ProtocolVersion => {
  let decided = state.upgrade ?? state.epoch.record.rules.protocolVersion
  for (const id of state.agenda.passedIds) {
    const proposal = state.proposals.get(StateKey.counter(id))
    decided = Math.max(decided, (proposal && versionIn(proposal)) ?? decided)
  }
  return decided
}

/**
 * An upgrade also requires a quorum of the stake, since a version that less than a quorum runs would halt the network.
 */
const isApproved = (proposal: Proposal, { approvalPercent }: Parameters.Parameters): boolean =>
  proposal.votesFor >= percentRoundedUp(castOn(proposal), approvalPercent) &&
  (versionIn(proposal) === undefined || EpochRecord.isQuorum(proposal.votesFor, proposal.snapshotTotalStake))

/** Why a proposal could not be carried out; undefined if it was. */
type Obstacle = ProposalFailure | undefined

const changeCouncil = (state: State, action: "add" | "remove", address: Address): Obstacle => {
  const isMember = state.council.has(address)
  if (action === "remove") {
    if (!isMember) return "seat_not_held"
  } else {
    if (isMember) return "seat_held"
    if (state.council.size >= Limits.COUNCIL_SEATS) return "no_free_seat"
  }
  state.update(state.accounts.findOrAdd(address), { isCouncilMember: action === "add" })
  return undefined
}

const spend = (state: State, recipient: Address, amount: Sats.Sats): Obstacle => {
  if (amount > state.supply.treasury) return "treasury_too_small"
  state.supply.decrease("treasury", amount)
  state.creditAddress(recipient, amount)
  return undefined
}

const changeParameter = (state: State, param: string, value: number): Obstacle => {
  const bounds = boundsOf(state, param)
  if (bounds === undefined) return "unknown_parameter"
  if (value < bounds.min || value > bounds.max) return "parameter_out_of_bounds"
  if (param === ProtocolVersion.PARAMETER) state.upgrade = value
  else state.parameters = Parameters.make(({ key, name }) => (name === param ? value : state.parameters[key]))
  return undefined
}

const execute = (state: State, payload: ProposalPayload): Obstacle => {
  switch (payload._tag) {
    case "Text":
      return undefined
    case "ParameterChange":
      return changeParameter(state, payload.param, payload.value)
    case "CouncilMembership":
      return changeCouncil(state, payload.action, payload.address)
    case "TreasurySpend":
      return spend(state, payload.recipient, payload.amount)
  }
}

/**
 * Drops the ballots of non-voters, which no rule reads again. Otherwise one fee would store a hundred of them forever.
 */
const dropUncast = (state: State, id: Natural.ProposalId): void => {
  const hasVoted = (row: Row): boolean => {
    const key = StateKey.ballot(id, state.accounts.addressOf(row))
    if (state.ballots.get(key)?.vote !== null) return true
    state.ballots.delete(key)
    return false
  }
  state.voters.set(id, state.voters.of(id).filter(hasVoted))
}

/** If too few voted, the bond goes to the treasury, because the proposal took up a place for nothing. */
const settleBond = (state: State, { proposer, bond }: Proposal, isReturned: boolean): "returned" | "forfeited" => {
  if (isReturned) state.giveBack(proposer, bond)
  else state.forfeit(bond)
  return isReturned ? "returned" : "forfeited"
}

interface Reports {
  readonly events: Array<Event>
  readonly postings: Postings
}

const decide = (state: State, id: Natural.ProposalId, proposal: Proposal, { events, postings }: Reports): Proposal => {
  const isTurnoutMet = hasTurnout(proposal, state.parameters)
  const status = isTurnoutMet && isApproved(proposal, state.parameters) ? "Passed" : "Rejected"
  const bondStatus = settleBond(state, proposal, isTurnoutMet)
  if (isTurnoutMet) postings.add("bond_returned", proposal.proposer, proposal.bond, id)
  events.push({ _tag: "ProposalDecided", id, status, bond: bondStatus })
  dropUncast(state, id)
  return { ...proposal, status, bondStatus }
}

const carryOut = (
  state: State,
  id: Natural.ProposalId,
  proposal: Proposal,
  { events, postings }: Reports,
): Proposal => {
  const { payload } = proposal
  const failure = execute(state, payload) ?? null
  if (failure === null && payload._tag === "TreasurySpend") {
    postings.add("treasury_payment", payload.recipient, payload.amount, id)
  }
  const status = failure === null ? "Executed" : "Failed"
  events.push({ _tag: "ProposalCarriedOut", id, status, failure })
  return { ...proposal, status, failure }
}

/** A finished proposal loses its texts. They remain in its transaction, whose hash it keeps. */
const isDone = ({ status }: Proposal): boolean => status !== "Active" && status !== "Passed"

/** Decides a due proposal, carries it out, or both, and drops state that is no longer needed. */
const advance = (state: State, id: Natural.ProposalId, reports: Reports): void => {
  const key = StateKey.counter(id)
  const proposal = state.proposals.get(key)
  if (proposal === undefined) return
  if (isDone(proposal)) {
    state.proposals.set(key, { ...proposal, texts: null })
    return
  }
  const decided = proposal.status === "Active" ? decide(state, id, proposal, reports) : proposal
  const isDue = decided.status === "Passed" && state.round >= decided.executesAtRound
  const next = isDue ? carryOut(state, id, decided, reports) : decided
  state.proposals.set(key, next)
  state.agenda.add(id, next)
}

/** At every commit: decides and carries out the proposals that are due, lowest id first. */
export const step = (state: State, reports: Reports): void => {
  for (const id of state.agenda.takeDue(state.round)) advance(state, id, reports)
}
