/**
 * The accounts, millions of them. Balance and nonce are in typed rows, found by a keyed hash of the address. Extras,
 * which few accounts have, are bytes in cells, decoded on demand.
 *
 * Invariants: rows are never removed or renumbered; every address has at most one row; a row of zeros without extras
 * has no record. The journal has each row touched since the commit began.
 */

import { Either } from "effect"
import { fromHex } from "#crypto"
import type * as Binary from "../../protocol/encoding/Binary.js"
import * as Slab from "../../protocol/encoding/Slab.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Element from "../../protocol/numbers/Element.js"
import type { Nonce } from "../../protocol/numbers/Natural.js"
import type * as Sats from "../../protocol/numbers/Sats.js"
import * as AccountRecord from "../../protocol/state/AccountRecord.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import * as StateRecord from "../../protocol/state/StateRecord.js"
import type { Change } from "../trie/Trie.js"
import { AccountRows, ADDRESS_WORDS, BALANCE, DIRTY, EXTRAS, NONCE, NONE, type Row, STAMP } from "./AccountRows.js"
import { AddressIndex, LOOKUPS_PER_BATCH } from "./AddressIndex.js"
import { Cells } from "./Cells.js"
import type { Collector } from "./Effects.js"
import type { Frozen } from "./Frozen.js"
import type * as HalfSipHash from "./HalfSipHash.js"
import { Journal } from "./Journal.js"
import type { Recount } from "./Recount.js"
import { isSameBytes } from "./Table.js"

const NIBBLE = new Uint8Array(128)
for (let i = 0; i < 16; i++) NIBBLE[i.toString(16).charCodeAt(0)] = i

/** Scratch for the address being looked up, as five big-endian words. */
const probe = new Uint32Array(ADDRESS_WORDS)
/** Scratch for several addresses. */
const probes = new Uint32Array(LOOKUPS_PER_BATCH * ADDRESS_WORDS)

const readAddress = (address: Address, into: Uint32Array, at: number): void => {
  for (let word = 0; word < ADDRESS_WORDS; word++) {
    let value = 0
    for (let i = word * 8; i < word * 8 + 8; i++) value = (value << 4) | Element.byte(NIBBLE, address.charCodeAt(i))
    into[at + word] = value
  }
}

const hexOfWord = (word: number): string => word.toString(16).padStart(8, "0")

/** Offset of the value in a change: after kind, address, presence and length. */
const VALUE_AT = 26
/** Template for the change of an account without extras, reused because one commit may write tens of thousands. */
const plainChange = new Uint8Array(VALUE_AT + AccountRecord.PLAIN_BYTES)
const change = new DataView(plainChange.buffer)
const changeHead = plainChange.subarray(0, 21)
/** Balance and nonce in the change, and their size. */
const COUNTER_BYTES = 16
const changeCounters = plainChange.subarray(VALUE_AT, VALUE_AT + COUNTER_BYTES)
plainChange[0] = StateKey.KINDS.Account.byte
plainChange[21] = 1
change.setUint32(22, AccountRecord.PLAIN_BYTES, true)

const setCounter = (target: DataView, offset: number, value: number): void => {
  const low = value >>> 0
  target.setUint32(offset, low, true)
  // Exact: a multiple of 2^32 times a power of two.
  target.setUint32(offset + 4, (value - low) * 2 ** -32, true)
}

/** Offset of the value in a record of the trie: after kind and address. */
const PLAIN_VALUE_AT = 21
/** Template for the record of an account without extras, reused because a start reads millions. */
const plainRecord = new Uint8Array(PLAIN_VALUE_AT + AccountRecord.PLAIN_BYTES)
const plain = new DataView(plainRecord.buffer)
const plainAddress = plainRecord.subarray(1, PLAIN_VALUE_AT)
plainRecord[0] = StateKey.KINDS.Account.byte

/** Size at which the cache of decoded extras is cleared. */
const DECODED = 16_384

/** This node encoded the bytes in cells, so unreadable ones are a bug. */
const decoded = (bytes: Uint8Array): AccountRecord.Extras =>
  Either.getOrThrowWith(AccountRecord.decodeExtras(bytes), (malformed) => malformed)

const NO_BYTES = new Uint8Array(0)

export class Accounts {
  readonly #rows = new AccountRows()
  readonly #index: AddressIndex
  readonly #cells = new Cells()
  readonly #decoded = new Map<Row, AccountRecord.Extras>()

