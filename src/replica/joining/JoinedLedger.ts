/** Builds a ledger from a fetched state, in slices so that the node keeps running, or reports what is wrong with it. */
import { Either } from "effect"
import { Ledger } from "../../ledger/Ledger.js"
import type * as HalfSipHash from "../../ledger/tables/HalfSipHash.js"
import { Recount } from "../../ledger/tables/Recount.js"
import * as Trie from "../../ledger/trie/Trie.js"
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Protocol } from "../../protocol/epoch/Protocol.js"
import * as StateRecord from "../../protocol/state/StateRecord.js"

/** A state with the root that the target names. */
export interface JoinedState {
  readonly target: SignedCheckpoint
  readonly trie: Trie.Trie
}

type Made = Either.Either<Ledger, string>

/** Records read before yielding the thread. */
const RECORDS_PER_SLICE = 256

/** A quorum signed the root, so the state should be correct; but a wrong ledger must never be used. */
function* making(
  protocol: Protocol,
  tableKey: HalfSipHash.Key,
  { target, trie }: JoinedState,
): Generator<undefined, Made, undefined> {
  const restoring = Ledger.restoring(protocol, tableKey)
  const recount = new Recount()
  let count = 0
  for (const { key, value } of Trie.entries(trie)) {
    const taken = StateRecord.decode(value).pipe(
      Either.mapLeft(({ message }) => message),
      Either.filterOrLeft(
        (record) => StateRecord.placeOf(record) === key,
        ({ kind }) => `a record of kind ${kind} is at the wrong key ${key}`,
      ),
      Either.flatMap((record) =>
        Either.mapLeft(
          Either.flatMap(restoring.record(record), () => recount.add(record)),
          ({ message }) => message,
        ),
      ),
    )
    if (Either.isLeft(taken)) return Either.left(taken.left)
    if (++count % RECORDS_PER_SLICE === 0) yield
  }
  const counted = recount.finish()
  if (Either.isLeft(counted)) return Either.left(counted.left.message)
  const { effectsDigest, commitHash } = target.checkpoint
  return restoring.finish(effectsDigest).pipe(
    Either.mapLeft(({ message }) => message),
    Either.filterOrLeft(
      ({ read }) => read.head.hash === commitHash,
      ({ read }) => `its last commit is ${read.head.hash}, the checkpoint names ${commitHash}`,
    ),
  )
}

export class JoinedLedger {
  readonly #making: ReturnType<typeof making>

  constructor(protocol: Protocol, tableKey: HalfSipHash.Key, state: JoinedState) {
    this.#making = making(protocol, tableKey, state)
  }

  /** Works while `mayContinue` and returns the ledger once built. Do not call again after that. */
  work(mayContinue: () => boolean): Made | undefined {
    try {
      do {
        const { done, value } = this.#making.next()
        if (done === true) return value
      } while (mayContinue())
      return undefined
    } catch (error) {
      // A bug in reading signed data must not end the node.
      return Either.left(`a bug in reading the state: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
