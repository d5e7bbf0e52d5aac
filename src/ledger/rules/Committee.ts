/**
 * The members of the next epoch and their weights. The weight added at the last two closes (newcomers and growth
 * together) is at most a third of the weight before, so the network finalizes even if all of it fails at once.
 */

import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import * as Address from "../../protocol/identity/Address.js"
import type { PublicKey } from "../../protocol/identity/Keys.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type { State } from "../tables/State.js"
import * as Heartbeats from "./Heartbeats.js"

const MAX_NEWCOMERS = 25

export interface Candidate {
  /** Its account. */
  readonly address: Address.Address
  /** The key with which it signs in the next epoch. */
  readonly publicKey: PublicKey
  /** Its weight without the bound. Also decides which candidates get a seat. */
  readonly stake: Sats.Sats
  /** The part of its old weight that a staying member keeps; 0 for a newcomer. */
  readonly carried: Sats.Sats
  /** The part of `carried` that is older than the running epoch. */
  readonly established: Sats.Sats
}

const isNewcomer = ({ carried }: Candidate): boolean => carried === 0

const bySize = (a: Candidate, b: Candidate): number => b.stake - a.stake || (a.address < b.address ? -1 : 1)

/** The largest first, with at most 25 newcomers; more only if seats are left. */
export const seated = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => {
  const seats: Array<Candidate> = []
  const waiting: Array<Candidate> = []
  let newcomers = 0
  for (const candidate of [...candidates].sort(bySize)) {
    if (seats.length === Limits.COMMITTEE_MEMBERS) break
    if (isNewcomer(candidate) && newcomers === MAX_NEWCOMERS) waiting.push(candidate)
    else {
      seats.push(candidate)
      if (isNewcomer(candidate)) newcomers++
    }
  }
  return [...seats, ...waiting.slice(0, Limits.COMMITTEE_MEMBERS - seats.length)]
}

const additionOf = ({ stake, carried }: Candidate): Sats.Sats => Sats.subtractBounded(stake, carried)

/**
 * How much weight can be added. Weight added at the previous close has been tested for less than an epoch, and may fail
 * together with the new weight if their machines share a site, so both share the third.
 */
const allowedTo = (seats: ReadonlyArray<Candidate>): Sats.Sats => {
  const staying = Sats.sumBounded(seats.map(({ carried }) => carried))
  const established = Sats.sumBounded(seats.map((candidate) => candidate.established))
  const third = Sats.partBounded(established, 1, 3)
  const young = Sats.min(third, Sats.subtractBounded(staying, established))
  // Old members that count as staying may carry weight whose money has moved elsewhere, even to a newcomer.
  return Sats.min(Sats.subtractBounded(third, young), Sats.subtractBounded(Sats.MAX_SUPPLY, staying))
}

/** Seats and weights of the next committee, in the order of addresses. */
export const select = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<EpochRecord.Member> => {
  const seats = seated(candidates)
  const added = Sats.sumBounded(seats.map(additionOf))
  const allowed = Sats.min(allowedTo(seats), added)
  return seats
    .map((candidate) => ({
      address: Address.fromPublicKey(candidate.publicKey),
      publicKey: candidate.publicKey,
      weight: Sats.addBounded(
        candidate.carried,
        added === 0 ? Sats.ZERO : Sats.partBounded(additionOf(candidate), allowed, added),
      ),
    }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => (a.address < b.address ? -1 : 1))
}

/**
 * The established part of a member's carried weight. The network's initial weight counts as established. Weight under a
 * changed key does not: that key, like a newcomer's, may sign nothing until a quorum has made the epoch's first rounds.
 */
const establishedOf = (state: State, key: PublicKey, carried: Sats.Sats): Sats.Sats => {
  const before = state.epochOf(Natural.epoch(state.epoch.record.epoch - 1))?.record
  return before === undefined
    ? carried
    : Sats.min(carried, EpochRecord.memberOf(before, Address.fromPublicKey(key))?.weight ?? Sats.ZERO)
}

/** The key to which a member has changed, or its key. */
const nextKeyOf = (state: State, { address, publicKey }: EpochRecord.Member): PublicKey =>
  state.extrasOf(state.accountOf(address)).publicKey ?? publicKey

const stayers = (state: State): ReadonlyArray<Candidate> =>
  state.epoch.record.members.flatMap((member) => {
    const address = state.accountOf(member.address)
    const staker = state.staker(address)
    if (!staker?.isActive || !Heartbeats.wasPresentInSecondHalf(state, address)) return []
    const stake = staker.effective
    const carried = Sats.min(member.weight, stake)
    const publicKey = nextKeyOf(state, member)
    return [{ address, publicKey, stake, carried, established: establishedOf(state, publicKey, carried) }]
  })

/** A committee is never empty: if no member stays, the old ones remain, with their weights. */
const remaining = (state: State): ReadonlyArray<Candidate> =>
  state.epoch.record.members.map((member) => {
    const { weight } = member
    const address = state.accountOf(member.address)
    const publicKey = nextKeyOf(state, member)
    const established = establishedOf(state, publicKey, weight)
    return { address, publicKey, stake: weight, carried: weight, established }
  })

const newcomers = (state: State): ReadonlyArray<Candidate> =>
  [...state.presence.keys()].flatMap((key) => {
    const staker = state.staker(key as Address.Address)
    if (!staker?.isActive || !Heartbeats.beatEveryQuarter(state, key)) return []
    const { publicKey } = state.accounts.extras(staker.row)
    return publicKey === null
      ? []
      : [{ address: staker.address, publicKey, stake: staker.effective, carried: Sats.ZERO, established: Sats.ZERO }]
  })

export interface Next {
  readonly members: ReadonlyArray<EpochRecord.Member>
  /** No member stayed, so the old ones continue with their weights. */
  readonly isKeptOn: boolean
}

export const next = (state: State): Next => {
  const staying = stayers(state)
  const isKeptOn = staying.length === 0
  return { members: select([...(isKeptOn ? remaining(state) : staying), ...newcomers(state)]), isKeptOn }
}
