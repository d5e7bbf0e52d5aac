/** What equivocation costs: a part of everything that stands behind the author, burned, and the seat. */
import type { Address } from "../protocol/Address.js"
import type { Epoch } from "../protocol/Counter.js"
import * as EpochRecord from "../protocol/EpochRecord.js"
import type { Evidence } from "../protocol/Evidence.js"
import * as Sats from "../protocol/Sats.js"
import * as StateKey from "../protocol/StateKey.js"
import type { Event } from "./Execution.js"
import * as Pool from "./Pool.js"
import type { State } from "./State.js"

const markOf = (epoch: Epoch, author: Address): string => `${StateKey.counter(epoch)}${author}`

/** Of this network and the running or previous epoch, by a member of its committee, and not punished yet. */
export const isPunishable = (state: State, { first: { epoch, base, author } }: Evidence): boolean => {
  const held = state.epochOf(epoch)
  return (
    held !== undefined &&
    held.base === base &&
    EpochRecord.memberOf(held.record, author) !== undefined &&
    !state.slashed.has(markOf(epoch, author))
  )
}

const slashStake = (state: State, author: Address, percent: number): Sats.Sats => {
  const row = state.accounts.find(author)
  const { stake } = state.accounts.extras(row)
  if (stake === null) return Sats.ZERO
  const burned = Sats.percent(stake.amount, percent)
  const amount = Sats.subtract(stake.amount, burned)
  state.supply.decrease("staked", burned)
  state.update(row, { stake: amount === 0 ? null : { ...stake, amount } })
  return burned
}

const slashPools = (state: State, author: Address, percent: number): Sats.Sats => {
  const validator = state.validators.get(author) ?? state.newValidator()
  const working = Pool.slash(validator.working, percent)
  const leaving = Pool.slash(validator.leaving, percent)
  const burned = Sats.add(working.burned, leaving.burned)
  state.supply.decrease("delegated", burned)
  state.setValidator(author, { ...validator, isBarred: true, working: working.pool, leaving: leaving.pool })
  if (working.pool.generation !== validator.working.generation) state.delegators.clear(author, "working")
  if (leaving.pool.generation !== validator.leaving.generation) state.delegators.clear(author, "leaving")
  return burned
}

/** One slash per author and epoch, however much evidence there is. */
export const apply = (state: State, evidence: Evidence, events: Array<Event>): void => {
  if (!isPunishable(state, evidence)) return
  const { author, epoch, round } = evidence.first
  const { slashPercent } = state.parameters
  state.slashed.set(markOf(epoch, author), true)
  const ownStake = slashStake(state, author, slashPercent)
  const delegated = slashPools(state, author, slashPercent)
  state.supply.burn(Sats.add(ownStake, delegated))
  events.push({ _tag: "Slashed", validator: author, epoch, round, ownStake, delegated })
}

/** At an epoch's close: evidence of the epoch before the closing one counts no more. */
export const forget = (state: State): void => {
  const oldest = StateKey.counter(state.epoch.record.epoch)
  for (const key of [...state.slashed.keys()]) if (key.slice(0, oldest.length) < oldest) state.slashed.delete(key)
}
