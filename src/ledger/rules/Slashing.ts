/** The penalty for equivocation: part of the author's own and delegated stake is burned, and the seat is lost. */

import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Hash from "../../protocol/identity/Hash.js"
import type * as Natural from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import type { Evidence } from "../../protocol/vertex/Evidence.js"
import { STAYING } from "../tables/Delegators.js"
import * as Pool from "../tables/Pool.js"
import type { Epoch } from "../tables/Records.js"
import type { State } from "../tables/State.js"
import type { Event } from "./Execution.js"

const markOf = (epoch: Natural.Epoch, author: Address): string => `${StateKey.counter(epoch)}${author}`

/** An epoch's base is unknown before its first commit, which sets it before judging evidence. */
const isBaseOpen = (state: State, { base, record }: Epoch): boolean =>
  base === Hash.ZERO && record.epoch === state.epoch.record.epoch

/** Of this network and the running or previous epoch, by a member of its committee that has not been punished yet. */
export const isPunishable = (state: State, { first: { epoch, base, author } }: Evidence): boolean => {
  const held = state.epochOf(epoch)
  return (
    held !== undefined &&
    (held.base === base || isBaseOpen(state, held)) &&
    EpochRecord.memberOf(held.record, author) !== undefined &&
    !state.slashed.has(markOf(epoch, author))
  )
}

const slashStake = (state: State, validator: Address, percent: number): Sats.Sats => {
  const row = state.accounts.find(validator)
  const { stake } = state.accounts.extras(row)
  if (row === undefined || stake === null) return Sats.ZERO
  const burned = Sats.percent(stake.amount, percent)
  const amount = Sats.subtractBounded(stake.amount, burned)
  state.supply.decrease("staked", burned)
  state.update(row, { stake: amount === 0 ? null : { ...stake, amount } })
  return burned
}

const slashWorking = (state: State, validator: Address, percent: number): Sats.Sats => {
  const before = state.validators.get(validator) ?? state.newValidator()
  const { pool: working, burned } = Pool.slash(before.working, percent)
  const hasDied = working.generation !== before.working.generation
  const departing = hasDied ? 0n : before.departing
  state.setValidator(validator, { ...before, isBarred: true, working, departing })
  if (hasDied) for (const group of [STAYING, state.epoch.record.epoch]) state.delegators.clear(validator, group)
  return burned
}

/** Slashes the leaving pools, one for each epoch with departures within the cooldown. */
const slashLeaving = (state: State, validator: Address, percent: number): Sats.Sats => {
  const burned = state.leavingPools.of(validator).map(([epoch, before]) => {
    const { pool, burned } = Pool.slash(before, percent)
    state.leavingPools.set(validator, epoch, pool)
    if (pool.shares === 0n) state.delegators.clear(validator, epoch)
    return burned
  })
  return Sats.sumBounded(burned)
}

const slashPools = (state: State, validator: Address, percent: number): Sats.Sats => {
  const burned = Sats.addBounded(slashWorking(state, validator, percent), slashLeaving(state, validator, percent))
  state.supply.decrease("delegated", burned)
  return burned
}

/** Slashes once per author and epoch, however much evidence there is. A changed key does not protect the stake. */
export const apply = (state: State, evidence: Evidence, events: Array<Event>): void => {
  if (!isPunishable(state, evidence)) return
  const { author, epoch, round } = evidence.first
  const { slashPercent } = state.parameters
  state.slashed.set(markOf(epoch, author), true)
  const validator = state.accountOf(author)
  const ownStake = slashStake(state, validator, slashPercent)
  const delegated = slashPools(state, validator, slashPercent)
  state.supply.burn(Sats.addBounded(ownStake, delegated))
  events.push({ _tag: "Slashed", validator, epoch, round, ownStake, delegated })
}

/** At an epoch's close: drops marks of the previous epoch, since evidence of it no longer counts. */
export const forget = (state: State): void => {
  const oldest = StateKey.counter(state.epoch.record.epoch)
  for (const key of [...state.slashed.keys()]) if (key < oldest) state.slashed.delete(key)
}
