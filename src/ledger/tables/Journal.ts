/**
 * The rows that a commit has touched, with their earlier values. The next commit reuses the memory.
 *
 * Invariant: each row has one entry, and entries are numbered in order of arrival.
 */
import * as Element from "../../protocol/numbers/Element.js"
import type { Nonce } from "../../protocol/numbers/Natural.js"
import type { Sats } from "../../protocol/numbers/Sats.js"
import { type AccountRows, BALANCE, NONCE, type Row } from "./AccountRows.js"
import * as Order from "./Order.js"

const INITIAL_ENTRIES = 64
/** More memory than this, beyond the needs of a usual commit, is freed. */
const KEPT_ENTRIES = 65_536

const resized = <A extends Uint32Array | Float64Array>(from: A, into: A, length: number): A => {
  into.set(from.subarray(0, length))
  return into
}

export class Journal {
  readonly #accounts: AccountRows
  #length = 0
  #rows = new Uint32Array(INITIAL_ENTRIES)
  #firstWords = new Uint32Array(INITIAL_ENTRIES)
  #balances = new Float64Array(INITIAL_ENTRIES)
  #nonces = new Float64Array(INITIAL_ENTRIES)

  constructor(accounts: AccountRows) {
    this.#accounts = accounts
  }

  get length(): number {
    return this.#length
  }

  add(row: Row): void {
    if (this.#length === this.#rows.length) this.#allot(this.#length * 2)
    const entry = this.#length++
    this.#rows[entry] = row
    this.#firstWords[entry] = this.#accounts.word(row, 0)
    this.#balances[entry] = this.#accounts.double(row, BALANCE)
    this.#nonces[entry] = this.#accounts.double(row, NONCE)
  }

  /** Resizes to this many entries and keeps the existing ones. */
  #allot(entries: number): void {
    this.#rows = resized(this.#rows, new Uint32Array(entries), this.#length)
    this.#firstWords = resized(this.#firstWords, new Uint32Array(entries), this.#length)
    this.#balances = resized(this.#balances, new Float64Array(entries), this.#length)
    this.#nonces = resized(this.#nonces, new Float64Array(entries), this.#length)
  }

  rowAt(entry: number): Row {
    return Element.word(this.#rows, entry)
  }

  balanceAt(entry: number): Sats {
    return Element.double(this.#balances, entry) as Sats
  }

  nonceAt(entry: number): Nonce {
    return Element.double(this.#nonces, entry) as Nonce
  }

  sorted(): Uint32Array {
    const order = Order.byWords(this.#firstWords, this.#length)
    // Two addresses share their first word: rare by chance, but cheap to produce on purpose.
    for (let start = 0; start < order.length; ) {
      let end = start + 1
      while (end < order.length && this.#firstWordAt(order, end) === this.#firstWordAt(order, start)) end++
      if (end - start > 1) {
        order.subarray(start, end).sort((a, b) => this.#accounts.compare(this.rowAt(a), this.rowAt(b)))
      }
      start = end
    }
    return order
  }

  #firstWordAt(order: Uint32Array, at: number): number {
    return Element.word(this.#firstWords, Element.word(order, at))
  }

  rowsOf(entries: Uint32Array): Int32Array {
    const rows = new Int32Array(entries.length)
    for (let i = 0; i < entries.length; i++) rows[i] = this.rowAt(Element.word(entries, i))
    return rows
  }

  clear(): void {
    this.#length = 0
    if (this.#rows.length > KEPT_ENTRIES) this.#allot(INITIAL_ENTRIES)
  }
}
