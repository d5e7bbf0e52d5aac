/**
 * The mempool's core: which transactions are pending, in which order they are proposed, and which are rejected.
 *
 * A transaction stays from admission until it is executed, replaced, evicted or an hour old, even while unordered
 * vertices include it. Fees decide which transactions are proposed and which leave a full mempool. The exception is a
 * tenth of the places reserved for fee-exempt transactions: paying ones never take those, and a fee-exempt one replaces
 * the cheapest paying one while fewer than a tenth are exempt.
 *
 * A transaction after a missing nonce stays here and is not relayed until the gap closes. The same holds for those
 * beyond an account's relay limit (`isTold`, `Credit`). Other work that nobody pays for is limited per account
 * (`Unpaid`) and per peer (`PeerBudget`).
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
import { Credit, STOCK } from "./Credit.js"
import * as Entry from "./Entry.js"
import { highest } from "./Highest.js"
import { Inclusions } from "./Inclusions.js"
import { PeerBudget, SHARED_BURST } from "./PeerBudget.js"
import { GAP_FEE, leavesBefore, Sender } from "./Sender.js"
import { Underway } from "./Underway.js"
import { Unpaid } from "./Unpaid.js"

export const LIFETIME_MS = 3_600_000
/** Each is admitted as if it were the only one, so this bounds those that turn out to cost nothing and do nothing. */
export const EXEMPT_PER_SENDER = 4

export type Refusal =
  | Rejection
  /** The nonce is already pending; a replacement must pay at least this fee. */
  | { readonly _tag: "NoncePending"; readonly nonce: Natural.Nonce; readonly minFee: number }
  /** No room: in the whole mempool, for more fee-exempt transactions of this sender, or for unpaid ones from peers. */
  | { readonly _tag: "MempoolFull"; readonly limit: number; readonly of: "pool" | "sender" | "peers" }
  /**
   * Too many transactions of this account left without being executed. Until the account pays for some or waits this
   * long, it can only have its next transaction pending, and cannot replace it.
   */
  | { readonly _tag: "AccountThrottled"; readonly next: Natural.Nonce; readonly waitMs: number }
  | { readonly _tag: "NotReady" }

/** The mempool's queries to the ledger. */
export interface Door {
  readonly admission: (transaction: Transaction, reserved: number) => Rejection | undefined
  /** Whether the transaction, executed now, would be applied or would fail and pay its fee. */
  readonly hasEffect: (transaction: Transaction) => boolean
  /** The total that it takes from its sender's balance: fee, amount and bond. */
  readonly spending: (transaction: Transaction) => number
  readonly account: (address: Address) => { readonly nonce: Natural.Nonce; readonly balance: Sats.Sats }
}

export interface Received {
  readonly transaction: Transaction
  readonly receivedAt: Natural.Timestamp
}

/** The peer that brought a transaction; null for a client of this node. */
export type Origin = string | null

/** Why a transaction left. `invalid`: its sender can no longer pay for it or has changed its keys. */
export type Departure = "executed" | "replaced" | "evicted" | "expired" | "invalid"

/** Counts since start, without restored transactions. */
export interface Turnover {
  readonly admitted: number
  readonly departed: { readonly [reason in Departure]: number }
}

export interface Changes {
  readonly added: ReadonlyArray<Received>
  readonly removed: ReadonlyArray<Hash>
}

/** A commit's effect on an account: how many of its transactions it executed, and whether its keys changed. */
interface Touch {
  executed: number
  changesKeys: boolean
}

/** Ten per cent more and at least one sat; a plain number, since it can exceed the whole supply. */
const replacementFee = (fee: number): number => fee + Math.max(1, Sats.divideFloor(fee + 9, 10))

/**
 * Invariants: `#entries` holds every entry once, in the order of arrival; a sender is in `#senders` if and only if it
 * has entries; each of its tails is in its lane's heap if and only if it has an entry there.
 */
