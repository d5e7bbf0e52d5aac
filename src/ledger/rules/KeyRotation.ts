/** A validator's change to another signing key. Its account, stake and delegations stay where they are. */

import * as ProtocolVersion from "../../protocol/epoch/ProtocolVersion.js"
import * as Address from "../../protocol/identity/Address.js"
import type { RotateKey } from "../../protocol/transaction/Operation.js"
import type { Row } from "../tables/AccountRows.js"
import type { State } from "../tables/State.js"
import * as Rejection from "./Rejection.js"

/** The minimum number of epochs between two changes of a validator's key. */
const CHANGE_EPOCHS = 2

/**
 * Whether the key is or was a validator's. An account keeps its key once it has staked, and every key changed to has a
 * record, so no two validators can ever share one.
 */
const isInUse = (state: State, address: Address.Address): boolean =>
  state.signingKeys.get(address) !== undefined || state.extrasOf(address).publicKey !== null

export const rejection = (
  state: State,
  from: Address.Address,
  row: Row | undefined,
  { validatorKey }: RotateKey,
): Rejection.Verdict => {
  const { record } = state.epoch
  if (!ProtocolVersion.rulesOf(record.rules.protocolVersion).rotatesKeys) {
    const { protocolVersion } = record.rules
    return Rejection.invalid(
      "not_in_force",
      `protocol version ${protocolVersion} has no transactions of this type; a vote must put version ${ProtocolVersion.KEY_ROTATION} ` +
        "in force first: see docs/operations/upgrade.md#upgrading-the-protocol",
    )
  }
  const { stake, publicKey } = state.accounts.extras(row)
  if (stake === null) return Rejection.invalid("not_staking", "only a staker has a validator key")
  if (stake.leaving !== null) return Rejection.invalid("leaving", "the key of a leaving stake cannot change")
  if (state.validators.get(from)?.isBarred) {
    return Rejection.invalid(
      "barred",
      "this validator was slashed for equivocation and must leave before its key can change",
    )
  }
  // Every key has a record forever, and weight under a changed key leaves less room for newcomers for an epoch.
  const changed = publicKey === null ? undefined : state.signingKeys.get(Address.fromPublicKey(publicKey))
  if (changed !== undefined && record.epoch < changed.since + CHANGE_EPOCHS) {
    return Rejection.invalid(
      "key_changed_recently",
      `the validator key changed in epoch ${changed.since} and can change again from epoch ${changed.since + CHANGE_EPOCHS} on`,
    )
  }
  return isInUse(state, Address.fromPublicKey(validatorKey))
    ? Rejection.invalid("key_in_use", "a validator signs or has signed with this key: make a new one")
    : undefined
}

/** The close of the running epoch uses the new key for the next committee, unless too many keys change at once. */
export const apply = (state: State, from: Address.Address, row: Row, { validatorKey }: RotateKey): void => {
  state.update(row, { publicKey: validatorKey })
  state.signingKeys.set(Address.fromPublicKey(validatorKey), { account: from, since: state.epoch.record.epoch })
}
