/**
 * The records of one kind, by key in hex. Values are immutable, so keeping an earlier value takes only a reference, and
 * the table can list the changes of a commit, or since the last freeze, without copying.
 */
import { Either } from "effect"
import { fromHex } from "#crypto"
import type * as Binary from "../../protocol/encoding/Binary.js"
import type { Kind } from "../../protocol/state/StateKey.js"
import type { StateRecord } from "../../protocol/state/StateRecord.js"
import type { Collector } from "./Effects.js"
import { type Codec, decode, encode } from "./Records.js"

/** The value of a record that changed before a checkpoint, not yet encoded. */
export interface FrozenRow {
  readonly kind: Kind
  readonly key: string
  readonly encode: () => Uint8Array | null
}

/** Where a table keeps its records: a map, unless strangers can create millions of them. */
export interface Rows<V> {
  readonly size: number
  get(key: string): V | undefined
  has(key: string): boolean
  set(key: string, value: V): void
  delete(key: string): void
  keys(): IterableIterator<string>
  entries(): IterableIterator<[string, V]>
}

/** For two different keys. */
const compareText = (a: string, b: string): number => (a < b ? -1 : 1)

export const isSameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i])

export class Table<V> {
  readonly #codec: Codec<V>
  readonly #rows: Rows<V>
  /** The earlier value of every row touched since the commit began. */
  readonly #before = new Map<string, V | undefined>()
  /** Every row changed since the last freeze. */
  #dirty = new Set<string>()

  constructor(codec: Codec<V>, rows: Rows<V> = new Map<string, V>()) {
    this.#codec = codec
    this.#rows = rows
  }

  get kind(): Kind {
    return this.#codec.kind
  }

  get size(): number {
    return this.#rows.size
  }

  get(key: string): V | undefined {
    return this.#rows.get(key)
  }

  has(key: string): boolean {
    return this.#rows.has(key)
  }

  /** In no particular order. Callers whose result depends on the order must sort. */
  entries(): IterableIterator<[string, V]> {
    return this.#rows.entries()
  }

  keys(): IterableIterator<string> {
    return this.#rows.keys()
  }

  set(key: string, value: V): void {
    this.#remember(key)
    this.#rows.set(key, value)
  }

  delete(key: string): void {
    if (!this.#rows.has(key)) return
    this.#remember(key)
    this.#rows.delete(key)
  }

  clear(): void {
    for (const key of [...this.#rows.keys()]) this.delete(key)
  }

  #remember(key: string): void {
    if (!this.#before.has(key)) this.#before.set(key, this.#rows.get(key))
  }

  #encode(value: V | undefined): Uint8Array | null {
    return value === undefined ? null : encode(this.#codec, value)
  }

  /** Ends a commit: returns the rows whose bytes differ from those at its beginning. */
  collect(collector: Collector): void {
    for (const [key, before] of [...this.#before].sort(([a], [b]) => compareText(a, b))) {
      const after = this.#rows.get(key)
      if (after === before) continue
      const value = this.#encode(after)
      const old = this.#encode(before)
      if (value !== null && old !== null && isSameBytes(value, old)) continue
      collector.put(this.#codec.kind, key, value)
      this.#dirty.add(key)
    }
    this.#before.clear()
  }

  /** Between commits: the changes since the last call, with their current values. */
  freeze(): ReadonlyArray<FrozenRow> {
    const rows = [...this.#dirty].map((key) => {
      const value = this.#rows.get(key)
      return { kind: this.#codec.kind, key, encode: () => this.#encode(value) }
    })
    this.#dirty = new Set()
    return rows
  }

  /** Restores a record that another ledger wrote; it counts as unchanged. */
  restore(key: string, bytes: Uint8Array): Either.Either<void, Binary.MalformedBytes> {
    return Either.map(decode(this.#codec, bytes), (value) => {
      this.#rows.set(key, value)
    })
  }

  /** Forgets a record that another ledger deleted; it counts as unchanged. */
  drop(key: string): void {
    this.#rows.delete(key)
  }

  *records(): Generator<StateRecord> {
    for (const [key, value] of this.#rows.entries()) {
      yield { kind: this.#codec.kind, key: fromHex(key), value: encode(this.#codec, value) }
    }
  }
}