  #stamp = 1
  readonly #journal = new Journal(this.#rows)
  /** For touched rows with changed extras: the bytes they had when the commit began. */
  readonly #extrasBefore = new Map<Row, Uint8Array>()

  /**
   * Number of the next freeze. A row's DIRTY word names the freeze that will include it; 0 means unchanged since the
   * last.
   */
  #freezing = 1
  #dirty: Array<Row> = []
  /** Rows of the latest freeze that changed before they were read, with their earlier values. */
  #captured = new Map<Row, Uint8Array | null>()
  /** Captures all rows that the latest freeze has not read yet. */
  #captureRest: () => void = () => {}

  /** The recount that is going over the rows, and how many it has counted. It is told of changes to counted rows. */
  #recount: Recount | undefined
  #counted = 0

  /** The key affects only the slot of a row, so nobody can choose addresses that all collide. */
  constructor(key: HalfSipHash.Key) {
    this.#index = new AddressIndex(key, this.#rows)
  }

  /** Number of rows, including a few without a record. */
  get size(): number {
    return this.#rows.count
  }

  get touched(): number {
    return this.#journal.length
  }

  /** The row of the address, even if empty. */
  find(address: Address): Row | undefined {
    readAddress(address, probe, 0)
    const row = this.#index.find(probe)
    return row === NONE ? undefined : row
  }

  /** The rows of up to `LOOKUPS_PER_BATCH` addresses, in order, `NONE` for unknown ones. Valid until the next call. */
  findAll(addresses: ReadonlyArray<Address>): Int32Array {
    let at = 0
    for (const address of addresses) {
      readAddress(address, probes, at)
      at += ADDRESS_WORDS
    }
    return this.#index.findAll(probes, addresses.length)
  }

  /** The row of the address; adds an empty one if needed. */
  findOrAdd(address: Address): Row {
    return this.find(address) ?? this.#index.add(probe)
  }

  /** This row if it has a record. Rules must not see emptied rows, because a restored node does not have them. */
  recorded(row: Row | undefined): Row | undefined {
    if (row === undefined) return undefined
    const isRecord = this.balance(row) !== 0 || this.nonce(row) !== 0 || this.#rows.word(row, EXTRAS) !== 0
    return isRecord ? row : undefined
  }

