/** A validator's own stake: staking, leaving, commission. */

import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { PublicKey } from "../../protocol/identity/Keys.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type { Leaving } from "../../protocol/state/AccountRecord.js"
import type { SetCommission, Stake } from "../../protocol/transaction/Operation.js"
import type { Row } from "../tables/AccountRows.js"
import type { State } from "../tables/State.js"
import * as Rejection from "./Rejection.js"

/** A stake that leaves works until its epoch closes. It is paid out a cooldown after the epoch's nominal last round. */
export const leavingNow = (state: State): Leaving => {
  const { record } = state.epoch
  return {
    epoch: record.epoch,
    unlockAtRound: Natural.round(EpochRecord.lastRound(record) + state.parameters.cooldownRounds),
  }
}

export const stakeRejection = (state: State, from: Address, row: Row | undefined): Rejection.Verdict => {
  const { stake } = state.accounts.extras(row)
  if (state.livingDelegation(row) !== null) {
    return Rejection.invalid("delegates_already", "an account that delegates cannot stake: undelegate first")
  }
  if (state.signingKeys.get(from) !== undefined) {
    return Rejection.invalid("key_in_use", "another validator signs with the key of this account")
  }
  if (stake?.leaving) {
    return Rejection.invalid("leaving", `the stake is leaving until round ${stake.leaving.unlockAtRound}`)
  }
  // A validator slashed to nothing has nothing to unstake; it has left once it is out of the committee.
  if (state.validators.get(from)?.isBarred && (stake !== null || state.isMember(from))) {
    return Rejection.invalid(
      "barred",
      "this validator was slashed for equivocation and must leave before it can stake again",
    )
  }
  return undefined
}

/** `publicKey` is the key that signed, if a single key did. */
export const applyStake = (
  state: State,
  from: Address,
  row: Row,
  { amount }: Stake,
  publicKey: PublicKey | null,
): void => {
  const extras = state.accounts.extras(row)
  state.debit(row, amount)
  state.supply.increase("staked", amount)
  state.update(row, {
    publicKey: extras.publicKey ?? publicKey,
    stake: { amount: Sats.addBounded(extras.stake?.amount ?? Sats.ZERO, amount), leaving: null },
    // Any delegation left here died with its pool.
    delegation: null,
  })
  const validator = state.validators.get(from) ?? state.newValidator()
  // A validator that stakes again starts with a new commission, even if delegators have stayed.
  const { commissionPercent } = extras.stake === null ? state.newValidator() : validator
  state.setValidator(from, { ...validator, commissionPercent, isBarred: false })
}

export const unstakeRejection = (state: State, row: Row | undefined): Rejection.Verdict => {
  const { stake } = state.accounts.extras(row)
  if (stake === null) return Rejection.invalid("not_staking", "this account has no stake")
  if (stake.leaving !== null) {
    return Rejection.invalid("leaving", `the stake is already leaving, until round ${stake.leaving.unlockAtRound}`)
  }
  return undefined
}

export const applyUnstake = (state: State, row: Row): void => {
  const { stake } = state.accounts.extras(row)
  if (stake !== null) state.update(row, { stake: { ...stake, leaving: leavingNow(state) } })
}

export const commissionRejection = (state: State, from: Address, row: Row | undefined): Rejection.Verdict => {
  const { stake } = state.accounts.extras(row)
  if (stake === null) return Rejection.invalid("not_staking", "only a staker has a commission")
  if (stake.leaving !== null) return Rejection.invalid("leaving", "the commission of a leaving stake cannot be set")
  if (state.validators.get(from)?.commissionEpoch === state.epoch.record.epoch) {
    return Rejection.invalid("commission_set_this_epoch", "the commission can be set only once an epoch")
  }
  return undefined
}

export const applyCommission = (state: State, from: Address, { commissionPercent }: SetCommission): void => {
  const validator = state.validators.get(from)
  if (validator === undefined) return
  state.setValidator(from, { ...validator, commissionPercent, commissionEpoch: state.epoch.record.epoch })
}

/** Pays out the stake of this row; a bar ends with it. */
export const release = (state: State, address: Address, row: Row): Sats.Sats => {
  const { stake } = state.accounts.extras(row)
  if (stake === null) return Sats.ZERO
  state.supply.decrease("staked", stake.amount)
  state.credit(row, stake.amount)
  state.update(row, { stake: null })
  const validator = state.validators.get(address)
  if (validator !== undefined) state.setValidator(address, { ...validator, isBarred: false })
  return stake.amount
}
