/** The reward of a finalized vertex and its shares. */
import type { Rules } from "../../protocol/epoch/EpochRecord.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import type { Header } from "../../protocol/vertex/Header.js"
import * as Pool from "../tables/Pool.js"
import type { State } from "../tables/State.js"
import type { Postings } from "./Postings.js"

export interface Measures {
  readonly rules: Pick<Rules, "treasuryPercent" | "councilPercent">
  readonly councilSeats: number
  readonly ownStake: Sats.Sats
  readonly workingPool: Sats.Sats
  readonly commissionPercent: number
}

export interface Split {
  readonly treasury: Sats.Sats
  readonly perCouncilSeat: Sats.Sats
  readonly pool: Sats.Sats
  readonly author: Sats.Sats
}

/** Every part is rounded down; the author gets the remainder. */
export const split = (minted: Sats.Sats, measures: Measures): Split => {
  const { rules, councilSeats, ownStake, workingPool, commissionPercent } = measures
  const council = Sats.percent(minted, rules.councilPercent)
  const perCouncilSeat = councilSeats === 0 ? Sats.ZERO : Sats.partBounded(council, 1, councilSeats)
  const treasury = Sats.addBounded(
    Sats.percent(minted, rules.treasuryPercent),
    councilSeats === 0 ? council : Sats.ZERO,
  )
  const rest = Sats.subtractBounded(minted, Sats.addBounded(Sats.percent(minted, rules.treasuryPercent), council))
  const shared = Sats.subtractBounded(rest, Sats.percent(rest, commissionPercent))
  const pool =
    workingPool === 0 ? Sats.ZERO : Sats.partBounded(shared, workingPool, Sats.addBounded(ownStake, workingPool))
  const paid = Sats.addBounded(Sats.addBounded(treasury, Sats.make(perCouncilSeat * councilSeats)), pool)
  return { treasury, perCouncilSeat, pool, author: Sats.subtractBounded(minted, paid) }
}

/** Whether the slot is still unpaid: an author is paid once per round, no matter how many vertices it signed. */
const claim = (state: State, { round, author }: Header): boolean => {
  const position = state.memberPosition(author)
  if (position === undefined) return false
  const key = StateKey.counter(round)
  const claimed = state.minted.get(key) ?? []
  if (claimed.includes(position)) return false
  state.minted.set(
    key,
    [...claimed, position].sort((a, b) => a - b),
  )
  return true
}

/** Mints the coinbase of a vertex, up to the supply cap, and distributes it. */
export const apply = (state: State, header: Header, postings: Postings): Sats.Sats => {
  if (!claim(state, header)) return Sats.ZERO
  const minted = Sats.min(header.coinbase, state.supply.room)
  const account = state.accountOf(header.author)
  const validator = state.validators.get(account) ?? state.newValidator()
  const parts = split(minted, {
    rules: state.epoch.record.rules,
    councilSeats: state.council.size,
    ownStake: state.extrasOf(account).stake?.amount ?? Sats.ZERO,
    workingPool: validator.working.amount,
    commissionPercent: validator.commissionPercent,
  })
  state.supply.mint(minted)
  state.supply.increase("treasury", parts.treasury)
  for (const member of state.council) {
    state.creditAddress(member, parts.perCouncilSeat)
    postings.add("council", member, parts.perCouncilSeat)
  }
  if (parts.pool > 0) {
    state.setValidator(account, { ...validator, working: Pool.reward(validator.working, parts.pool) })
    state.supply.increase("delegated", parts.pool)
  }
  state.creditAddress(account, parts.author)
  postings.add("reward", account, parts.author)
  return minted
}

/** After a commit: drops claims at or below its leader round less the depth, where no later commit orders a vertex. */
export const forget = (state: State): void => {
  const { collectionDepthRounds } = state.epoch.record.rules
  const collected = StateKey.counter(Math.max(0, state.round - collectionDepthRounds))
  for (const key of [...state.minted.keys()]) if (key <= collected) state.minted.delete(key)
}
