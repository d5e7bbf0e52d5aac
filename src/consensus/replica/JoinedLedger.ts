/** A ledger from a fetched state, with whatever is wrong with it in words. */
import { Either } from "effect"
import type * as HalfSipHash from "../../ledger/HalfSipHash.js"
import { Ledger } from "../../ledger/Ledger.js"
import * as Trie from "../../ledger/trie/Trie.js"
import type { Protocol } from "../../protocol/Genesis.js"
import * as StateRecord from "../../protocol/StateRecord.js"
import type { Fetched } from "./Joining.js"

const recordsOf = (trie: Trie.Trie): Either.Either<ReadonlyArray<StateRecord.StateRecord>, string> => {
  const records: Array<StateRecord.StateRecord> = []
  for (const { value } of Trie.entries(trie)) {
    const record = StateRecord.decode(value)
    if (Either.isLeft(record)) return Either.left(record.left.message)
    records.push(record.right)
  }
  return Either.right(records)
}

/** A quorum signed the root, so nothing should be wrong; a ledger that is must not be gone on with all the same. */
export const of = (
  protocol: Protocol,
  tableKey: HalfSipHash.Key,
  { target, trie }: Fetched,
): Either.Either<Ledger, string> => {
  const { effectsDigest, commitHash } = target.checkpoint
  return recordsOf(trie).pipe(
    Either.flatMap((records) =>
      Either.mapLeft(Ledger.fromRecords(protocol, tableKey, records, effectsDigest), ({ message }) => message),
    ),
    Either.filterOrLeft(
      ({ read }) => read.head.hash === commitHash,
      ({ read }) => `its last commit is ${read.head.hash}, the checkpoint's ${commitHash}`,
    ),
    Either.flatMap((ledger) =>
      Either.mapBoth(ledger.recount(), { onLeft: ({ message }) => message, onRight: () => ledger }),
    ),
  )
}