export class PendingTransactions {
  readonly #door: Door
  readonly #capacity: number
  readonly #entries = new Map<Hash, Entry.Entry>()
  readonly #senders = new Map<Address, Sender>()
  /** Senders with an executable entry. */
  readonly #ready = new Set<Sender>()
  readonly #leaving = {
    paying: new Heap(leavesBefore),
    exempt: new Heap(leavesBefore),
  }
  readonly #inclusions = new Inclusions()
  readonly #unpaid = new Unpaid()
  readonly #credit: Credit
  /** For transactions from peers after a missing nonce, which are not relayed. */
  readonly #early = new PeerBudget()
  /** For transactions from peers that replace a relayed one. */
  readonly #displacing = new PeerBudget()
  readonly #underway = new Underway()
  /** The latest time passed in. */
  #now = Natural.timestamp(0)
  /** Asked after every input, so it is not looked up: see `Recent` for what finding the oldest entry costs. */
  #nextExpiry = 0
  #exempt = 0
  #arrivals = 0
  #arrived: Array<Received> = []
  #reached: Array<Transaction> = []
  /** Not drained yet: arrivals since the last `drainWaiting`, and earlier ones. */
  #added = { lately: new Map<Hash, Received>(), before: new Map<Hash, Received>() }
  #removed = new Set<Hash>()
  #admitted = 0
  #departed = { executed: 0, replaced: 0, evicted: 0, expired: 0, invalid: 0 }

  constructor(door: Door, capacity: number = Limits.MEMPOOL_TRANSACTIONS, stock: number = STOCK) {
    this.#door = door
    this.#capacity = capacity
    this.#credit = new Credit(stock)
  }

  get size(): number {
    return this.#entries.size
  }

  /** Number of transactions in unordered vertices, pending here or not. */
  get inclusions(): number {
    return this.#inclusions.size
  }

  /** Number of accounts and peers remembered for paid and unpaid work. */
  get remembered() {
    const [unpaid, credit] = [this.#unpaid.size, this.#credit.size]
    return { unpaid, credit, budgets: this.#early.size + this.#displacing.size }
  }

  get turnover(): Turnover {
    return { admitted: this.#admitted, departed: this.#departed }
  }

  get(id: Hash): Received | undefined {
    return this.#entries.get(id)
  }

  /**
   * Whether it can be relayed: it is pending, as are all of its sender's from the finalized nonce up to it, and it is
   * within the sender's relay limit.
   */
  isTold({ id, from, nonce }: Transaction): boolean {
    return this.#entries.has(id) && nonce < (this.#senders.get(from)?.told ?? 0)
  }

  get hasExecutable(): boolean {
    return this.#ready.size > 0
  }

  /** In the order of nonces. */
  of(sender: Address): ReadonlyArray<Transaction> {
    return this.#senders.get(sender)?.entries.map(({ transaction }) => transaction) ?? []
  }

  /** The next nonce to use: after the finalized one and the pending ones that follow it without a gap. */
  nextNonce(sender: Address): Natural.Nonce {
    const known = this.#senders.get(sender)
    return known === undefined ? this.#door.account(sender).nonce : Natural.nonce(known.reach)
  }

  top(limit: number): ReadonlyArray<Received> {
    return highest(this.#entries.values(), limit)
  }

  /** In the order of arrival, to be restored after a restart. */
  get all(): Iterable<Received> {
    return this.#entries.values()
  }

  takeArrivals(): ReadonlyArray<Received> {
    const arrived = this.#arrived
    if (arrived.length > 0) this.#arrived = []
    return arrived
  }

  /** Transactions from earlier arrivals that can be relayed since the last call. */
  takeReached(): ReadonlyArray<Transaction> {
    const reached = this.#reached
    if (reached.length > 0) this.#reached = []
    return reached
  }

  /** The changes since the last call, without transactions that came and left in between. */
  drain(): Changes {
    const added = [...this.#added.before.values(), ...this.#added.lately.values()]
    this.#added = { lately: new Map(), before: new Map() }
    return { added, removed: this.drainRemoved() }
  }

  /** Like `drain`, but holds arrivals since the last call back until the next one, in case they leave before it. */
  drainWaiting(): Changes {
    const { lately, before } = this.#added
    this.#added = { lately: new Map(), before: lately }
    return { added: [...before.values()], removed: this.drainRemoved() }
  }

  /** The departures since the last drain, of transactions that a drain has returned. */
  drainRemoved(): ReadonlyArray<Hash> {
    const removed = [...this.#removed]
    this.#removed = new Set()
    return removed
  }

  get hasChanges(): boolean {
    return this.#added.lately.size + this.#added.before.size + this.#removed.size > 0
  }

  /** Adds a transaction with valid signatures. Submitting a pending one again has no effect and is no error. */
  submit(
    transaction: Transaction,
    now: Natural.Timestamp,
    round: Natural.Round,
    origin: Origin = null,
  ): Either.Either<"new" | "known", Refusal> {
    this.#isNow(now)
    const isCharged = this.#underway.takeCharge(transaction)
    const judged = this.#judged(transaction, origin, isCharged)
    if (Either.isLeft(judged) || judged.right === "known") return judged
    const entry = Entry.make({
      transaction,
      spending: this.#door.spending(transaction),
      receivedAt: now,
      sinceRound: round,
      arrival: this.#arrivals++,
    })
    if (origin !== null && !isCharged) this.#spend(transaction, origin)
    this.#replace(transaction)
    this.#insert(entry)
    this.#note(entry)
    this.#admitted++
    this.#evict()
    return Either.right("new")
  }

  #replace({ from, nonce }: Transaction): void {
    const sender = this.#senders.get(from)
    const replaced = sender?.at(nonce)
    if (sender === undefined || replaced === undefined) return
    if (nonce < sender.told && this.#credit.of(from) > 0) this.#credit.lost(from, 1, this.#now)
    this.#take(sender, replaced, "replaced")
  }

  #isNow(now: Natural.Timestamp): void {
    if (now > this.#now) this.#now = now
  }

  /** The result that `submit` would have now; known before any signature is verified. */
  judge(transaction: Transaction, origin: Origin = null): Either.Either<"new" | "known", Refusal> {
    return this.#judged(transaction, origin, false)
  }

  #judged(transaction: Transaction, origin: Origin, isCharged: boolean): Either.Either<"new" | "known", Refusal> {
    if (this.#entries.has(transaction.id)) return Either.right("known")
    const refusal = this.#refusal(transaction, origin, isCharged)
    return refusal === undefined ? Either.right("new") : Either.left(refusal)
  }

  /**
   * The same for a peer's transaction, whose budget it charges at once: a peer could otherwise have any number of
   * signatures checked before the first one is charged.
   */
  reserve(transaction: Transaction, origin: string): Either.Either<"new" | "known", Refusal> {
    const { from, nonce } = transaction
    const isEarly = nonce > (this.#senders.get(from) ?? this.#beginning(from)).reach
    const isFollowing = isEarly && this.#underway.hasAllBefore(transaction, this.#now)
    const judged = this.#judged(transaction, origin, isFollowing)
    if (Either.isLeft(judged) || judged.right === "known") return judged
    if (!isEarly || isFollowing) this.#underway.begin(transaction, this.#now)
    if (!isFollowing && this.#spend(transaction, origin)) this.#underway.charge(transaction)
    return judged
  }

  /** False if its sender pays for it. */
  #spend(transaction: Transaction, origin: string): boolean {
    const budget = this.#budgetFor(transaction, this.#senders.get(transaction.from))
    budget?.spend(origin, this.#now)
    return budget !== undefined
  }

  #refusal(transaction: Transaction, origin: Origin, isCharged: boolean): Refusal | undefined {
    const sender = this.#senders.get(transaction.from)
    const pending = sender?.at(transaction.nonce)
    const reserved = (sender?.spending ?? 0) - (pending?.spending ?? 0)
    const rejection = this.#door.admission(transaction, reserved)
    if (rejection !== undefined) return rejection
    if (pending !== undefined) {
      const minFee = replacementFee(pending.transaction.fee)
      if (transaction.fee < minFee) return { _tag: "NoncePending", nonce: transaction.nonce, minFee }
    }
    return (
      this.#exemptRefusal(transaction, sender, pending) ??
      this.#throttle(transaction, sender, pending) ??
      (origin === null ? undefined : this.#peerRefusal(transaction, sender, origin, isCharged)) ??
      (pending === undefined && this.#leavesAtOnce(transaction, sender)
        ? { _tag: "MempoolFull", limit: this.#capacity, of: "pool" }
        : undefined)
    )
  }

  #exemptRefusal(
    transaction: Transaction,
    sender: Sender | undefined,
    pending: Entry.Entry | undefined,
  ): Refusal | undefined {
    if (Entry.laneOf(transaction) === "paying") return undefined
    const others = (sender?.exemptCount ?? 0) - (pending?.lane === "exempt" ? 1 : 0)
    return others < EXEMPT_PER_SENDER ? undefined : { _tag: "MempoolFull", limit: EXEMPT_PER_SENDER, of: "sender" }
  }

  #throttle(
    { from, nonce }: Transaction,
    sender: Sender | undefined,
    pending: Entry.Entry | undefined,
  ): Refusal | undefined {
    const waitMs = this.#unpaid.waitMs(from, this.#now)
    if (waitMs === 0) return undefined
    const { next } = sender ?? this.#beginning(from)
    return pending !== undefined || nonce > next ? { _tag: "AccountThrottled", next, waitMs } : undefined
  }

  /** Rejects a transaction beyond its sender's relay limit: only the sender's own node keeps those. */
  #peerRefusal(
    transaction: Transaction,
    sender: Sender | undefined,
    peer: string,
    isCharged: boolean,
  ): Refusal | undefined {
    const { from, nonce } = transaction
    const { next } = sender ?? this.#beginning(from)
    const isBeyond = nonce - next > this.#credit.of(from) + (sender?.lent ?? 0) + this.#credit.left(this.#now)
    const isSpent = () => this.#budgetFor(transaction, sender)?.isSpent(peer, this.#now) === true
    return isBeyond || (!isCharged && isSpent()) ? { _tag: "MempoolFull", limit: SHARED_BURST, of: "peers" } : undefined
  }

  /** The budget charged for bringing this transaction; none if its sender pays for it. */
  #budgetFor({ from, nonce }: Transaction, sender: Sender | undefined): PeerBudget | undefined {
    const isReplacing = sender?.at(nonce) !== undefined
    const { reach, told } = sender ?? { ...this.#beginning(from), told: 0 }
    if (nonce > reach) return this.#early
    if (isReplacing) return nonce < told && this.#credit.of(from) > 0 ? undefined : this.#displacing
    return this.#entries.size >= this.#capacity ? this.#displacing : undefined
  }

  #beginning(account: Address): Pick<Sender, "next" | "reach"> {
    const { nonce } = this.#door.account(account)
    return { next: nonce, reach: nonce }
  }

  /**
   * Whether a full mempool would evict the newcomer itself. Decided before its signature is checked, because the same
   * transaction could be sent again and again.
   */
  #leavesAtOnce(transaction: Transaction, sender: Sender | undefined): boolean {
    if (this.#entries.size < this.#capacity) return false
    const lane = Entry.laneOf(transaction)
    if (lane !== this.#leavingLane(this.#exempt + (lane === "exempt" ? 1 : 0))) return false
    const tail = sender?.tails[lane].entry ?? null
    // The sender's last transaction would leave before it.
    if (tail !== null && tail.transaction.nonce > transaction.nonce) return false
    const { reach } = sender ?? this.#beginning(transaction.from)
    const own = transaction.nonce > reach ? GAP_FEE : transaction.fee
    const fee = sender === undefined || tail === null ? own : Math.min(own, sender.tails[lane].fee)
    const first = this.#leaving[lane].first
    return first === undefined || first.fee >= fee
  }

  #note(entry: Entry.Entry): void {
    const { id } = entry.transaction
    this.#arrived.push(entry)
    if (!this.#removed.delete(id)) this.#added.lately.set(id, entry)
  }

  #insert(entry: Entry.Entry): Sender {
    const { from, id } = entry.transaction
    let sender = this.#senders.get(from)
    if (sender === undefined) {
      sender = new Sender(from, this.#door.account(from).nonce)
      this.#senders.set(from, sender)
    }
    sender.add(entry)
    if (this.#entries.size === 0) this.#nextExpiry = entry.receivedAt + LIFETIME_MS
    this.#entries.set(id, entry)
    if (entry.lane === "exempt") this.#exempt++
    this.#rank(sender, entry)
    return sender
  }

  /** Removes an entry without ranking its sender again, for callers that remove several. */
  #take(sender: Sender, entry: Entry.Entry, reason: Departure): void {
    const { id } = entry.transaction
    if (!this.#entries.delete(id)) return
    this.#departed[reason]++
    if (reason === "executed") {
      // A fee-exempt transaction has paid for nothing.
      if (entry.lane === "paying") this.#unpaid.forgive(sender.address, this.#now)
    } else if (reason === "replaced" || reason === "invalid") this.#unpaid.charge(sender.address, this.#now)
    sender.remove(entry)
    if (entry.lane === "exempt") this.#exempt--
    if (!this.#forgetAdded(id)) this.#removed.add(id)
  }

  #forgetAdded(id: Hash): boolean {
    return this.#added.lately.delete(id) || this.#added.before.delete(id)
  }

  #drop(entry: Entry.Entry, reason: Departure): void {
    const sender = this.#senders.get(entry.transaction.from)
    if (sender === undefined) throw new Error(`pending transaction ${entry.transaction.id} has no sender`)
    this.#take(sender, entry, reason)
    this.#rank(sender)
  }

  #rank(sender: Sender, arrival?: Entry.Entry): void {
    for (const entry of sender.rank((wanted) => this.#allow(sender, wanted)))
      if (entry !== arrival) this.#reached.push(entry.transaction)
    if (sender.reach > sender.next) this.#ready.add(sender)
    else this.#ready.delete(sender)
    for (const tail of [sender.tails.paying, sender.tails.exempt]) {
      const heap = this.#leaving[tail.lane]
      if (tail.entry === null) {
        if (tail.place >= 0) heap.remove(tail)
      } else if (tail.place < 0) heap.push(tail)
      else heap.update(tail)
    }
    if (sender.entries.length === 0) this.#senders.delete(sender.address)
  }

  /** The number of transactions after the next one that can be relayed, if the sender has that many. */
  #allow(sender: Sender, wanted: number): number {
    const credit = this.#credit.of(sender.address)
    sender.lent = this.#credit.lend(sender.lent, Math.max(0, wanted - credit), this.#now)
    return credit + sender.lent
  }

  #leavingLane(exempt: number): Entry.Lane {
    return exempt * Choice.EXEMPT_PART > this.#capacity ? "exempt" : "paying"
  }

  #evict(): void {
    if (this.#entries.size <= this.#capacity) return
    const lane = this.#leavingLane(this.#exempt)
    const leaving = this.#leaving[lane].first?.entry
    if (!leaving) throw new Error(`${this.#entries.size} pending transactions, none of them ${lane}: none can leave`)
    this.#drop(leaving, "evicted")
  }

  expire(now: Natural.Timestamp): void {
    this.#isNow(now)
    if (now < this.#nextExpiry) return
    for (const entry of this.#entries.values()) {
      this.#nextExpiry = entry.receivedAt + LIFETIME_MS
      if (now < this.#nextExpiry) return
      this.#drop(entry, "expired")
    }
  }

  /** When to expire next: when the oldest transaction will be too old, or earlier if the oldest has left. */
  get nextExpiry(): number | null {
    return this.#entries.size === 0 ? null : this.#nextExpiry
  }

  /** Records a known, unordered vertex with these transactions. */
  included(transactions: ReadonlyArray<Transaction>, round: Natural.Round): void {
    this.#inclusions.add(transactions, round)
  }

  /** That vertex is ordered, or never will be. */
  excluded(transactions: ReadonlyArray<Transaction>): void {
    this.#inclusions.remove(transactions)
  }

  /** Whether it is in a known, unordered vertex. */
  isIncluded(transaction: Transaction): boolean {
    return this.#inclusions.of(transaction) !== undefined
  }

  choose(allowance: Choice.Allowance): ReadonlyArray<Transaction> {
    return Choice.choose(allowance, this.#inclusions, this.#senders.values())
  }

  /** Resubmits this node's transactions that no vertex will bring any more, in case they were dropped meanwhile. */
  returned(transactions: ReadonlyArray<Transaction>, now: Natural.Timestamp, round: Natural.Round): void {
    for (const transaction of transactions) this.submit(transaction, now, round)
  }

  /**
   * The ledger has executed a commit of vertices with these transactions. The senders' accounts alone decide which ones
   * leave: an id in a vertex proves nothing, since anyone's signatures may have accompanied it.
   */
  evictExecuted(execution: Pick<Execution, "vertices">, bodies: ReadonlyArray<ReadonlyArray<Transaction>>): void {
    const touched = new Map<Sender, Touch>()
    for (const [i, { transactions: outcomes }] of execution.vertices.entries()) {
      for (const [j, transaction] of (bodies[i] ?? []).entries()) {
        const outcome = outcomes[j]
        if (outcome === undefined) continue
        const isExecuted = outcome._tag !== "NoEffect"
        // A fee-exempt transaction has paid for nothing.
        if (isExecuted && Entry.laneOf(transaction) === "paying") this.#credit.paid(transaction.from)
        const sender = this.#senders.get(transaction.from)
        if (sender === undefined) continue
        const touch = touched.get(sender) ?? { executed: 0, changesKeys: false }
        touched.set(sender, touch)
        if (isExecuted && this.isTold(transaction)) touch.executed++
        if (outcome._tag === "Applied" && transaction.operation._tag === "SetAccountPolicyTx") touch.changesKeys = true
      }
    }
    for (const [sender, touch] of touched) this.#review(sender, touch)
  }

  /** After a change of the sender's account: removes the entries that can no longer be executed. */
  #review(sender: Sender, { executed, changesKeys }: Touch): void {
    const { nonce, balance } = this.#door.account(sender.address)
    sender.next = nonce
    let spending = 0
    let lost = -executed
    for (const entry of [...sender.entries]) {
      const { transaction } = entry
      const isPast = transaction.nonce < nonce
      const isAffordable = spending + entry.spending <= balance
      const isForeign = changesKeys && this.#door.admission(transaction, 0)?._tag === "InvalidSignature"
      // A fee-exempt transaction that would fail without money to pay for its failure would be proposed again and
      // again.
      const isVain = entry.lane === "exempt" && transaction.nonce === nonce && !this.#door.hasEffect(transaction)
      if (isPast || !isAffordable || isForeign || isVain) {
        if (transaction.nonce < sender.told) lost++
        this.#take(sender, entry, isPast ? "executed" : "invalid")
      } else spending += entry.spending
    }
    if (lost > 0) this.#credit.lost(sender.address, lost, this.#now)
    this.#rank(sender)
  }

  /** The ledger was replaced or restarted: judges every entry again, in the order of arrival. */
  restore(received: Iterable<Received>, round: Natural.Round): void {
    for (const { transaction, receivedAt } of received) {
      this.submit(transaction, receivedAt, round)
      if (this.#entries.has(transaction.id)) this.#forgetAdded(transaction.id)
      else this.#removed.add(transaction.id)
    }
    this.#arrived = []
    this.#reached = []
    this.#admitted = 0
    this.#departed = { executed: 0, replaced: 0, evicted: 0, expired: 0, invalid: 0 }
  }
}
