/**
 * The accounts: millions of them. Balance and nonce live in typed arrays under a dense row number, found by open
 * addressing over the twenty bytes of the address; what few accounts have lies in a sparse map of immutable values.
 *
 * Invariants: rows are never removed or renumbered; every address has at most one row; a row of zeros without extras is
 * no record. `touched` holds each row changed since the commit began exactly once, with what it was before.
 */
// biome-ignore lint/style/noRestrictedImports: chance decides only where in memory a row lies, no result depends on it
import { fromHex, randomBytes } from "#crypto"
import * as AccountRecord from "../protocol/AccountRecord.js"
import type { Address } from "../protocol/Address.js"
import type * as Binary from "../protocol/Binary.js"
import type { Nonce } from "../protocol/Counter.js"
import * as Sats from "../protocol/Sats.js"
import { KINDS } from "../protocol/StateKey.js"
import type { StateRecord } from "../protocol/StateRecord.js"
import type { Collector } from "./Effects.js"
import { isSameBytes } from "./Table.js"

/** A row number. */
export type Row = number

export const NONE: Row = -1

const WORDS = 5
const INITIAL_ROWS = 1024

/** A row is 48 bytes side by side, so that touching an account costs one cache line or two. */
const ROW_WORDS = 12
const ROW_DOUBLES = 6
/** Words of a row: the address in the first five, the commit that last touched the row, the marks. */
const STAMP = 5
const MARKS = 6
/** Doubles of a row. */
const BALANCE = 4
const NONCE = 5

const NIBBLE = new Uint8Array(128)
for (let i = 0; i < 16; i++) NIBBLE[i.toString(16).charCodeAt(0)] = i

/** Scratch for the address being looked up, as five big-endian words. */
const probe = new Uint32Array(WORDS)

const readAddress = (address: Address): void => {
  for (let word = 0; word < WORDS; word++) {
    let value = 0
    for (let i = word * 8; i < word * 8 + 8; i++) value = (value << 4) | (NIBBLE[address.charCodeAt(i)] ?? 0)
    probe[word] = value
  }
}

const hexOfWord = (word: number): string => word.toString(16).padStart(8, "0")

/** An account's bytes at a checkpoint; null when it held nothing. */
export interface FrozenAccount {
  readonly address: Address
  readonly value: Uint8Array | null
}

/** Accounts that changed since the last checkpoint, with the values they had at it, while the table moves on. */
export interface FrozenAccounts extends Iterable<FrozenAccount> {
  readonly size: number
}

/** Marks of a row: changed since the last checkpoint; awaited by the open freeze. */
const DIRTY = 1
const FROZEN = 2

/** Where the value begins in a change: behind kind, address, presence and length. */
const VALUE_AT = 26
/** The change of an account without extras, filled in for each: tens of thousands of them may be written at once. */
const plainChange = new Uint8Array(VALUE_AT + AccountRecord.PLAIN_BYTES)
const change = new DataView(plainChange.buffer)
const changeHead = plainChange.subarray(0, 21)
plainChange[0] = KINDS.Account.byte
plainChange[21] = 1
change.setUint32(22, AccountRecord.PLAIN_BYTES, true)

const setCounter = (offset: number, value: number): void => {
  const low = value >>> 0
  change.setUint32(offset, low, true)
  // Exact: a multiple of 2^32 times a power of two.
  change.setUint32(offset + 4, (value - low) * 2 ** -32, true)
}

/** Of rows that one commit may touch and still be sorted by one number each. */
const POSITIONS = 2 ** 21

const encoded = (record: AccountRecord.AccountRecord): Uint8Array | null =>
  AccountRecord.isEmpty(record) ? null : AccountRecord.encode(record)

export class Accounts {
  #count = 0
  #capacity = INITIAL_ROWS
  #words = new Uint32Array(INITIAL_ROWS * ROW_WORDS)
  /** The same rows, as doubles. */
  #doubles = new Float64Array(this.#words.buffer)
  /** Row + 1, 0 where free; at most half of the slots are taken. */
  #slots = new Uint32Array(INITIAL_ROWS * 2)
  readonly #extras = new Map<Row, AccountRecord.Extras>()
  readonly #seed: number

  #stamp = 1
  #touched: Array<Row> = []
  #balancesBefore: Array<Sats.Sats> = []
  #noncesBefore: Array<Nonce> = []
  readonly #extrasBefore = new Map<Row, AccountRecord.Extras>()

  #dirty: Array<Row> = []
  /** Rows of the latest freeze that changed before they were taken, as they were. */
  #captured = new Map<Row, AccountRecord.AccountRecord>()
  /** Captures whatever the latest freeze has not taken yet. */
  #settle: () => void = () => {}

  /**
   * The seed decides only in which slot a row lies, so that nobody can choose addresses that all fall into one place. No
   * result depends on it.
   */
  constructor(seed: number = new DataView(randomBytes(4).buffer).getUint32(0)) {
    this.#seed = seed
  }

