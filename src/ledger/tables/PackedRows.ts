/**
 * The records of one kind as bytes outside the heap, found by a keyed hash. For kinds of which strangers can create
 * millions: a JavaScript map ends at 2^24 entries, and the heap is full before that.
 */
import { Either } from "effect"
import { fromHex, toHex } from "#crypto"
import * as Binary from "../../protocol/encoding/Binary.js"
import { KINDS } from "../../protocol/state/StateKey.js"
import { Cells, type Handle } from "./Cells.js"
import * as HalfSipHash from "./HalfSipHash.js"
import { HashIndex, NO_ENTRY } from "./HashIndex.js"
import { type Codec, decode } from "./Records.js"
import type { Rows } from "./Table.js"

const startsWith = (bytes: Uint8Array, start: Uint8Array): boolean => {
  for (let i = 0; i < start.length; i++) if (bytes[i] !== start[i]) return false
  return true
}

export class PackedRows<V> implements Rows<V> {
  readonly #codec: Codec<V>
  readonly #key: HalfSipHash.Key
  readonly #keyBytes: number
  /** Each holds key ‖ value. */
  readonly #cells: Cells
  readonly #index: HashIndex
  readonly #words: Uint32Array
  readonly #wordBytes: Uint8Array

  /** Cells come in steps of 2^stepBits bytes; 31 steps hold the longest record with its key. */
  constructor(codec: Codec<V>, key: HalfSipHash.Key, stepBits: number) {
    this.#codec = codec
    this.#key = key
    this.#keyBytes = KINDS[codec.kind].keyBytes
    this.#cells = new Cells(stepBits)
    this.#words = new Uint32Array((this.#keyBytes + 3) >>> 2)
    this.#wordBytes = new Uint8Array(this.#words.buffer)
    this.#index = new HashIndex((handle) => this.#hash(this.#cells.get(handle).subarray(0, this.#keyBytes)))
  }

  get size(): number {
    return this.#index.size
  }

  #hash(key: Uint8Array): number {
    this.#wordBytes.set(key)
    return HalfSipHash.ofWords(this.#key, this.#words)
  }

  #find(key: Uint8Array): Handle {
    return this.#index.find(this.#hash(key), (handle) => startsWith(this.#cells.get(handle), key))
  }

  /** This node encoded these bytes, so unreadable ones are a bug. */
  #valueAt(handle: Handle): V {
    const bytes = this.#cells.get(handle).subarray(this.#keyBytes)
    return Either.getOrThrowWith(decode(this.#codec, bytes), (malformed) => malformed)
  }

  get(key: string): V | undefined {
    const handle = this.#find(fromHex(key))
    return handle === NO_ENTRY ? undefined : this.#valueAt(handle)
  }

  has(key: string): boolean {
    return this.#find(fromHex(key)) !== NO_ENTRY
  }

  set(key: string, value: V): void {
    this.delete(key)
    const bytes = fromHex(key)
    const handle = this.#cells.put(Binary.encode((writer) => this.#codec.write(writer.raw(bytes), value)))
    this.#index.add(handle, this.#hash(bytes))
  }

  delete(key: string): void {
    const bytes = fromHex(key)
    const handle = this.#find(bytes)
    if (handle === NO_ENTRY) return
    this.#index.remove(handle, this.#hash(bytes))
    this.#cells.free(handle)
  }

  *keys(): Generator<string> {
    for (const handle of this.#index.entries()) yield toHex(this.#cells.get(handle).subarray(0, this.#keyBytes))
  }

  *entries(): Generator<[string, V]> {
    for (const handle of this.#index.entries()) {
      yield [toHex(this.#cells.get(handle).subarray(0, this.#keyBytes)), this.#valueAt(handle)]
    }
  }
}
