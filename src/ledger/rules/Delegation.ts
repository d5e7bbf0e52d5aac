/**
 * Delegations to a validator: shares of its working pool and, after leaving, of the pool that left in the same epoch.
 */
import { Either } from "effect"
import type { Address } from "../../protocol/identity/Address.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Words from "../../protocol/numbers/Words.js"
import type * as AccountRecord from "../../protocol/state/AccountRecord.js"
import type { Delegate } from "../../protocol/transaction/Operation.js"
import type { Row } from "../tables/AccountRows.js"
import * as Pool from "../tables/Pool.js"
import type { Validator } from "../tables/Records.js"
import type { State } from "../tables/State.js"
import * as Rejection from "./Rejection.js"
import { leavingNow } from "./Staking.js"

export const worth = (state: State, delegation: AccountRecord.Delegation): Sats.Sats => {
  const pool = state.poolOf(delegation)
  return pool === undefined ? Sats.ZERO : Pool.worth(pool, delegation)
}

const existingRejection = (existing: AccountRecord.Delegation | null, validator: Address): Rejection.Verdict => {
  if (existing === null) return undefined
  if (existing.leaving !== null) {
    return Rejection.invalid("leaving", `a delegation is leaving until round ${existing.leaving.unlockAtRound}`)
  }
  return existing.validator === validator
    ? undefined
    : Rejection.invalid("delegates_elsewhere", `this account already delegates to ${existing.validator}`)
}

export const delegateRejection = (
  state: State,
  from: Address,
  row: Row | undefined,
  { validator, amount }: Delegate,
): Rejection.Verdict => {
  const { minDelegation } = state.parameters
  if (amount < minDelegation) {
    return Rejection.invalid("delegation_below_minimum", `at least ${Words.amount(minDelegation)} must be delegated`)
  }
  if (validator === from) return Rejection.invalid("own_validator", "an account cannot delegate to itself")
  if (state.accounts.extras(row).stake !== null) {
    return Rejection.invalid("stakes_already", "an account with a stake cannot delegate: unstake first")
  }
  const existing = existingRejection(state.livingDelegation(row), validator)
  if (existing !== undefined) return existing
  return state.staker(validator)?.isActive
    ? undefined
    : Rejection.invalid("validator_not_active", `${validator} is not an active validator`)
}

const depositOf = (state: State, { validator: address, amount }: Delegate) => {
  const validator = state.validators.get(address) ?? state.newValidator()
  return Either.map(Pool.deposit(validator.working, amount), (deposit) => ({ validator, ...deposit }))
}

/** Whether the pool accepts the amount. Call it only once the balance is known to cover the amount. */
export const depositRejection = (state: State, operation: Delegate): Rejection.Verdict => {
  const deposit = depositOf(state, operation)
  if (Either.isRight(deposit)) return undefined
  const { amount } = operation
  return Rejection.invalid(
    "pool_shares",
    `${Words.amount(amount)} cannot be converted into shares of the pool (${deposit.left})`,
  )
}

/** Requires that `depositRejection` passed in the same state. The balance keeps any amount beyond the returned cost. */
export const applyDelegate = (state: State, row: Row, operation: Delegate): Sats.Sats => {
  const { validator: address } = operation
  const { validator, pool, minted, cost } = Either.getOrThrow(depositOf(state, operation))
  const held = state.livingDelegation(row)?.shares ?? 0n
  state.debit(row, cost)
  state.supply.increase("delegated", cost)
  state.setValidator(address, { ...validator, working: pool })
  state.update(row, {
    delegation: {
      validator: address,
      generation: pool.generation,
      shares: held + minted,
      leaving: null,
    },
  })
  return cost
}

export const undelegateRejection = (state: State, row: Row | undefined): Rejection.Verdict => {
  const delegation = state.livingDelegation(row)
  if (delegation === null) return Rejection.invalid("not_delegating", "this account does not delegate")
  if (delegation.leaving !== null) {
    return Rejection.invalid(
      "leaving",
      `the delegation is already leaving, until round ${delegation.leaving.unlockAtRound}`,
    )
  }
  return undefined
}

export const applyUndelegate = (state: State, row: Row): void => {
  const delegation = state.livingDelegation(row)
  const validator = delegation && state.validators.get(delegation.validator)
  if (delegation === null || !validator) return
  state.setValidator(delegation.validator, { ...validator, departing: validator.departing + delegation.shares })
  state.update(row, { delegation: { ...delegation, leaving: leavingNow(state) } })
}

/** At the epoch's close: moves all shares that left this validator into a separate pool, where they stop working. */
export const depart = (state: State, address: Address, validator: Validator): void => {
  const { epoch } = state.epoch.record
  const { generation } = validator.working
  const { pool: working, amount } = Pool.withdraw(validator.working, { generation, shares: validator.departing })
  state.setValidator(address, { ...validator, working, departing: 0n })
  // Shares that together are worth less than a sat are dead.
  if (amount === 0) state.delegators.clear(address, epoch)
  else state.leavingPools.set(address, epoch, { amount, shares: validator.departing, generation })
}

/** Pays out the delegation of this row after its cooldown. */
export const release = (state: State, row: Row): Sats.Sats => {
  const delegation = state.livingDelegation(row)
  const pool = delegation && state.poolOf(delegation)
  state.update(row, { delegation: null })
  if (delegation === null || delegation.leaving === null || !pool) return Sats.ZERO
  const { pool: left, amount } = Pool.withdraw(pool, delegation)
  state.leavingPools.set(delegation.validator, delegation.leaving.epoch, left)
  state.supply.decrease("delegated", amount)
  state.credit(row, amount)
  return amount
}
