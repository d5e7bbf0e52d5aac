/**
 * The mempool's core: which transactions wait, in which order they are taken, and which are turned away.
 *
 * A transaction stays from its admission until it is executed, replaced, evicted or an hour old, also while it stands in
 * vertices that are not ordered yet. Fees decide who is taken and who leaves a full pool, except that a tenth of the
 * places is kept for fee-exempt transactions: a paying one never takes those, and a fee-exempt one takes the place of the
 * cheapest paying one while fewer than a tenth are exempt.
 */
import { Either } from "effect"
import { Heap } from "../../collections/Heap.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Execution } from "../rules/Execution.js"
import type { Rejection } from "../rules/Rejection.js"
import * as Choice from "./Choice.js"
import * as Entry from "./Entry.js"
import { Inclusions } from "./Inclusions.js"
import { leavesBefore, Sender } from "./Sender.js"

export const LIFETIME_MS = 3_600_000
/** Each is admitted as if it were the only one, so few of them can turn out to cost nothing and do nothing. */
export const EXEMPT_PER_SENDER = 4

/** Why a transaction is not taken. */
export type Refusal =
  | Rejection
  /** The nonce is pending already; to replace it, at least this fee. */
  | { readonly _tag: "NoncePending"; readonly nonce: Natural.Nonce; readonly minFee: number }
  /** No room: in the whole pool, or for more fee-exempt transactions of this sender. */
  | { readonly _tag: "MempoolFull"; readonly limit: number; readonly of: "pool" | "sender" }
  /** The node is joining. */
  | { readonly _tag: "NotReady" }

/** What the pool asks of the ledger. */
export interface Door {
  readonly admission: (transaction: Transaction, reserved: number) => Rejection | undefined
  /** What it takes from its sender's balance: fee, amount, bond. */
  readonly spending: (transaction: Transaction) => number
  readonly account: (address: Address) => { readonly nonce: Natural.Nonce; readonly balance: Sats.Sats }
}

export interface Received {
  readonly transaction: Transaction
  readonly receivedAt: Natural.Timestamp
}

/** What came in and what left since the last time, for the disk. */
export interface Changes {
  readonly added: ReadonlyArray<Received>
  readonly removed: ReadonlyArray<Hash>
}

/** Ten per cent more and at least one sat; a plain number, since it may be more than all there is. */
const replacementFee = (fee: number): number => fee + Math.max(1, Sats.divideFloor(fee + 9, 10))

/**
 * Invariants: `#entries` holds every entry once, in the order of arrival; a sender is in `#senders` exactly while it has
 * entries; each of its tails lies in its lane's heap exactly while it has an entry there.
 */
