/** The way out: departures at an epoch's close, releases once the cooldown is over. */
import type { Address } from "../protocol/Address.js"
import type { Row } from "./AccountRows.js"
import * as Delegation from "./Delegation.js"
import type { Event } from "./Execution.js"
import * as Staking from "./Staking.js"
import type { State } from "./State.js"

/** Rounding makes the order matter to the last sat, so it is that of the addresses. */
const byAddress = (
  state: State,
  rows: Iterable<Row>,
): ReadonlyArray<{ readonly row: Row; readonly address: Address }> =>
  [...rows]
    .map((row) => ({ row, address: state.accounts.addressOf(row) }))
    .sort((a, b) => (a.address < b.address ? -1 : 1))

/**
 * Every commit: releases what is due. The stake of a validator waits until no evidence of its last epoch can come any
 * more: who is kept on because nobody else stays could otherwise sign twice in that epoch and be gone with its stake.
 */
export const release = (state: State, events: Array<Event>): void => {
  for (const bucket of state.unlocking.due(state.round, state.epoch.record.epoch)) {
    for (const { row, address } of byAddress(state, bucket.rows)) {
      if (state.accounts.extras(row).stake === null) {
        events.push({ _tag: "Unlocked", address, amount: Delegation.release(state, row), from: "delegation" })
      } else if (!state.isAnswerable(address)) {
        events.push({ _tag: "Unlocked", address, amount: Staking.release(state, address, row), from: "stake" })
      }
    }
  }
}

/** An epoch's close: the delegations that left in it stop working. Stakes only change their meaning. */
export const depart = (state: State): void => {
  for (const { row } of byAddress(state, state.unlocking.leftIn(state.epoch.record.epoch))) {
    if (state.accounts.extras(row).delegation !== null) Delegation.depart(state, row)
  }
}
