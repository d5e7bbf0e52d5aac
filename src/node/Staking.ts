/** Stakes, delegations and who validates, finalized. */
import { Context, Effect, Layer, Option } from "effect"
import type { DelegationDetails, DelegatorList, StakeDetails } from "../ledger/Reads.js"
import type { Address } from "../protocol/Address.js"
import * as Sats from "../protocol/Sats.js"
import { Engine } from "./Engine.js"

export interface Totals {
  /** Own stakes and delegations together. */
  readonly staked: Sats.Sats
  /** Active stakes among the 100 largest. */
  readonly activeValidators: number
}

export class Staking extends Context.Tag("udg/Staking")<
  Staking,
  {
    readonly totals: Effect.Effect<Totals>
    /** Zeros for who never staked. */
    readonly stake: (address: Address) => Effect.Effect<StakeDetails>
    /** Everybody with stake, largest effective stake first. */
    readonly validators: (limit: number) => Effect.Effect<ReadonlyArray<StakeDetails>>
    readonly delegation: (address: Address) => Effect.Effect<Option.Option<DelegationDetails>>
    /** Largest first; nobody for a non-validator. */
    readonly delegators: (validator: Address, limit: number) => Effect.Effect<DelegatorList>
  }
>() {}

export const layer: Layer.Layer<Staking, never, Engine> = Layer.effect(
  Staking,
  Effect.map(Engine, ({ look }) =>
    Staking.of({
      totals: look(({ read }) => ({
        staked: Sats.add(read.totals.staked, read.totals.delegated),
        activeValidators: read.activeValidatorCount,
      })),
      stake: (address) => look(({ read }) => read.stake(address)),
      validators: (limit) => look(({ read }) => read.validators(limit)),
      delegation: (address) => look(({ read }) => Option.fromNullable(read.delegation(address))),
      delegators: (validator, limit) => look(({ read }) => read.delegators(validator, limit)),
    }),
  ),
)
