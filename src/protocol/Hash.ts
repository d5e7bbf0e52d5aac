/** H(tag, bytes) = SHA-256(utf8(tag) ‖ 0x00 ‖ bytes), kept as 64 lower-case hex characters. */

import type { Brand, Schema } from "effect"
import { sha256Hex } from "#crypto"
import type { Reader } from "./Binary.js"
import * as Hex from "./Hex.js"

export type Hash = string & Brand.Brand<"Hash">

export const BYTES = 32

/** Where a chain of hashes begins before anything was hashed. */
export const ZERO = "0".repeat(64) as Hash

/** Every purpose has its own tag, so a hash made for one can never stand in for another. */
export type Tag =
  | "udg/address"
  | "udg/body"
  | "udg/checkpoint-id"
  | "udg/commit"
  | "udg/effects"
  | "udg/genesis"
  | "udg/key"
  | "udg/leader"
  | "udg/leaf"
  | "udg/node"
  | "udg/order"
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

/** `tag ‖ 0x00 ‖ parts`, in one buffer: what is hashed, and in the same form what is signed. */
export const tagged = (prefix: Uint8Array, parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  let length = prefix.length
  for (const part of parts) length += part.length
  const bytes = new Uint8Array(length)
  bytes.set(prefix)
  let offset = prefix.length
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

/** H(tag, parts joined). */
export const of = (tag: Tag, ...parts: ReadonlyArray<Uint8Array>): Hash =>
  sha256Hex(tagged(prefixOf(tag), parts)) as Hash

export const schema: Schema.Schema<Hash, string> = Hex.schema<Hash>("Hash", BYTES, "a hash")

export const read = (reader: Reader): Hash => reader.hex(BYTES) as Hash
