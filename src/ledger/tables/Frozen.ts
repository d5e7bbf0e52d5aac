/**
 * The records that changed between two freezes, with their values at the second: the batch that turns the trie of the
 * first into that of the second. An iteration may pause while later commits go on: it never sees them.
 */
import { fromHex } from "#crypto"
import * as StateKey from "../../protocol/state/StateKey.js"
import * as StateRecord from "../../protocol/state/StateRecord.js"
import type { Change } from "../trie/Trie.js"
import type { FrozenAccounts } from "./Accounts.js"
import type { FrozenRow } from "./Table.js"

const entry = (kind: StateKey.Kind, hexKey: string, value: Uint8Array | null): Change => {
  const key = fromHex(hexKey)
  return { key: StateKey.hash(kind, key), value: value && StateRecord.encode({ kind, key, value }) }
}

/** Returns every record once, with its place in the trie; null for a deleted one. Read it once. */
export class Frozen implements Iterable<Change> {
  /** The total number of records. */
  readonly size: number
  readonly #accounts: FrozenAccounts
  readonly #rows: ReadonlyArray<FrozenRow>

  constructor(accounts: FrozenAccounts, rows: ReadonlyArray<FrozenRow>) {
    this.size = accounts.size + rows.length
    this.#accounts = accounts
    this.#rows = rows
  }

  *[Symbol.iterator](): Iterator<Change> {
    yield* this.#accounts
    for (const { kind, key, encode } of this.#rows) yield entry(kind, key, encode())
  }
}
