/** A validator's change to another signing key. Its account, stake and delegations stay where they are. */

import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import * as ProtocolVersion from "../../protocol/epoch/ProtocolVersion.js"
import * as Address from "../../protocol/identity/Address.js"
import type { RotateKey } from "../../protocol/transaction/Operation.js"
import type { Row } from "../tables/AccountRows.js"
import type { State } from "../tables/State.js"
import * as Rejection from "./Rejection.js"

/**
 * Whether the key is or was a validator's. An account keeps its key once it has staked, and every key changed to has a
 * record, so no two validators can ever share one.
 */
const isInUse = (state: State, address: Address.Address): boolean =>
  state.signingKeys.get(address) !== undefined || state.extrasOf(address).publicKey !== null

/**
 * Whether this change and those before it in the epoch concern a third of the weight. A changed key signs nothing in
 * the next epoch until a quorum has begun it, and the others must be able to do that alone. A single change is always
 * possible: if the others are no quorum, all of them vouch for the new key.
 */
const leavesTooFew = (state: State, from: Address.Address): boolean => {
  const { record } = state.epoch
  let before = 0
  let own = 0
  for (const { address, publicKey, weight } of record.members) {
    const account = state.accountOf(address)
    if (account === from) own = weight
    else if (state.extrasOf(account).publicKey !== publicKey) before += weight
  }
  return own > 0 && before > 0 && (before + own) * 3 >= EpochRecord.totalWeight(record)
}

export const rejection = (
  state: State,
  from: Address.Address,
  row: Row | undefined,
  { validatorKey }: RotateKey,
): Rejection.Verdict => {
  const { record } = state.epoch
  if (!ProtocolVersion.rulesOf(record.rules.protocolVersion).rotatesKeys) {
    const { protocolVersion } = record.rules
    return Rejection.invalid("not_in_force", `protocol version ${protocolVersion} has no transactions of this type`)
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
  // Every key has a record forever, so a validator must not make them as fast as it can pay fees.
  const changed = publicKey === null ? undefined : state.signingKeys.get(Address.fromPublicKey(publicKey))
  if (changed?.since === record.epoch) {
    return Rejection.invalid("key_set_this_epoch", "the validator key can change only once an epoch")
  }
  if (isInUse(state, Address.fromPublicKey(validatorKey))) {
    return Rejection.invalid("key_in_use", "a validator signs or has signed with this key: make a new one")
  }
  return leavesTooFew(state, from)
    ? Rejection.invalid("keys_changing", "too many validators change their keys in this epoch; try in the next one")
    : undefined
}

/** The close of the running epoch draws the committee with the new key. */
export const apply = (state: State, from: Address.Address, row: Row, { validatorKey }: RotateKey): void => {
  state.update(row, { publicKey: validatorKey })
  state.signingKeys.set(Address.fromPublicKey(validatorKey), { account: from, since: state.epoch.record.epoch })
}
