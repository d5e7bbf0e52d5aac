/** The values of records, decoded and encoded again. */
import { Either } from "effect"
import * as Records from "../../src/ledger/tables/Records.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import type * as StateKey from "../../src/protocol/state/StateKey.js"
import type { StateRecord } from "../../src/protocol/state/StateRecord.js"

const recode =
  <V>(codec: Records.Codec<V>) =>
  (bytes: Uint8Array): Uint8Array | undefined =>
    Either.getOrUndefined(
      Either.map(Records.decode(codec, bytes), (value) => Binary.encode((writer) => codec.write(writer, value))),
    )

const recoders: { readonly [K in StateKey.Kind]: (bytes: Uint8Array) => Uint8Array | undefined } = {
  Account: (bytes) => Either.getOrUndefined(Either.map(AccountRecord.decode(bytes), AccountRecord.encode)),
  Validator: recode(Records.validator),
  Proposal: recode(Records.proposal),
  Ballot: recode(Records.ballot),
  Parameters: recode(Records.parameters),
  Totals: recode(Records.totals),
  Head: recode(Records.head),
  Epoch: recode(Records.epoch),
  Presence: recode(Records.presence),
  Minted: recode(Records.minted),
  RecentCommit: recode(Records.recentCommit),
  Slashed: recode(Records.slashed),
  LeavingPool: recode(Records.leavingPool),
  Upgrade: recode(Records.upgrade),
  SigningKey: recode(Records.signingKey),
}

/** Undefined where the bytes are refused. */
export const again = ({ kind, value }: Pick<StateRecord, "kind" | "value">): Uint8Array | undefined =>
  recoders[kind](value)
