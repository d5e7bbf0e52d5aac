/** Lending weight to a validator: shares of its working pool, later of its leaving pool. */
import { Either } from "effect"
import type * as AccountRecord from "../protocol/AccountRecord.js"
import type { Address } from "../protocol/Address.js"
import type { Delegate } from "../protocol/Operation.js"
import * as Sats from "../protocol/Sats.js"
import type { Row } from "./AccountRows.js"
import * as Pool from "./Pool.js"
import * as Rejection from "./Rejection.js"
import { leavingNow } from "./Staking.js"
import type { State } from "./State.js"

/** What a delegation is worth now. */
export const worth = (state: State, delegation: AccountRecord.Delegation): Sats.Sats => {
  const validator = state.validators.get(delegation.validator)
  return validator === undefined ? Sats.ZERO : Pool.worth(validator[delegation.pool], delegation)
}

const existingRejection = (
  existing: AccountRecord.Delegation | null,
  validator: Address,
): Rejection.Rejection | undefined => {
  if (existing === null) return undefined
  if (existing.leaving !== null) {
    return Rejection.invalid("leaving", `a delegation is leaving until round ${existing.leaving.unlockAtRound}`)
  }
  return existing.validator === validator
    ? undefined
    : Rejection.invalid("delegates_elsewhere", `this account delegates to ${existing.validator} already`)
}

export const delegateRejection = (
  state: State,
  from: Address,
  row: Row,
  { validator, amount }: Delegate,
): Rejection.Rejection | undefined => {
  const { minDelegation } = state.parameters
  if (amount < minDelegation) {
    return Rejection.invalid("delegation_below_minimum", `at least ${minDelegation} sats must be delegated`)
  }
  if (validator === from) return Rejection.invalid("own_validator", "an account cannot delegate to itself")
  if (state.accounts.extras(row).stake !== null) {
    return Rejection.invalid("stakes_already", "an account with a stake cannot delegate: unstake first")
  }
  const existing = existingRejection(state.livingDelegation(row), validator)
  if (existing !== undefined) return existing
  const staker = state.staker(validator)
  if (!staker?.isActive) return Rejection.invalid("validator_not_active", `${validator} is no active validator`)
  const deposit = Pool.deposit(staker.validator.working, amount)
  return Either.isLeft(deposit)
    ? Rejection.invalid("pool_shares", `${amount} sats make no valid number of shares of the pool (${deposit.left})`)
    : undefined
}

export const applyDelegate = (state: State, row: Row, { validator: address, amount }: Delegate): void => {
  const validator = state.validators.get(address) ?? state.newValidator()
  const { pool, minted } = Either.getOrThrow(Pool.deposit(validator.working, amount))
  const held = state.livingDelegation(row)?.shares ?? 0n
  state.debit(row, amount)
  state.supply.increase("delegated", amount)
  state.setValidator(address, { ...validator, working: pool })
  state.update(row, {
    delegation: {
      validator: address,
      pool: "working",
      generation: pool.generation,
      shares: held + minted,
      leaving: null,
    },
  })
}

export const undelegateRejection = (state: State, row: Row): Rejection.Rejection | undefined => {
  const delegation = state.livingDelegation(row)
  if (delegation === null) return Rejection.invalid("not_delegating", "this account delegates to nobody")
  if (delegation.leaving !== null) {
    return Rejection.invalid(
      "leaving",
      `the delegation is leaving already, until round ${delegation.leaving.unlockAtRound}`,
    )
  }
  return undefined
}

export const applyUndelegate = (state: State, row: Row): void => {
  const delegation = state.livingDelegation(row)
  if (delegation !== null) state.update(row, { delegation: { ...delegation, leaving: leavingNow(state) } })
}

/** At the epoch's close: what left in it stops working and moves to the pool of those who wait. */
export const depart = (state: State, row: Row): void => {
  const delegation = state.livingDelegation(row)
  const validator = delegation && state.validators.get(delegation.validator)
  if (delegation === null || !validator) {
    state.update(row, { delegation: null })
    return
  }
  const { pool: working, amount } = Pool.withdraw(validator.working, delegation)
  const deposit = Pool.deposit(validator.leaving, amount)
  if (Either.isLeft(deposit)) {
    // Worth less than a sat; or the leaving pool was slashed to almost nothing so often that its shares do not fit 128
    // bits any more: then this one is released at once.
    state.setValidator(delegation.validator, { ...validator, working })
    state.supply.decrease("delegated", amount)
    state.credit(row, amount)
    state.update(row, { delegation: null })
    return
  }
  const { pool: leaving, minted } = deposit.right
  state.setValidator(delegation.validator, { ...validator, working, leaving })
  state.update(row, {
    delegation: { ...delegation, pool: "leaving", generation: leaving.generation, shares: minted },
  })
}

/** The delegation of this row is free again: back to the balance. */
export const release = (state: State, row: Row): Sats.Sats => {
  const delegation = state.livingDelegation(row)
  const validator = delegation && state.validators.get(delegation.validator)
  state.update(row, { delegation: null })
  if (delegation === null || !validator) return Sats.ZERO
  const { pool, amount } = Pool.withdraw(validator[delegation.pool], delegation)
  state.setValidator(delegation.validator, { ...validator, [delegation.pool]: pool })
  state.supply.decrease("delegated", amount)
  state.credit(row, amount)
  return amount
}
