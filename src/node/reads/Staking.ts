/** Finalized stakes, delegations and validators. Everything is in memory; only long lists take time. */
import { Context, Deferred, Duration, Effect, Layer } from "effect"
import type { DelegatorList, Reads } from "../../ledger/Reads.js"
import type { DelegatorSearch } from "../../ledger/rules/DelegatorSearch.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Slice from "../../turns/Slice.js"
import { Engine } from "../engine/Engine.js"

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

export interface View {
  readonly read: Reads
}

export const over = (view: View) =>
  Effect.gen(function* () {
    const delegators = yield* makeSearches
    return {
      /** The commit that all these reads reflect. */
      asOf: () => view.read.head.index,
      /** Own stakes and delegations together, and the active stakes among the 100 largest. */
      totals: () => ({
        staked: Sats.addBounded(view.read.totals.staked, view.read.totals.delegated),
        activeValidators: view.read.activeValidatorCount,
      }),
      /** Zeros for an address that never staked. */
      stake: (address: Address) => view.read.stake(address),
      /** All validators with stake, largest effective stake first. */
      validators: (limit: number) => view.read.validators(limit),
      /** Undefined for an address that delegates nothing. */
      delegation: (address: Address) => view.read.delegation(address),
      /** Largest first; empty for a non-validator. */
      delegators: (validator: Address, limit: number) => delegators(view.read, validator, limit),
    }
  })

export class Staking extends Context.Tag("udg/Staking")<Staking, Effect.Effect.Success<ReturnType<typeof over>>>() {}

export type Totals = ReturnType<(typeof Staking.Service)["totals"]>

export const layer = Layer.scoped(
  Staking,
  Effect.flatMap(Engine, ({ view }) => over(view)),
)