export class PendingTransactions {
  readonly #door: Door
  readonly #capacity: number
  readonly #entries = new Map<Hash, Entry.Entry>()
  readonly #senders = new Map<Address, Sender>()
  readonly #leaving = {
    paying: new Heap(leavesBefore),
    exempt: new Heap(leavesBefore),
  }
  readonly #inclusions = new Inclusions()
  #exempt = 0
  #arrivals = 0
  #arrived: Array<Received> = []
  /** Not asked for yet: what came in since `drainWaiting` was asked last, and what was there already. */
  #added = { lately: new Map<Hash, Received>(), before: new Map<Hash, Received>() }
  #removed = new Set<Hash>()

  constructor(door: Door, capacity: number = Limits.MEMPOOL_TRANSACTIONS) {
    this.#door = door
    this.#capacity = capacity
  }

  get size(): number {
    return this.#entries.size
  }

  /** How many transactions stand in vertices that are not ordered yet, pending here or not. */
  get inclusions(): number {
    return this.#inclusions.size
  }

  get(id: Hash): Received | undefined {
    return this.#entries.get(id)
  }

  /** In the order of their nonces. */
  of(sender: Address): ReadonlyArray<Transaction> {
    return this.#senders.get(sender)?.entries.map(({ transaction }) => transaction) ?? []
  }

  /** The nonce to use next: behind the finalized and everything pending that follows on it. */
  nextNonce(sender: Address): Natural.Nonce {
    const known = this.#senders.get(sender)
    return known === undefined ? this.#door.account(sender).nonce : Natural.nonce(known.next + known.reachable)
  }

  /** The first ones in the order in which they are taken. */
  top(limit: number): ReadonlyArray<Received> {
    return Choice.top(this.#senders.values(), limit)
  }

  /** All of them, in the order of arrival: what a restart needs. */
  get all(): Iterable<Received> {
    return this.#entries.values()
  }

  /** What came in since this was asked last. */
  takeArrivals(): ReadonlyArray<Received> {
    const arrived = this.#arrived
    if (arrived.length > 0) this.#arrived = []
    return arrived
  }

  /** What changed since this was asked last; what came and left in between is no part of it. */
  drain(): Changes {
    const added = [...this.#added.before.values(), ...this.#added.lately.values()]
    this.#added = { lately: new Map(), before: new Map() }
    return { added, removed: this.drainRemoved() }
  }

  /** The same, of what came in before this was asked last and is still here; the rest has until the next time. */
  drainWaiting(): Changes {
    const { lately, before } = this.#added
    this.#added = { lately: new Map(), before: lately }
    return { added: [...before.values()], removed: this.drainRemoved() }
  }

  /** What left since this or one of the others was asked last, of what they gave. */
  drainRemoved(): ReadonlyArray<Hash> {
    const removed = [...this.#removed]
    this.#removed = new Set()
    return removed
  }

  get hasChanges(): boolean {
    return this.#added.lately.size + this.#added.before.size + this.#removed.size > 0
  }

  /** A transaction whose signatures hold. The same one again while it is pending is no news and no mistake. */
  submit(
    transaction: Transaction,
    now: Natural.Timestamp,
    round: Natural.Round,
  ): Either.Either<"new" | "known", Refusal> {
    const judged = this.judge(transaction)
    if (Either.isLeft(judged) || judged.right === "known") return judged
    const entry = Entry.make({
      transaction,
      spending: this.#door.spending(transaction),
      receivedAt: now,
      sinceRound: round,
      arrival: this.#arrivals++,
    })
    const replaced = this.#senders.get(transaction.from)?.at(transaction.nonce)
    if (replaced !== undefined) this.#drop(replaced)
    this.#insert(entry)
    this.#note(entry)
    if (this.#evict() === entry) return Either.left({ _tag: "MempoolFull", limit: this.#capacity, of: "pool" })
    return Either.right("new")
  }

  /** What `submit` would make of it as things are, but for room in the pool: known before any signature is looked at. */
  judge(transaction: Transaction): Either.Either<"new" | "known", Refusal> {
    if (this.#entries.has(transaction.id)) return Either.right("known")
    const refusal = this.#refusal(transaction)
    return refusal === undefined ? Either.right("new") : Either.left(refusal)
  }

  #refusal(transaction: Transaction): Refusal | undefined {
    const sender = this.#senders.get(transaction.from)
    const pending = sender?.at(transaction.nonce)
    const reserved = (sender?.spending ?? 0) - (pending?.spending ?? 0)
    const rejection = this.#door.admission(transaction, reserved)
    if (rejection !== undefined) return rejection
    if (pending !== undefined) {
      const minFee = replacementFee(pending.transaction.fee)
      if (transaction.fee < minFee) return { _tag: "NoncePending", nonce: transaction.nonce, minFee }
    }
    if (Entry.laneOf(transaction) === "paying") return undefined
    const others = (sender?.exemptCount ?? 0) - (pending?.lane === "exempt" ? 1 : 0)
    return others < EXEMPT_PER_SENDER ? undefined : { _tag: "MempoolFull", limit: EXEMPT_PER_SENDER, of: "sender" }
  }

  #note(entry: Entry.Entry): void {
    const { id } = entry.transaction
    this.#arrived.push(entry)
    if (!this.#removed.delete(id)) this.#added.lately.set(id, entry)
  }

  #insert(entry: Entry.Entry): void {
    const { from, id } = entry.transaction
    let sender = this.#senders.get(from)
    if (sender === undefined) {
      sender = new Sender(from, this.#door.account(from).nonce)
      this.#senders.set(from, sender)
    }
    sender.add(entry)
    this.#entries.set(id, entry)
    if (entry.lane === "exempt") this.#exempt++
    this.#rank(sender)
  }

  /** Takes an entry out without ranking its sender anew, for callers that take several. */
  #take(sender: Sender, entry: Entry.Entry): void {
    const { id } = entry.transaction
    if (!this.#entries.delete(id)) return
    sender.remove(entry)
    if (entry.lane === "exempt") this.#exempt--
    if (!this.#forgetAdded(id)) this.#removed.add(id)
  }

  #forgetAdded(id: Hash): boolean {
    return this.#added.lately.delete(id) || this.#added.before.delete(id)
  }

  #drop(entry: Entry.Entry): void {
    const sender = this.#senders.get(entry.transaction.from)
    if (sender === undefined) return
    this.#take(sender, entry)
    this.#rank(sender)
  }

  #rank(sender: Sender): void {
    sender.rank()
    for (const tail of [sender.tails.paying, sender.tails.exempt]) {
      const heap = this.#leaving[tail.lane]
      if (tail.entry === null) {
        if (tail.place >= 0) heap.remove(tail)
      } else if (tail.place < 0) heap.push(tail)
      else heap.update(tail)
    }
    if (sender.entries.length === 0) this.#senders.delete(sender.address)
  }

  /** Makes room when there is one too many, and returns what was evicted. */
  #evict(): Entry.Entry | undefined {
    if (this.#entries.size <= this.#capacity) return undefined
    const lane = this.#exempt * Choice.EXEMPT_PART > this.#capacity ? "exempt" : "paying"
    const leaving = this.#leaving[lane].first?.entry ?? undefined
    if (leaving !== undefined) this.#drop(leaving)
    return leaving
  }

  /** Drops what is too old. */
  expire(now: Natural.Timestamp): void {
    for (const entry of this.#entries.values()) {
      if (now - entry.receivedAt < LIFETIME_MS) return
      this.#drop(entry)
    }
  }

  /** When the next one becomes too old. */
  get nextExpiry(): number | null {
    for (const { receivedAt } of this.#entries.values()) return receivedAt + LIFETIME_MS
    return null
  }

  /** These stand in a vertex that is known here and not ordered yet. */
  included(transactions: ReadonlyArray<Transaction>, round: Natural.Round): void {
    this.#inclusions.add(transactions, round)
  }

  /** That vertex is ordered, or will never be. */
  excluded(transactions: ReadonlyArray<Transaction>): void {
    this.#inclusions.remove(transactions)
  }

  /** Whether it stands in a vertex that is known here and not ordered yet. */
  isIncluded(transaction: Transaction): boolean {
    return this.#inclusions.of(transaction) !== undefined
  }

  /** What fills the next own vertex. */
  choose(allowance: Choice.Allowance): ReadonlyArray<Transaction> {
    return Choice.choose(allowance, this.#inclusions, this.#senders.values())
  }

  /** Own transactions that no vertex will bring any more: what was dropped meanwhile is taken in again, if it may. */
  returned(transactions: ReadonlyArray<Transaction>, now: Natural.Timestamp, round: Natural.Round): void {
    for (const transaction of transactions) this.submit(transaction, now, round)
  }

  /**
   * The ledger has executed a commit of vertices with these transactions. What leaves the pool follows from the senders'
   * accounts alone: that an id stood in a vertex says nothing, since it may have stood there under anybody's signatures.
   */
  evictExecuted(execution: Pick<Execution, "vertices">, bodies: ReadonlyArray<ReadonlyArray<Transaction>>): void {
    const touched = new Map<Sender, boolean>()
    for (const [i, { transactions: outcomes }] of execution.vertices.entries()) {
      for (const [j, transaction] of (bodies[i] ?? []).entries()) {
        const sender = this.#senders.get(transaction.from)
        const outcome = outcomes[j]
        if (sender === undefined || outcome === undefined) continue
        const changesKeys = outcome._tag === "Applied" && transaction.operation._tag === "SetAccountPolicyTx"
        touched.set(sender, changesKeys || touched.get(sender) === true)
      }
    }
    for (const [sender, changesKeys] of touched) this.#review(sender, changesKeys)
  }

  /** Of a sender whose account has changed: what can no longer be executed goes. */
  #review(sender: Sender, changesKeys: boolean): void {
    const { nonce, balance } = this.#door.account(sender.address)
    sender.next = nonce
    let spending = 0
    for (const entry of [...sender.entries]) {
      const { transaction } = entry
      const isPast = transaction.nonce < nonce
      const isAffordable = spending + entry.spending <= balance
      const isForeign = changesKeys && this.#door.admission(transaction, 0)?._tag === "InvalidSignature"
      if (isPast || !isAffordable || isForeign) this.#take(sender, entry)
      else spending += entry.spending
    }
    this.#rank(sender)
  }

  /** The ledger is another one, or that of a restart: everything is judged anew, in the order of arrival. */
  restore(received: Iterable<Received>, round: Natural.Round): void {
    for (const { transaction, receivedAt } of received) {
      const before = this.#entries.size
      this.submit(transaction, receivedAt, round)
      if (this.#entries.size === before && !this.#entries.has(transaction.id)) this.#removed.add(transaction.id)
      else this.#forgetAdded(transaction.id)
    }
    this.#arrived = []
  }
}