  /** How many rows there are; a few may be without a record. */
  get size(): number {
    return this.#count
  }

  #hash(): number {
    let hash = this.#seed
    for (let i = 0; i < WORDS; i++) {
      hash = Math.imul(hash ^ (probe[i] ?? 0), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    hash = Math.imul(hash, 0x85ebca77)
    return (hash ^ (hash >>> 13)) >>> 0
  }

  #isAt(row: Row): boolean {
    const words = this.#words
    const start = row * ROW_WORDS
    for (let i = 0; i < WORDS; i++) if (words[start + i] !== probe[i]) return false
    return true
  }

  /** The slot of the address in `probe`, or the free one where it belongs. */
  #slotOfProbe(): number {
    const mask = this.#slots.length - 1
    let slot = this.#hash() & mask
    for (;;) {
      const held = this.#slots[slot] ?? 0
      if (held === 0 || this.#isAt(held - 1)) return slot
      slot = (slot + 1) & mask
    }
  }

  find(address: Address): Row {
    readAddress(address)
    return (this.#slots[this.#slotOfProbe()] ?? 0) - 1
  }

  /** The row of the address; a new one holds nothing. */
  findOrAdd(address: Address): Row {
    readAddress(address)
    const slot = this.#slotOfProbe()
    const held = this.#slots[slot] ?? 0
    if (held !== 0) return held - 1
    const row = this.#count++
    this.#words.set(probe, row * ROW_WORDS)
    this.#slots[slot] = row + 1
    if (this.#count === this.#capacity) this.reserve(this.#capacity * 2)
    return row
  }

  /** Makes room for this many rows. */
  reserve(capacity: number): void {
    if (capacity <= this.#capacity) return
    const words = new Uint32Array(capacity * ROW_WORDS)
    words.set(this.#words)
    this.#words = words
    this.#doubles = new Float64Array(words.buffer)
    this.#capacity = capacity
    let slots = this.#slots.length
    while (slots < capacity * 2) slots *= 2
    this.#slots = new Uint32Array(slots)
    for (let row = 0; row < this.#count; row++) {
      probe.set(this.#words.subarray(row * ROW_WORDS, row * ROW_WORDS + WORDS))
      this.#slots[this.#slotOfProbe()] = row + 1
    }
  }

  addressOf(row: Row): Address {
    let text = ""
    for (let i = 0; i < WORDS; i++) text += hexOfWord(this.#words[row * ROW_WORDS + i] ?? 0)
    return text as Address
  }

  balance(row: Row): Sats.Sats {
    return row === NONE ? Sats.ZERO : ((this.#doubles[row * ROW_DOUBLES + BALANCE] ?? 0) as Sats.Sats)
  }

  nonce(row: Row): Nonce {
    return (row === NONE ? 0 : (this.#doubles[row * ROW_DOUBLES + NONCE] ?? 0)) as Nonce
  }

  extras(row: Row): AccountRecord.Extras {
    return this.#extras.get(row) ?? AccountRecord.noExtras
  }

  record(row: Row): AccountRecord.AccountRecord {
    const { publicKey, stake, delegation, policy, name, isCouncilMember } = this.extras(row)
    const balance = this.balance(row)
    return { balance, nonce: this.nonce(row), publicKey, stake, delegation, policy, name, isCouncilMember }
  }

  setBalance(row: Row, balance: Sats.Sats): void {
    this.#touch(row)
    this.#doubles[row * ROW_DOUBLES + BALANCE] = balance
  }

  setNonce(row: Row, nonce: Nonce): void {
    this.#touch(row)
    this.#doubles[row * ROW_DOUBLES + NONCE] = nonce
  }

  setExtras(row: Row, extras: AccountRecord.Extras): void {
    this.#touch(row)
    if (!this.#extrasBefore.has(row)) this.#extrasBefore.set(row, this.extras(row))
    if (AccountRecord.hasExtras(extras)) this.#extras.set(row, extras)
    else this.#extras.delete(row)
  }

  #touch(row: Row): void {
    if (this.#words[row * ROW_WORDS + STAMP] === this.#stamp) return
    this.#words[row * ROW_WORDS + STAMP] = this.#stamp
    this.#touched.push(row)
    this.#balancesBefore.push(this.balance(row))
    this.#noncesBefore.push(this.nonce(row))
    if ((this.#words[row * ROW_WORDS + MARKS] ?? 0) & FROZEN) this.#capture(row)
  }

  /** Keeps for the latest freeze what the row is before it changes. */
  #capture(row: Row): void {
    this.#captured.set(row, this.record(row))
    this.#words[row * ROW_WORDS + MARKS] = (this.#words[row * ROW_WORDS + MARKS] ?? 0) & ~FROZEN
  }

  #compare(a: Row, b: Row): number {
    const words = this.#words
    for (let i = 0; i < WORDS; i++) {
      const difference = (words[a * ROW_WORDS + i] ?? 0) - (words[b * ROW_WORDS + i] ?? 0)
      if (difference !== 0) return difference
    }
    return 0
  }

  /** The positions in `touched`, by address. */
  #touchedByAddress(): Float64Array | ReadonlyArray<number> {
    const touched = this.#touched
    const words = this.#words
    // One number holds the address's first word and the position: typed arrays sort five times as fast as comparators.
    if (touched.length > POSITIONS) return this.#touchedCompared()
    const keys = new Float64Array(touched.length)
    for (let i = 0; i < keys.length; i++) keys[i] = (words[(touched[i] ?? 0) * ROW_WORDS] ?? 0) * POSITIONS + i
    keys.sort()
    let before = -1
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] ?? 0
      const position = key % POSITIONS
      // Two addresses share their first word: rare by chance, cheap to grind on purpose.
      if (key - position === before) return this.#touchedCompared()
      before = key - position
      keys[i] = position
    }
    return keys
  }

  #touchedCompared(): ReadonlyArray<number> {
    const touched = this.#touched
    return [...touched.keys()].sort((a, b) => this.#compare(touched[a] ?? 0, touched[b] ?? 0))
  }

  #hasChanged(position: number, row: Row): boolean {
    if (this.#balancesBefore[position] !== this.#doubles[row * ROW_DOUBLES + BALANCE]) return true
    if (this.#noncesBefore[position] !== this.#doubles[row * ROW_DOUBLES + NONCE]) return true
    const before = this.#extrasBefore.get(row)
    const after = this.extras(row)
    if (before === undefined || before === after) return false
    const rest = { balance: this.balance(row), nonce: this.nonce(row) }
    return !isSameBytes(AccountRecord.encode({ ...before, ...rest }), AccountRecord.encode({ ...after, ...rest }))
  }

  #collectRow(row: Row, writer: Binary.Writer): void {
    for (let i = 0; i < WORDS; i++) change.setUint32(1 + 4 * i, this.#words[row * ROW_WORDS + i] ?? 0)
    if (this.#extras.has(row)) {
      const value = AccountRecord.encode(this.record(row))
      writer.raw(changeHead).boolean(true).u32(value.length).raw(value)
      return
    }
    const balance = this.balance(row)
    const nonce = this.nonce(row)
    if (balance === 0 && nonce === 0) {
      writer.raw(changeHead).boolean(false)
      return
    }
    setCounter(VALUE_AT, balance)
    setCounter(VALUE_AT + 8, nonce)
    writer.raw(plainChange)
  }

  /** Ends a commit: hands over the accounts whose bytes differ from those it began with. */
  collect(collector: Collector): void {
    for (const position of this.#touchedByAddress()) {
      const row = this.#touched[position] ?? NONE
      if (!this.#hasChanged(position, row)) continue
      this.#collectRow(row, collector.begin())
      const marks = this.#words[row * ROW_WORDS + MARKS] ?? 0
      if (marks & DIRTY) continue
      this.#words[row * ROW_WORDS + MARKS] = marks | DIRTY
      this.#dirty.push(row)
    }
    this.#stamp++
    this.#touched = []
    this.#balancesBefore = []
    this.#noncesBefore = []
    this.#extrasBefore.clear()
  }

  /**
   * Between commits: what changed since the last time this was asked, with the values of now. Rows are read when they
   * are taken; one that changes earlier is captured first, and all are before another freeze begins.
   */
  freeze(): FrozenAccounts {
    this.#settle()
    const rows = this.#dirty
    const captured = new Map<Row, AccountRecord.AccountRecord>()
    let taken = 0
    this.#dirty = []
    this.#captured = captured
    for (const row of rows) this.#words[row * ROW_WORDS + MARKS] = FROZEN
    this.#settle = () => {
      for (const row of rows.slice(taken)) if (!captured.has(row)) this.#capture(row)
    }
    const take = (row: Row): FrozenAccount => {
      if (!captured.has(row)) this.#capture(row)
      const value = encoded(captured.get(row) ?? AccountRecord.empty)
      captured.delete(row)
      return { address: this.addressOf(row), value }
    }
    return {
      size: rows.length,
      *[Symbol.iterator]() {
        for (; taken < rows.length; taken++) yield take(rows[taken] ?? NONE)
      },
    }
  }

  /** Puts back a record that another ledger wrote; it counts as unchanged. */
  restore(address: Address, record: AccountRecord.AccountRecord): Row {
    const row = this.findOrAdd(address)
    const { balance, nonce, ...extras } = record
    this.#doubles[row * ROW_DOUBLES + BALANCE] = balance
    this.#doubles[row * ROW_DOUBLES + NONCE] = nonce
    if (AccountRecord.hasExtras(extras)) this.#extras.set(row, extras)
    return row
  }

  /** Between commits. */
  *records(): Generator<StateRecord> {
    for (let row = 0; row < this.#count; row++) {
      const value = encoded(this.record(row))
      if (value !== null) yield { kind: "Account", key: fromHex(this.addressOf(row)), value }
    }
  }
}
