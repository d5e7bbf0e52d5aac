/**
 * Applies another ledger's changes to a state at a cost proportional to them. Afterwards the state is read-only: data
 * that only rules need, such as due dates, is not updated.
 */
import { Either } from "effect"
import { toHex } from "#crypto"
import type { MalformedBytes } from "../../protocol/encoding/Binary.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as AccountRecord from "../../protocol/state/AccountRecord.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import type * as Effects from "./Effects.js"
import * as LeavingPools from "./LeavingPools.js"
import * as Pool from "./Pool.js"
import * as Records from "./Records.js"
import type { State } from "./State.js"

/** The living shares that these account changes take out of each leaving pool, by the pool's key. */
const releasedBy = (
  state: State,
  changes: ReadonlyArray<Effects.Change>,
): Either.Either<ReadonlyMap<string, bigint>, MalformedBytes> =>
  Either.gen(function* () {
    const released = new Map<string, bigint>()
    for (const { kind, key, value } of changes) {
      const before = kind === "Account" ? state.livingDelegation(state.accounts.find(toHex(key) as Address)) : null
      if (value === null || before === null || before.leaving === null) continue
      const after = (yield* AccountRecord.decode(value)).delegation
      if (after?.validator === before.validator && after.leaving?.epoch === before.leaving.epoch) continue
      const pool = LeavingPools.keyOf(before.validator, before.leaving.epoch)
      released.set(pool, (released.get(pool) ?? 0n) + before.shares)
    }
    return released
  })

/** Whether this change leaves all delegations of each pool as alive or dead as they are. */
const canFollow = (
  state: State,
  { kind, key, value }: Effects.Change,
  released: ReadonlyMap<string, bigint>,
): Either.Either<boolean, MalformedBytes> => {
  const isOfGeneration =
    ({ generation }: Pool.Pool) =>
    (pool: Pool.Pool) =>
      pool.generation === generation
  switch (kind) {
    // When an epoch closes, all departed delegations of a pool start leaving at once.
    case "Epoch":
      return Either.right(false)
    case "Validator": {
      const before = state.validators.get(toHex(key))?.working ?? Pool.empty
      if (value === null) return Either.right(Pool.isPristine(before))
      return Either.map(Records.decode(Records.validator, value), ({ working }) => isOfGeneration(before)(working))
    }
    case "LeavingPool": {
      const before = state.leavingPools.table.get(toHex(key))
      if (before === undefined) return Either.right(false)
      // A pool is gone when its last share is paid out, or when it is slashed to nothing with all shares still out.
      if (value === null) return Either.right(released.get(toHex(key)) === before.shares)
      return Either.map(Records.decode(Records.leavingPool, value), isOfGeneration(before))
    }
    default:
      return Either.right(value !== null || kind === "Ballot")
  }
}

const followBallot = ({ voters, accounts }: State, key: string, isThere: boolean): void => {
  const [id, voter] = StateKey.partsOfBallot(key)
  const row = accounts.findOrAdd(voter)
  if (isThere) voters.add(id, row)
  else
    voters.set(
      id,
      voters.of(id).filter((other) => other !== row),
    )
}

/** Returns false, with nothing applied, where only a rebuild from all records would be correct. */
export const follow = (state: State, changes: ReadonlyArray<Effects.Change>): Either.Either<boolean, MalformedBytes> =>
  Either.gen(function* () {
    const released = yield* releasedBy(state, changes)
    for (const change of changes) if (!(yield* canFollow(state, change, released))) return false
    // Accounts come last, because their pools determine whether their delegations are alive.
    for (const { kind, key, value } of changes) {
      if (kind === "Account") continue
      const digits = toHex(key)
      const isNews = kind === "Ballot" && state.ballots.has(digits) !== (value !== null)
      if (value === null) state.drop(kind, digits)
      else yield* state.restore({ kind, key, value })
      if (isNews) followBallot(state, digits, value !== null)
    }
    for (const { kind, key, value } of changes)
      if (value !== null && kind === "Account")
        state.replaceAccount(toHex(key) as Address, yield* AccountRecord.decode(value))
    state.resume()
    return true
  })
