/**
 * Who runs the next epoch, and with what weight. What is new in a committee (newcomers and growth together) weighs at
 * most a third of what stays, so a network finalizes even if all of it dies at once.
 */
import type { Address } from "../protocol/Address.js"
import type { Member } from "../protocol/EpochRecord.js"
import type { PublicKey } from "../protocol/Keys.js"
import * as Limits from "../protocol/Limits.js"
import * as Sats from "../protocol/Sats.js"
import * as Heartbeats from "./Heartbeats.js"
import type { State } from "./State.js"

export const MAX_NEWCOMERS = 25

/** Somebody who qualifies for a seat. */
export interface Candidate {
  readonly address: Address
  readonly publicKey: PublicKey
  /** What it would weigh without the bound; also decides who gets a seat. */
  readonly stake: Sats.Sats
  /** What a stayer keeps of its old weight; 0 for a newcomer. */
  readonly carried: Sats.Sats
}

const isNewcomer = ({ carried }: Candidate): boolean => carried === 0

const bySize = (a: Candidate, b: Candidate): number => b.stake - a.stake || (a.address < b.address ? -1 : 1)

/** The largest first, of them at most 25 newcomers; more only where seats are left. */
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

const additionOf = ({ stake, carried }: Candidate): Sats.Sats => Sats.subtract(stake, Sats.min(stake, carried))

/** Seats and weights of the next committee, in the order of addresses. */
export const select = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<Member> => {
  const seats = seated(candidates)
  const staying = Sats.sum(seats.map(({ carried }) => carried))
  const added = Sats.sum(seats.map(additionOf))
  // Old members who count as stayers may carry weight whose money has gone elsewhere, even to a newcomer.
  const room = Sats.subtract(Sats.MAX_SUPPLY, staying)
  const allowed = Sats.min(Sats.min(Sats.mulDiv(staying, 1, 3), added), room)
  return seats
    .map((candidate) => ({
      address: candidate.address,
      publicKey: candidate.publicKey,
      weight: Sats.add(candidate.carried, added === 0 ? Sats.ZERO : Sats.mulDiv(additionOf(candidate), allowed, added)),
    }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => (a.address < b.address ? -1 : 1))
}

const stayers = (state: State): ReadonlyArray<Candidate> =>
  state.epoch.record.members.flatMap(({ address, publicKey, weight }) => {
    const staker = state.staker(address)
    return staker?.isActive && Heartbeats.wasPresentInSecondHalf(state, address)
      ? [{ address, publicKey, stake: staker.effective, carried: Sats.min(weight, staker.effective) }]
      : []
  })

/** When nobody stays, the old members do as they are: a committee is never empty. */
const remaining = (state: State): ReadonlyArray<Candidate> =>
  state.epoch.record.members.map(({ address, publicKey, weight }) => ({
    address,
    publicKey,
    stake: weight,
    carried: weight,
  }))

const newcomers = (state: State): ReadonlyArray<Candidate> =>
  [...state.presence.keys()].flatMap((key) => {
    const staker = state.staker(key as Address)
    if (!staker?.isActive || state.isMember(staker.address) || !Heartbeats.beatEveryQuarter(state, key)) return []
    const { publicKey } = state.accounts.extras(staker.row)
    return publicKey === null
      ? []
      : [{ address: staker.address, publicKey, stake: staker.effective, carried: Sats.ZERO }]
  })

/** The next committee from the state at the close. */
export const next = (state: State): ReadonlyArray<Member> => {
  const staying = stayers(state)
  return select([...(staying.length > 0 ? staying : remaining(state)), ...newcomers(state)])
}
