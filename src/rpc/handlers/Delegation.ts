import { Effect } from "effect"
import type { DelegationDetails, DelegatorList } from "../../ledger/Reads.js"
import { Staking } from "../../node/reads/Staking.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type * as Api from "../api/Delegation.js"
import * as Failure from "../api/Failure.js"
import * as AccountReference from "./AccountReference.js"
import { group, type Of } from "./Group.js"
import * as Submission from "./Submission.js"

const DELEGATORS_SHOWN = 500

const delegationOf = (
  delegator: Address,
  { validator, amount, leaving }: DelegationDetails,
): typeof Api.Delegation.Type => ({
  delegator,
  validator,
  amount,
  amount_coin: Sats.toCoin(amount),
  undelegating: leaving !== null,
  unlock_at_round: leaving?.unlockAtRound ?? null,
})

const listOf = (validator: Address, { count, total, delegators }: DelegatorList): typeof Api.DelegatorList.Type => ({
  validator,
  delegator_count: count,
  total_delegated: total,
  delegators: delegators.map(({ address, amount, isUndelegating }) => ({
    address,
    amount,
    amount_coin: Sats.toCoin(amount),
    undelegating: isUndelegating,
  })),
})

export const reads = Effect.gen(function* () {
  const staking = yield* Staking
  const account = yield* AccountReference.resolver

  return {
    delegationOf: ({ path }) =>
      Effect.flatMap(account("address", path.address), (delegator) => {
        const delegation = staking.delegation(delegator)
        return delegation === undefined
          ? Effect.fail(new Failure.DelegationNotFound({ message: `${delegator} delegates to nobody` }))
          : Effect.succeed(delegationOf(delegator, delegation))
      }),
    delegators: ({ path }) =>
      Effect.flatMap(account("address", path.address), (validator) => {
        return Effect.map(staking.delegators(validator, DELEGATORS_SHOWN), (list) => listOf(validator, list))
      }),
  } satisfies Partial<Of<"delegation">>
})

export const layer = group("delegation", (handlers) =>
  Effect.gen(function* () {
    const account = yield* AccountReference.resolver
    const sign = yield* Submission.signer()

    const { delegationOf, delegators } = yield* reads

    return handlers
      .handle("delegate", ({ payload: { secret_key: key, validator, amount } }) =>
        Effect.flatMap(account("validator", validator), (validator) =>
          sign({ key, operation: { _tag: "DelegateTx", validator, amount } }),
        ),
      )
      .handle("undelegate", ({ payload: { secret_key: key } }) => sign({ key, operation: { _tag: "UndelegateTx" } }))
      .handle("setCommission", ({ payload: { secret_key: key, commission_percent: commissionPercent } }) =>
        sign({ key, operation: { _tag: "SetCommissionTx", commissionPercent } }),
      )
      .handle("delegationOf", delegationOf)
      .handle("delegators", delegators)
  }),
)
