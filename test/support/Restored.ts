/** A ledger from another ledger's records, in any order. */
import { Either } from "effect"
import { Ledger } from "../../src/ledger/Ledger.js"
import type { MalformedBytes } from "../../src/protocol/encoding/Binary.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import type { StateRecord } from "../../src/protocol/state/StateRecord.js"

export const fromRecords = (
  protocol: Parameters<typeof Ledger.restoring>[0],
  tableKey: Parameters<typeof Ledger.restoring>[1],
  records: Iterable<StateRecord>,
  effectsDigest: Hash,
): Either.Either<Ledger, MalformedBytes> => {
  const restoring = Ledger.restoring(protocol, tableKey)
  for (const record of records) {
    const read = restoring.record(record)
    if (Either.isLeft(read)) return Either.left(read.left)
  }
  return restoring.finish(effectsDigest)
}
