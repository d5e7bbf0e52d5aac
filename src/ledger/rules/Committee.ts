/**
 * The members of the next epoch and their weights. The weight added at the last two closes (newcomers and growth
 * together) is at most a third of the weight before, so the network finalizes even if all of it fails at once.
 */

import type * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import * as Address from "../../protocol/identity/Address.js"
import type { PublicKey } from "../../protocol/identity/Keys.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type { State } from "../tables/State.js"
import * as Heartbeats from "./Heartbeats.js"

const MAX_NEWCOMERS = 25

/** A member's change to another key. */
export interface Change {
  readonly publicKey: PublicKey
  /** The epoch in which it was executed. */
  readonly since: Natural.Epoch
}

export interface Candidate {
  /** Its account. */
  readonly address: Address.Address
  /** The key with which it signs in the running epoch; a newcomer's newest key. */
  readonly publicKey: PublicKey
  readonly change: Change | null
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

const byTurn = (a: Candidate & { change: Change }, b: Candidate & { change: Change }): number =>
  a.change.since - b.change.since || (a.address < b.address ? -1 : 1)

/**
 * Changes keys, oldest changes first, while they concern less than a third of the weight that stays; the others wait
 * for the next close. A changed key, like a newcomer's, may sign nothing until a quorum has begun the epoch, and the
 * others must be able to do that alone. Decided here rather than when a change is made, because members may leave
 * later. The first change is always made: if the others are no quorum, all of them vouch for the new key.
 */
const withChanges = (seats: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => {
  const staying = Sats.sumBounded(seats.map(({ carried }) => carried))
  const changed = new Map<Address.Address, Candidate>()
  let weight = 0
  const asking = seats.flatMap((seat) => (seat.change === null ? [] : [{ ...seat, change: seat.change }]))
  for (const seat of asking.sort(byTurn)) {
    if (changed.size > 0 && (weight + seat.carried) * 3 >= staying) continue
    weight += seat.carried
    changed.set(seat.address, { ...seat, publicKey: seat.change.publicKey, established: Sats.ZERO })
  }
  return seats.map((seat) => changed.get(seat.address) ?? seat)
}

/** Seats and weights of the next committee, in the order of the keys' addresses. */
export const select = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<EpochRecord.Member> => {
  const seats = withChanges(seated(candidates))
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

/** The announced key of a member that does not sign with it yet. */
const changeOf = (state: State, account: Address.Address, key: PublicKey): Change | null => {
  const { publicKey } = state.extrasOf(account)
  if (publicKey === null || publicKey === key) return null
  const changed = state.signingKeys.get(Address.fromPublicKey(publicKey))
  return changed === undefined ? null : { publicKey, since: changed.since }
}

/** A member that stays. Its weight in the previous epoch is established, as is the network's initial weight. */
const stayer = (
  state: State,
  { publicKey }: EpochRecord.Member,
  address: Address.Address,
  { stake, carried }: Pick<Candidate, "stake" | "carried">,
): Candidate => {
  const before = state.epochOf(Natural.epoch(state.epoch.record.epoch - 1))?.record
  const established =
    before === undefined ? carried : Sats.min(carried, state.seatOf(before, address)?.weight ?? Sats.ZERO)
  return { address, publicKey, change: changeOf(state, address, publicKey), stake, carried, established }
}

const stayers = (state: State): ReadonlyArray<Candidate> =>
  state.epoch.record.members.flatMap((member) => {
    const address = state.accountOf(member.address)
    const staker = state.staker(address)
    if (!staker?.isActive || !Heartbeats.wasPresentInSecondHalf(state, address)) return []
    const stake = staker.effective
    return [stayer(state, member, address, { stake, carried: Sats.min(member.weight, stake) })]
  })

/** A committee is never empty: if no member stays, the old ones remain, with their weights. */
const remaining = (state: State): ReadonlyArray<Candidate> =>
  state.epoch.record.members.map((member) => {
    const { weight } = member
    return stayer(state, member, state.accountOf(member.address), { stake: weight, carried: weight })
  })

const newcomers = (state: State): ReadonlyArray<Candidate> =>
  [...state.presence.keys()].flatMap((key) => {
    const staker = state.staker(key as Address.Address)
    if (!staker?.isActive || !Heartbeats.beatEveryQuarter(state, key)) return []
    const { address, effective: stake } = staker
    const { publicKey } = state.accounts.extras(staker.row)
    return publicKey === null
      ? []
      : [{ address, publicKey, change: null, stake, carried: Sats.ZERO, established: Sats.ZERO }]
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
