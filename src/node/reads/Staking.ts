/** Finalized stakes, delegations and validators. Everything is in memory; only long lists take time. */
import { Context, Deferred, Duration, Effect, Layer } from "effect"
import type { DelegationDetails, DelegatorList, Reads, StakeDetails } from "../../ledger/Reads.js"
import type { DelegatorSearch } from "../../ledger/rules/DelegatorSearch.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { CommitIndex } from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Slice from "../../turns/Slice.js"
import { Engine } from "../engine/Engine.js"

export interface Totals {
  /** Own stakes and delegations together. */
  readonly staked: Sats.Sats
  /** Active stakes among the 100 largest. */
  readonly activeValidators: number
}

export class Staking extends Context.Tag("udg/Staking")<
  Staking,
  {
    /** The commit as of which everything here holds. */
    readonly asOf: () => CommitIndex
    readonly totals: () => Totals
    /** Zeros for an address that never staked. */
    readonly stake: (address: Address) => StakeDetails
    /** All validators with stake, largest effective stake first. */
    readonly validators: (limit: number) => ReadonlyArray<StakeDetails>
    /** Undefined for an address that delegates nothing. */
    readonly delegation: (address: Address) => DelegationDetails | undefined
    /** Largest first; empty for a non-validator. */
    readonly delegators: (validator: Address, limit: number) => Effect.Effect<DelegatorList>
  }
>() {}

/** The pause between two slices of a search, so that it takes at most half of the thread. */
const PAUSE = Duration.millis(Slice.SLICE_MS)

const inTurns = (search: DelegatorSearch): Effect.Effect<DelegatorSearch> =>
  Effect.gen(function* () {
    while (!search.step(Slice.begin())) yield* Effect.sleep(PAUSE)
    return search
  })

/** Lists of delegators: one search at a time, shared by all callers that ask for the same list meanwhile. */
const makeSearches = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const oneAtATime = yield* Effect.makeSemaphore(1)
  const searching = new Map<string, Deferred.Deferred<DelegatorList>>()

  return (read: Reads, validator: Address, limit: number): Effect.Effect<DelegatorList> => {
    const known = read.knownDelegators(validator, limit)
    if (known !== undefined) return Effect.succeed(known)
    return Effect.gen(function* () {
      const key = `${validator} ${limit}`
      const begun = searching.get(key)
      if (begun !== undefined) return yield* Deferred.await(begun)
      const found = yield* Deferred.make<DelegatorList>()
      searching.set(key, found)
      yield* Effect.suspend(() => inTurns(read.searchDelegators(validator, limit))).pipe(
        oneAtATime.withPermits(1),
        Effect.map((search) => read.listDelegators(search)),
        Effect.ensuring(Effect.sync(() => searching.delete(key))),
        Effect.intoDeferred(found),
        Effect.forkIn(scope),
      )
      return yield* Deferred.await(found)
    })
  }
})

export const layer: Layer.Layer<Staking, never, Engine> = Layer.scoped(
  Staking,
  Effect.gen(function* () {
    const { view } = yield* Engine
    const delegators = yield* makeSearches
    return Staking.of({
      asOf: () => view.read.head.index,
      totals: () => ({
        staked: Sats.addBounded(view.read.totals.staked, view.read.totals.delegated),
        activeValidators: view.read.activeValidatorCount,
      }),
      stake: (address) => view.read.stake(address),
      validators: (limit) => view.read.validators(limit),
      delegation: (address) => view.read.delegation(address),
      delegators: (validator, limit) => delegators(view.read, validator, limit),
    })
  }),
)
