/**
 * The records that changed between two freezes, with the values they had at the second: the batch that turns the trie of
 * the one into that of the other. Whoever iterates may pause while later commits go on: it never sees them.
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

/** Every record is given once, with its place in the trie; null for one that is gone. Read it once. */
export class Frozen implements Iterable<Change> {
  /** How many records there are in all. */
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
