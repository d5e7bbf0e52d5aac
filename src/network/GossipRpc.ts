/**
 * Counts the parts of a gossipsub message without decoding it: the library decodes first and counts later, if at all.
 * Anything that this node's own library does not write is refused.
 */

/** A length of at most four bytes in front of each message, as Protocol Buffers write numbers. */
const MAX_PREFIX_BYTES = 4
const MORE = 0x80
/** The length of a message id: SHA-256. */
const ID_BYTES = 32
/** Longer than each of this network's two topics. */
const TOPIC_BYTES = 128
const VARINT = 0
const BYTES = 2

/** Not a gossipsub message, or one that no node of this program writes. */
export class Malformed extends Error {}

/** The limit of each kind of part in one message. */
export interface Limits {
  readonly bytes: number
  readonly subscriptions: number
  readonly messages: number
  /** Announcements, requests, grafts, prunes. */
  readonly controls: number
  /** Message ids in all announcements and requests. */
  readonly ids: number
}

export type Counts = { [what in Exclude<keyof Limits, "bytes">]: number }

class Cursor {
  readonly #bytes: Uint8Array
  readonly #end: number
  #at: number

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#at = at
    this.#end = end
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end
  }

  varint(): number {
    let [value, factor] = [0, 1]
    for (let i = 0; i < MAX_PREFIX_BYTES + 1; i++) {
      if (this.isAtEnd) break
      const byte = this.#bytes[this.#at++] ?? 0
      value += (byte % MORE) * factor
      if (byte < MORE) return value
      factor *= MORE
    }
    throw new Malformed("a number that does not end")
  }

  /** Returns the number of the next field; fails if it is not of the right kind. */
  field(kindOf: (number: number) => number | undefined): number {
    const tag = this.varint()
    const number = Math.floor(tag / 8)
    if (kindOf(number) !== tag % 8) throw new Malformed(`field ${number}`)
    return number
  }

  inner(): Cursor {
    const start = this.#skip()
    return new Cursor(this.#bytes, start, this.#at)
  }

  /** Skips the field and returns its length. */
  bytes(limit: number): number {
    const start = this.#skip()
    if (this.#at - start > limit) throw new Malformed(`${this.#at - start} bytes, at most ${limit} allowed`)
    return this.#at - start
  }

  #skip(): number {
    const length = this.varint()
    const start = this.#at
    if (length > this.#end - start) throw new Malformed("a field that does not end")
    this.#at = start + length
    return start
  }
}

class Count {
  readonly counts: Counts = { subscriptions: 0, messages: 0, controls: 0, ids: 0 }
  readonly #limits: Limits

  constructor(limits: Limits) {
    this.#limits = limits
  }

  one(what: keyof Counts): void {
    const count = ++this.counts[what]
    if (count > this.#limits[what]) throw new Malformed(`more than ${this.#limits[what]} ${what}`)
  }
}

const kinds =
  (...ofFields: ReadonlyArray<number>) =>
  (number: number): number | undefined =>
    ofFields[number - 1]

const SUBSCRIPTION = kinds(VARINT, BYTES)
// Unsigned: neither author nor number, signature nor key.
const MESSAGE = (number: number) => (number === 2 || number === 4 ? BYTES : undefined)
const RPC = kinds(BYTES, BYTES, BYTES)
const CONTROL = kinds(BYTES, BYTES, BYTES, BYTES, BYTES)
/** Of an announcement, a request, a graft, a prune and a refusal, by their numbers. */
const CONTROLS = [kinds(BYTES, BYTES), kinds(BYTES), kinds(BYTES), kinds(BYTES, BYTES, VARINT), kinds(BYTES)] as const
const [IHAVE, PRUNE] = [1, 4]

const subscription = (cursor: Cursor): void => {
  while (!cursor.isAtEnd) {
    if (cursor.field(SUBSCRIPTION) === 1) cursor.varint()
    else cursor.bytes(TOPIC_BYTES)
  }
}

const message = (cursor: Cursor, limit: number): void => {
  while (!cursor.isAtEnd) cursor.bytes(cursor.field(MESSAGE) === 2 ? limit : TOPIC_BYTES)
}

const topicAndMore = (cursor: Cursor, control: number, count: Count): void => {
  const kindOf = CONTROLS[control - 1] ?? kinds()
  const hasTopic = control === IHAVE || control === 3 || control === PRUNE
  while (!cursor.isAtEnd) {
    const number = cursor.field(kindOf)
    if (control === PRUNE && number === 3) cursor.varint()
    else if (control === PRUNE && number === 2) throw new Malformed("peers to be exchanged")
    else if (hasTopic && number === 1) cursor.bytes(TOPIC_BYTES)
    else {
      count.one("ids")
      if (cursor.bytes(ID_BYTES) !== ID_BYTES) throw new Malformed("a name of no message")
    }
  }
}

/** Counts the parts of one message; fails with `Malformed`. */
export const counted = (bytes: Uint8Array, limits: Limits): Counts => {
  if (bytes.length > limits.bytes) throw new Malformed(`${bytes.length} bytes, at most ${limits.bytes} allowed`)
  const count = new Count(limits)
  const rpc = new Cursor(bytes)
  while (!rpc.isAtEnd) {
    const field = rpc.field(RPC)
    const inner = rpc.inner()
    if (field === 1) {
      count.one("subscriptions")
      subscription(inner)
    } else if (field === 2) {
      count.one("messages")
      message(inner, limits.bytes)
    } else {
      while (!inner.isAtEnd) {
        count.one("controls")
        const control = inner.field(CONTROL)
        topicAndMore(inner.inner(), control, count)
      }
    }
  }
  return count.counts
}

/** The position of the content after a length prefix; undefined if more of the prefix is needed. */
export const headLength = (start: Uint8Array): number | undefined => {
  for (let i = 0; i < MAX_PREFIX_BYTES; i++) {
    const byte = start[i]
    if (byte === undefined) return undefined
    if (byte < MORE) return i + 1
  }
  throw new Malformed("a length that does not end")
}

/** The size of a message with its length prefix. */
export const frameLength =
  (limits: Limits) =>
  (start: Uint8Array): number | undefined => {
    const head = headLength(start)
    if (head === undefined) return undefined
    const length = new Cursor(start).varint()
    if (length > limits.bytes) throw new Malformed(`${length} bytes, at most ${limits.bytes} allowed`)
    return head + length
  }
