import { Effect } from "effect"
import type { StakeDetails } from "../../ledger/Reads.js"
import { Staking, type Totals } from "../../node/reads/Staking.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type * as Api from "../api/Staking.js"
import * as AccountReference from "./AccountReference.js"
import { group, type Of } from "./Group.js"
import * as SnakeCase from "./SnakeCase.js"
import * as Submission from "./Submission.js"

const VALIDATORS_SHOWN = 500

const detailsOf = (stake: StakeDetails): typeof Api.StakeDetails.Type => ({
  ...SnakeCase.named(stake),
  staked_coin: Sats.toCoin(stake.stakedAmount),
  unstaking: stake.leaving !== null,
  unlock_at_round: stake.leaving?.unlockAtRound ?? null,
  in_committee: stake.isInCommittee,
})

const listOf = (
  validators: ReadonlyArray<StakeDetails>,
  { staked, activeValidators }: Totals,
): typeof Api.ValidatorList.Type => ({
  validators: validators.map((stake) => ({
    address: stake.address,
    effective_stake: stake.effectiveStake,
    commission_percent: stake.commissionPercent,
    delegator_count: stake.delegatorCount,
    is_active: stake.isActiveValidator,
    in_committee: stake.isInCommittee,
  })),
  total_staked: staked,
  active_count: activeValidators,
  max_validators: Limits.COMMITTEE_MEMBERS,
})

export const reads = Effect.gen(function* () {
  const staking = yield* Staking
  const account = yield* AccountReference.resolver

  return {
    stakeOf: ({ path }) => Effect.map(account("address", path.address), (address) => detailsOf(staking.stake(address))),
    validators: () => Effect.sync(() => listOf(staking.validators(VALIDATORS_SHOWN), staking.totals())),
  } satisfies Partial<Of<"staking">>
})

export const layer = group("staking", (handlers) =>
  Effect.gen(function* () {
    const sign = yield* Submission.signer()
    const { stakeOf, validators } = yield* reads

    return handlers
      .handle("stake", ({ payload: { secret_key: key, amount } }) =>
        sign({ key, operation: { _tag: "StakeTx", amount } }),
      )
      .handle("unstake", ({ payload: { secret_key: key } }) => sign({ key, operation: { _tag: "UnstakeTx" } }))
      .handle("stakeOf", stakeOf)
      .handle("validators", validators)
  }),
)
