/**
 * The changes of one commit: the records whose value differs from before, by kind byte, then key. Their bytes are
 * chained into the effects digest, so nodes whose states differ by one sat have different digests at the next commit.
 */

import * as Binary from "../../protocol/encoding/Binary.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as AccountRecord from "../../protocol/state/AccountRecord.js"
import { KINDS, type Kind, kindOf } from "../../protocol/state/StateKey.js"

export interface Change {
  readonly kind: Kind
  readonly key: Uint8Array
  /** Null if the record was deleted. */
  readonly value: Uint8Array | null
}

/**
 * The changes as one buffer, decoded only on demand, since a commit can change tens of thousands of accounts. Each is
 * encoded as kind ‖ key ‖ 0 if the record was deleted, otherwise as kind ‖ key ‖ 1 ‖ u32 length ‖ value.
 */
export class Changes implements Iterable<Change> {
  readonly size: number
  readonly encoded: Uint8Array

  constructor(size: number, encoded: Uint8Array) {
    this.size = size
    this.encoded = encoded
  }

  *[Symbol.iterator](): Iterator<Change> {
    const reader = new Binary.Reader(this.encoded)
    while (reader.remaining > 0) {
      const byte = reader.u8()
      const kind = kindOf(byte)
      if (kind === undefined) throw new RangeError(`changes hold a record of kind ${byte}`)
      const key = reader.raw(KINDS[kind].keyBytes)
      yield { kind, key, value: reader.boolean() ? reader.raw(reader.u32()) : null }
    }
  }
}

/** Kind, address, presence, length and value of a changed account without extras. */
const PLAIN_CHANGE_BYTES = 26 + AccountRecord.PLAIN_BYTES
const OTHER_BYTES = 1_024

export class Collector {
  readonly writer: Binary.Writer
  #size = 0

  /** Allocates room for this many changed accounts without extras; a commit changes little else. */
  constructor(accounts: number) {
    this.writer = new Binary.Writer(OTHER_BYTES + accounts * PLAIN_CHANGE_BYTES)
  }

  /** Starts a change whose bytes the caller writes. */
  begin(): Binary.Writer {
    this.#size++
    return this.writer
  }

  put(kind: Kind, key: string, value: Uint8Array | null): void {
    const writer = this.begin()
      .u8(KINDS[kind].byte)
      .hex(key)
      .boolean(value !== null)
    if (value !== null) writer.u32(value.length).raw(value)
  }

  finish(): Changes {
    return new Changes(this.#size, this.writer.written)
  }
}

/** H("udg/effects", previous digest ‖ changes). */
export const digest = (previous: Hash.Hash, changes: Changes): Hash.Hash =>
  Hash.of(
    "udg/effects",
    Binary.encode((writer) => writer.hex(previous)),
    changes.encoded,
  )

/** H("udg/effects", previous ‖ H("udg/changes", changes) ‖ outcomes): each part can be proven without the other. */
export const digestWith = (outcomes: Hash.Hash, previous: Hash.Hash, changes: Changes): Hash.Hash =>
  Hash.of(
    "udg/effects",
    Binary.encode((writer) => writer.hex(previous).hex(Hash.of("udg/changes", changes.encoded)).hex(outcomes)),
  )
