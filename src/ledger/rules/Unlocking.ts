/** Leaving: departures at an epoch's close, payouts after the cooldown. */

import type { Address } from "../../protocol/identity/Address.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import type { Epoch } from "../../protocol/numbers/Natural.js"
import type { Leaving } from "../../protocol/state/AccountRecord.js"
import type { State } from "../tables/State.js"
import type { Waiting } from "../tables/UnlockQueue.js"
import * as Delegation from "./Delegation.js"
import type { Event } from "./Execution.js"
import * as Staking from "./Staking.js"

const isSame = (a: Leaving | null | undefined, b: Leaving): boolean =>
  a?.epoch === b.epoch && a.unlockAtRound === b.unlockAtRound

type Turn = "released" | "must wait" | "is not leaving"

/**
 * A validator's stake waits until evidence of its last epoch is no longer possible. Otherwise a member kept on because
 * no other stays could sign twice in that epoch and withdraw its stake before the slash. Delegations that count in such
 * a member's weight wait as well; the queue itself holds them back, since they can be many.
 */
const takeTurn = (state: State, { row, validator, leaving }: Waiting, events: Array<Event>): Turn => {
  const { stake, delegation } = state.accounts.extras(row)
  const address = state.accounts.addressOf(row)
  if (validator !== null) {
    if (delegation?.validator !== validator || !isSame(delegation.leaving, leaving)) return "is not leaving"
    events.push({ _tag: "Unlocked", address, amount: Delegation.release(state, row), from: "delegation" })
    return "released"
  }
  if (!isSame(stake?.leaving, leaving)) return "is not leaving"
  if (state.isAnswerable(address)) return "must wait"
  events.push({ _tag: "Unlocked", address, amount: Staking.release(state, address, row), from: "stake" })
  return "released"
}

/** At every commit: pays out what is due, up to a limit; later commits pay out the rest. */
export const release = (state: State, events: Array<Event>): void => {
  const isHeld = (validator: Address, leftIn: Epoch): boolean => state.isWeightOf(validator, leftIn)
  // At most the members of two committees.
  const waiting: Array<Waiting> = []
  let released = 0
  while (released < Limits.RELEASES_PER_COMMIT) {
    const next = state.unlocking.takeDue(state.round, state.epoch.record.epoch, isHeld)
    if (next === undefined) break
    const turn = takeTurn(state, next, events)
    if (turn === "released") released++
    if (turn === "must wait") waiting.push(next)
  }
  for (const next of waiting) state.unlocking.add(next)
}

/** At an epoch's close: delegations that left in it stop working. Stakes need no change. */
export const depart = (state: State): void => {
  const departing = [...state.validators.entries()].filter(([, validator]) => validator.departing > 0n)
  for (const [address, validator] of departing) Delegation.depart(state, address as Address, validator)
}
