/** H(tag, bytes) = SHA-256(utf8(tag) ‖ 0x00 ‖ bytes), stored as 64 lower-case hex characters. */

import type { Schema } from "effect"
import { sha256Hex, sha256HexOf } from "#crypto"
import type { Reader } from "../encoding/Binary.js"
import * as Hex from "../encoding/Hex.js"
import * as Slab from "../encoding/Slab.js"
import type * as Kinds from "../numbers/Kinds.js"

export type Hash = Kinds.Hash

export const BYTES = 32

/** The start of a hash chain. */
export const ZERO = "0".repeat(64) as Hash

/** Enough to identify a hash, and harmless if a key was passed by mistake. */
export const short = (hash: Hash): string => `${hash.slice(0, 8)}…`

/** Every purpose has its own tag, so a hash made for one cannot pass for another. */
export type Tag =
  | "udg/address"
  | "udg/body"
  | "udg/changes"
  | "udg/checkpoint-id"
  | "udg/commit"
  | "udg/effects"
  | "udg/genesis"
  | "udg/key"
  | "udg/leader"
  | "udg/leaf"
  | "udg/node"
  | "udg/order"
  | "udg/outcomes"
  | "udg/seed"
  | "udg/tx-id"
  | "udg/verified"
  | "udg/vertex-id"

const encoder = new TextEncoder()
const prefixes = new Map<Tag, Uint8Array>()

const prefixOf = (tag: Tag): Uint8Array => {
  let prefix = prefixes.get(tag)
  if (prefix === undefined) {
    prefix = encoder.encode(`${tag}\0`)
    prefixes.set(tag, prefix)
  }
  return prefix
}

const lengthOf = (parts: ReadonlyArray<Uint8Array>): number => {
  let length = 0
  for (const part of parts) length += part.length
  return length
}

const join = (target: Uint8Array, prefix: Uint8Array, parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  target.set(prefix)
  let offset = prefix.length
  for (const part of parts) {
    target.set(part, offset)
    offset += part.length
  }
  return target
}

/** `tag ‖ 0x00 ‖ parts` in one buffer: the input of hashes and, in the same form, of signatures. */
export const tagged = (prefix: Uint8Array, parts: ReadonlyArray<Uint8Array>): Uint8Array =>
  join(Slab.allot(prefix.length + lengthOf(parts)), prefix, parts)

/** Joined input lives only for the call, and a new buffer costs more than hashing a transaction. */
const scratch = new Uint8Array(4_096)

/** H(tag, parts joined). */
export const of = (tag: Tag, ...parts: ReadonlyArray<Uint8Array>): Hash => {
  const prefix = prefixOf(tag)
  const length = prefix.length + lengthOf(parts)
  if (length > scratch.length) return sha256HexOf([prefix, ...parts]) as Hash
  return sha256Hex(join(scratch.subarray(0, length), prefix, parts)) as Hash
}

export const schema: Schema.Schema<Hash, string> = /* @__PURE__ */ Hex.schema<Hash>("Hash", BYTES, "a hash")

export const read = (reader: Reader): Hash => reader.hex(BYTES) as Hash