  addressOf(row: Row): Address {
    let text = ""
    for (let i = 0; i < ADDRESS_WORDS; i++) text += hexOfWord(this.#rows.word(row, i))
    return text as Address
  }

  compare(a: Row, b: Row): number {
    return this.#rows.compare(a, b)
  }

  balance(row: Row | undefined): Sats.Sats {
    return (row === undefined ? 0 : this.#rows.double(row, BALANCE)) as Sats.Sats
  }

  nonce(row: Row | undefined): Nonce {
    return (row === undefined ? 0 : this.#rows.double(row, NONCE)) as Nonce
  }

  #extrasBytes(row: Row): Uint8Array {
    const handle = this.#rows.word(row, EXTRAS)
    return handle === 0 ? NO_BYTES : this.#cells.get(handle)
  }

  extras(row: Row | undefined): AccountRecord.Extras {
    if (row === undefined || this.#rows.word(row, EXTRAS) === 0) return AccountRecord.noExtras
    return this.#decoded.get(row) ?? this.#remember(row, decoded(this.#extrasBytes(row)))
  }

  #remember(row: Row, extras: AccountRecord.Extras): AccountRecord.Extras {
    if (this.#decoded.size === DECODED) this.#decoded.clear()
    this.#decoded.set(row, extras)
    return extras
  }

  record(row: Row): AccountRecord.AccountRecord {
    const { publicKey, stake, delegation, policy, name, isCouncilMember } = this.extras(row)
    const balance = this.balance(row)
    return { balance, nonce: this.nonce(row), publicKey, stake, delegation, policy, name, isCouncilMember }
  }

  setBalance(row: Row, balance: Sats.Sats): void {
    this.#touch(row)
    if (row < this.#counted) this.#recount?.moved(balance - this.#rows.double(row, BALANCE))
    this.#rows.setDouble(row, BALANCE, balance)
  }

  setNonce(row: Row, nonce: Nonce): void {
    this.#touch(row)
    this.#rows.setDouble(row, NONCE, nonce)
  }

  setExtras(row: Row, extras: AccountRecord.Extras): void {
    this.#touch(row)
    if (row < this.#counted) this.#recount?.exchanged(this.extras(row), extras)
    if (!this.#extrasBefore.has(row)) this.#extrasBefore.set(row, this.#extrasBytes(row).slice())
    this.#writeExtras(row, extras)
  }

  #writeExtras(row: Row, extras: AccountRecord.Extras): void {
    const handle = this.#rows.word(row, EXTRAS)
    if (handle !== 0) this.#cells.free(handle)
    if (AccountRecord.hasExtras(extras)) {
      this.#rows.setWord(row, EXTRAS, this.#cells.put(AccountRecord.encodeExtras(extras)))
      this.#remember(row, extras)
    } else {
      this.#rows.setWord(row, EXTRAS, 0)
      this.#decoded.delete(row)
    }
  }

  #touch(row: Row): void {
    const rows = this.#rows
    if (rows.word(row, STAMP) === this.#stamp) return
    rows.setWord(row, STAMP, this.#stamp)
    this.#journal.add(row)
    const dirty = rows.word(row, DIRTY)
    if (dirty !== 0 && dirty !== this.#freezing) this.#capture(row)
  }

  /** Captures the row for the latest freeze before it changes. */
  #capture(row: Row): void {
    this.#captured.set(row, this.#bytesOf(row))
    this.#rows.setWord(row, DIRTY, 0)
  }

  #bytesOf(row: Row): Uint8Array | null {
    const balance = this.balance(row)
    const nonce = this.nonce(row)
    const extras = this.#extrasBytes(row)
    if (balance === 0 && nonce === 0 && extras.length === 0) return null
    setCounter(change, VALUE_AT, balance)
    setCounter(change, VALUE_AT + 8, nonce)
    if (extras.length === 0) return plainChange.slice(VALUE_AT)
    const bytes = Slab.allot(COUNTER_BYTES + extras.length)
    bytes.set(changeCounters)
    bytes.set(extras, COUNTER_BYTES)
    return bytes
  }

  #hasChanged(entry: number, row: Row): boolean {
    if (this.#journal.balanceAt(entry) !== this.#rows.double(row, BALANCE)) return true
    if (this.#journal.nonceAt(entry) !== this.#rows.double(row, NONCE)) return true
    const before = this.#extrasBefore.get(row)
    return before !== undefined && !isSameBytes(before, this.#extrasBytes(row))
  }

  #collectRow(row: Row, writer: Binary.Writer): void {
    for (let i = 0; i < ADDRESS_WORDS; i++) change.setUint32(1 + 4 * i, this.#rows.word(row, i))
    const extras = this.#extrasBytes(row)
    const balance = this.balance(row)
    const nonce = this.nonce(row)
    if (balance === 0 && nonce === 0 && extras.length === 0) {
      writer.raw(changeHead).boolean(false)
      return
    }
    setCounter(change, VALUE_AT, balance)
    setCounter(change, VALUE_AT + 8, nonce)
    if (extras.length === 0) writer.raw(plainChange)
    else {
      writer
        .raw(changeHead)
        .boolean(true)
        .u32(COUNTER_BYTES + extras.length)
      writer.raw(changeCounters).raw(extras)
    }
  }

  /** Ends a commit: returns the accounts whose bytes differ from those at its beginning. */
  collect(collector: Collector): void {
    const entries = this.#journal.sorted()
    const rows = this.#journal.rowsOf(entries)
    for (let i = 0; i < entries.length; i++) {
      if (i % LOOKUPS_PER_BATCH === 0) this.#rows.fetch(rows, i, Math.min(i + LOOKUPS_PER_BATCH, rows.length))
      this.#collectEntry(Element.word(entries, i), collector)
    }
    this.#stamp++
    this.#journal.clear()
    this.#extrasBefore.clear()
  }

  #collectEntry(entry: number, collector: Collector): void {
    const row = this.#journal.rowAt(entry)
    if (!this.#hasChanged(entry, row)) return
    this.#collectRow(row, collector.begin())
    if (this.#rows.word(row, DIRTY) === this.#freezing) return
    this.#rows.setWord(row, DIRTY, this.#freezing)
    this.#dirty.push(row)
  }

  /** Number of accounts changed since the last freeze. */
  get unfrozen(): number {
    return this.#dirty.length
  }

  /**
   * Between commits: the changes since the last call, with their current values. Rows are read on demand; a row that
   * changes before it is read is captured first. The next freeze captures all unread rows.
   */
  freeze(): Frozen {
    this.#captureRest()
    const rows = this.#dirty
    const captured = new Map<Row, Uint8Array | null>()
    const freeze = this.#freezing++
    let taken = 0
    this.#dirty = []
    this.#captured = captured
    this.#captureRest = () => {
      for (const row of rows.slice(taken)) if (this.#rows.word(row, DIRTY) === freeze) this.#capture(row)
    }
    const take = (row: Row): Change => {
      const held = captured.get(row)
      if (held === undefined) this.#rows.setWord(row, DIRTY, 0)
      const value = held === undefined ? this.#bytesOf(row) : held
      this.#writeAddress(row)
      const key = StateKey.hash("Account", plainAddress)
      return { key, value: value && StateRecord.encode({ kind: "Account", key: plainAddress, value }) }
    }
    return {
      size: rows.length,
      *[Symbol.iterator]() {
        // Counted before it is returned, because the caller may stop iterating.
        while (taken < rows.length) yield take(rows[taken++] ?? NONE)
      },
    }
  }

  /** Starts or continues this recount with up to `rows` rows; true once all are counted. */
  countInto(recount: Recount, rows: number): boolean {
    if (this.#recount !== recount) this.#counted = 0
    this.#recount = recount
    const end = Math.min(this.#counted + rows, this.size)
    for (; this.#counted < end; this.#counted++) {
      const row = this.#counted
      const hasExtras = this.#rows.word(row, EXTRAS) !== 0
      // Decodes afresh: the cache serves the rules, and could hide corrupted bytes in the cells.
      recount.account(this.balance(row), hasExtras ? decoded(this.#extrasBytes(row)) : AccountRecord.noExtras)
    }
    return this.#counted === this.size
  }

  /** Restores a record that another ledger wrote; it counts as unchanged. */
  restore(address: Address, record: AccountRecord.AccountRecord): Row {
    const { balance, nonce, ...extras } = record
    const row = this.restorePlain(address, balance, nonce)
    this.#writeExtras(row, extras)
    return row
  }

  /** Faster, for an account without extras, as nearly all are. */
  restorePlain(address: Address, balance: Sats.Sats, nonce: Nonce): Row {
    const row = this.findOrAdd(address)
    this.#rows.setDouble(row, BALANCE, balance)
    this.#rows.setDouble(row, NONCE, nonce)
    return row
  }

  *withExtras(): Generator<Row> {
    for (let row = 0; row < this.size; row++) if (this.#rows.word(row, EXTRAS) !== 0) yield row
  }

  /** Between commits: every account as the state trie holds it. Each value is valid until the next one is requested. */
  *entries(): Generator<Change> {
    for (let row = 0; row < this.size; row++) {
      this.#writeAddress(row)
      const value = this.#rows.word(row, EXTRAS) === 0 ? this.#plainRecord(row) : this.#recordWithExtras(row)
      if (value !== null) yield { key: StateKey.hash("Account", plainAddress), value }
    }
  }

  /** Puts the address into the scratch. */
  #writeAddress(row: Row): void {
    for (let i = 0; i < ADDRESS_WORDS; i++) plain.setUint32(1 + 4 * i, this.#rows.word(row, i))
  }

  /** Expects the address in the scratch. */
  #plainRecord(row: Row): Uint8Array | null {
    const balance = this.balance(row)
    const nonce = this.nonce(row)
    if (balance === 0 && nonce === 0) return null
    setCounter(plain, PLAIN_VALUE_AT, balance)
    setCounter(plain, PLAIN_VALUE_AT + 8, nonce)
    return plainRecord
  }

  #recordWithExtras(row: Row): Uint8Array | null {
    const value = this.#bytesOf(row)
    return value && StateRecord.encode({ kind: "Account", key: plainAddress, value })
  }

  /** Between commits. */
  *records(): Generator<StateRecord.StateRecord> {
    for (let row = 0; row < this.size; row++) {
      const value = this.#bytesOf(row)
      if (value !== null) yield { kind: "Account", key: fromHex(this.addressOf(row)), value }
    }
  }
}
