/**
 * The records that changed between two freezes, with their values at the second: the batch that turns the first
 * freeze's trie into the second's. Iteration can pause during later commits and never sees them.
 */
import { fromHex } from "#crypto"
import * as StateKey from "../../protocol/state/StateKey.js"
import * as StateRecord from "../../protocol/state/StateRecord.js"
import type { Change } from "../trie/Trie.js"
import type { FrozenRow } from "./Table.js"

const entry = (kind: StateKey.Kind, hexKey: string, value: Uint8Array | null): Change => {
  const key = fromHex(hexKey)
  return { key: StateKey.hash(kind, key), value: value && StateRecord.encode({ kind, key, value }) }
}

/** Returns every record once, with its place in the trie; null for a deleted one. Can be iterated only once. */
export interface Frozen extends Iterable<Change> {
  readonly size: number
}

export const frozen = (accounts: Frozen, rows: ReadonlyArray<FrozenRow>): Frozen => ({
  size: accounts.size + rows.length,
  *[Symbol.iterator]() {
    yield* accounts
    for (const { kind, key, encode } of rows) yield entry(kind, key, encode())
  },
})
