/** A record in a larger buffer: key ‖ u16 length ‖ value. It moves between leaves, batches and messages undecoded. */

import { toHex } from "#crypto"
import type { Hash } from "../../protocol/identity/Hash.js"
import * as Element from "../../protocol/numbers/Element.js"
import * as StateTree from "../../protocol/state/StateTree.js"

export interface Span {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

const KEY_BYTES = 32

/** The length field of the record that begins at `start`. */
export const lengthAt = (bytes: Uint8Array, start: number): number =>
  Element.byte(bytes, start + KEY_BYTES) | (Element.byte(bytes, start + KEY_BYTES + 1) << 8)

export const endOf = (bytes: Uint8Array, start: number): number =>
  start + StateTree.RECORD_HEADER_BYTES + lengthAt(bytes, start)

export const compareKeys = (a: Uint8Array, aStart: number, b: Uint8Array, bStart: number): number => {
  for (let i = 0; i < KEY_BYTES; i++) {
    // A truncated message can end within a key; its reader has recorded the failure and continues.
    const difference = (a[aStart + i] ?? 0) - (b[bStart + i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** The turn that the key at `start` takes below `depth` bits: false is left. */
export const turnsRight = (bytes: Uint8Array, start: number, depth: number): boolean =>
  ((Element.byte(bytes, start + (depth >>> 3)) >>> (7 - (depth & 7))) & 1) === 1

/** The first of the spans, sorted and equal in their first `depth` bits, that turns right; `hi` if none does. */
export const boundary = (spans: ReadonlyArray<Span>, lo: number, hi: number, depth: number): number => {
  let from = lo
  let to = hi
  while (from < to) {
    const middle = (from + to) >>> 1
    const span = spans[middle]
    if (span === undefined || turnsRight(span.bytes, span.start, depth)) to = middle
    else from = middle + 1
  }
  return from
}

export const isEqual = (a: Span, b: Span): boolean => {
  const length = a.end - a.start
  if (b.end - b.start !== length) return false
  for (let i = 0; i < length; i++) if (a.bytes[a.start + i] !== b.bytes[b.start + i]) return false
  return true
}

const lengthOf = (spans: ReadonlyArray<Span>, lo: number, hi: number): number => {
  let length = 0
  for (let i = lo; i < hi; i++) {
    const span = spans[i]
    if (span !== undefined) length += span.end - span.start
  }
  return length
}

/** The spans from `lo` to `hi`, concatenated after `head` free bytes. */
export const join = (spans: ReadonlyArray<Span>, lo: number, hi: number, head: number): Uint8Array => {
  const joined = new Uint8Array(head + lengthOf(spans, lo, hi))
  let at = head
  for (let i = lo; i < hi; ) {
    const first = spans[i]
    if (first === undefined) break
    let end = first.end
    i++
    // Neighbours move together: one copy per run makes a leaf with one change cheap.
    for (let next = spans[i]; i < hi && next?.bytes === first.bytes && next.start === end; next = spans[++i]) {
      end = next.end
    }
    joined.set(first.bytes.subarray(first.start, end), at)
    at += end - first.start
  }
  return joined
}

/** Copies, so that no caller holds a view into the bytes of a leaf. */
export const copyValue = ({ bytes, start, end }: Span): Uint8Array =>
  bytes.slice(start + StateTree.RECORD_HEADER_BYTES, end)

export const toEntry = (span: Span): StateTree.Entry => ({
  key: toHex(span.bytes.subarray(span.start, span.start + KEY_BYTES)) as Hash,
  value: copyValue(span),
})
