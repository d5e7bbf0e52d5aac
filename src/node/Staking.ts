/** Stakes, delegations and who validates, finalized. Plain functions: all of it lies in memory. */
import { Context, Effect, Layer } from "effect"
import type { DelegationDetails, DelegatorList, StakeDetails } from "../ledger/Reads.js"
import type { Address } from "../protocol/Address.js"
import type { CommitIndex } from "../protocol/Counter.js"
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
    /** The commit that everything here is as of. */
    readonly asOf: () => CommitIndex
    readonly totals: () => Totals
    /** Zeros for who never staked. */
    readonly stake: (address: Address) => StakeDetails
    /** Everybody with stake, largest effective stake first. */
    readonly validators: (limit: number) => ReadonlyArray<StakeDetails>
    /** None for who delegates to nobody. */
    readonly delegation: (address: Address) => DelegationDetails | undefined
    /** Largest first; nobody for a non-validator. */
    readonly delegators: (validator: Address, limit: number) => DelegatorList
  }
>() {}

export const layer: Layer.Layer<Staking, never, Engine> = Layer.effect(
  Staking,
  Effect.map(Engine, ({ view }) =>
    Staking.of({
      asOf: () => view.read.head.index,
      totals: () => ({
        staked: Sats.addBounded(view.read.totals.staked, view.read.totals.delegated),
        activeValidators: view.read.activeValidatorCount,
      }),
      stake: (address) => view.read.stake(address),
      validators: (limit) => view.read.validators(limit),
      delegation: (address) => view.read.delegation(address),
      delegators: (validator, limit) => view.read.delegators(validator, limit),
    }),
  ),
)
