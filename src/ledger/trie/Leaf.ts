/** Up to 32 records in the order of their keys, in one immutable buffer: exactly the bytes that are hashed. */

import type { Hash } from "../../protocol/identity/Hash.js"
import * as Element from "../../protocol/numbers/Element.js"
import * as StateTree from "../../protocol/state/StateTree.js"
import * as Span from "./Span.js"

const HEAD_BYTES = 1

/** A record that replaces the one of the same length at `start`. */
export interface Replacement {
  readonly start: number
  readonly by: Span.Span
}

export class Leaf {
  static readonly EMPTY: Leaf = new Leaf(Uint8Array.of(0))

  readonly encoded: Uint8Array
  #hash: Hash | undefined

  private constructor(encoded: Uint8Array) {
    this.encoded = encoded
  }

  /** The leaf of the sorted spans from `lo` to `hi`, at most 32. */
  static of(spans: ReadonlyArray<Span.Span>, lo: number, hi: number): Leaf {
    if (hi - lo > StateTree.LEAF_RECORDS) throw new RangeError(`a leaf of ${hi - lo} records`)
    if (hi === lo) return Leaf.EMPTY
    const encoded = Span.join(spans, lo, hi, HEAD_BYTES)
    encoded[0] = hi - lo
    return new Leaf(encoded)
  }

  get records(): number {
    return Element.byte(this.encoded, 0)
  }

  /** The size of its records: key, length and value of each. */
  get bytes(): number {
    return this.encoded.length - HEAD_BYTES
  }

  /** Hashed on demand: a running update joins parts of leaves again, and those are never hashed. */
  get hash(): Hash {
    this.#hash ??= StateTree.leafHash(this.encoded)
    return this.#hash
  }

  /** The leaf with the bytes at each `start` replaced. */
  overwritten(replacements: ReadonlyArray<Replacement>): Leaf {
    const encoded = this.encoded.slice()
    for (const { start, by } of replacements) encoded.set(by.bytes.subarray(by.start, by.end), start)
    return new Leaf(encoded)
  }

  spans(): Array<Span.Span> {
    const bytes = this.encoded
    const spans: Array<Span.Span> = []
    for (let start = HEAD_BYTES; start < bytes.length; ) {
      const end = Span.endOf(bytes, start)
      spans.push({ bytes, start, end })
      start = end
    }
    return spans
  }

  find(key: Uint8Array): Span.Span | undefined {
    const bytes = this.encoded
    for (let start = HEAD_BYTES; start < bytes.length; start = Span.endOf(bytes, start)) {
      if (Span.compareKeys(bytes, start, key, 0) === 0) return { bytes, start, end: Span.endOf(bytes, start) }
    }
    return undefined
  }
}
