/**
 * The deterministic state machine: starts from genesis and executes one commit after another. Given the same commits,
 * every node has the same records, digests and outcomes.
 */
import { Either } from "effect"
import type * as Binary from "../protocol/encoding/Binary.js"
import * as EpochRecord from "../protocol/epoch/EpochRecord.js"
import type * as Genesis from "../protocol/epoch/Genesis.js"
import type * as Protocol from "../protocol/epoch/Protocol.js"
import * as ProtocolVersion from "../protocol/epoch/ProtocolVersion.js"
import type { Address } from "../protocol/identity/Address.js"
import * as Hash from "../protocol/identity/Hash.js"
import type { PublicKey } from "../protocol/identity/Keys.js"
import type { Nonce } from "../protocol/numbers/Natural.js"
import type * as Sats from "../protocol/numbers/Sats.js"
import type { AccountRecord } from "../protocol/state/AccountRecord.js"
import type { StateRecord } from "../protocol/state/StateRecord.js"
import type { Transaction } from "../protocol/transaction/Transaction.js"
import type { Commit } from "../protocol/vertex/Commit.js"
import type { Vertex } from "../protocol/vertex/Vertex.js"
import { ExecutionFault, NOWHERE, type Place } from "./ExecutionFault.js"
import { Reads } from "./Reads.js"
import * as EpochTransition from "./rules/EpochTransition.js"
import type { Event, Execution, Input, VertexOutcome } from "./rules/Execution.js"
import * as Governance from "./rules/Governance.js"
import * as Heartbeats from "./rules/Heartbeats.js"
import * as Outcomes from "./rules/Outcomes.js"
import { Postings } from "./rules/Postings.js"
import type { Rejection } from "./rules/Rejection.js"
import * as Rewards from "./rules/Rewards.js"
import * as Slashing from "./rules/Slashing.js"
import * as Transactions from "./rules/Transactions.js"
import * as Unlocking from "./rules/Unlocking.js"
import * as Effects from "./tables/Effects.js"
import * as Following from "./tables/Following.js"
import type { Frozen } from "./tables/Frozen.js"
import type * as HalfSipHash from "./tables/HalfSipHash.js"
import type { Totals } from "./tables/Records.js"
import { RunningRecount } from "./tables/RunningRecount.js"
import { State } from "./tables/State.js"
import type { SupplyInvariantViolated } from "./tables/Supply.js"
import type { Change } from "./trie/Trie.js"

/** Rebuilds a ledger from its records, in batches of any size. */
export interface Restoring {
  readonly record: (record: StateRecord) => Either.Either<void, Binary.MalformedBytes>
  /** Accepts any balance, even an impossible one, so that the recount can detect it. */
  readonly account: (address: Address, record: AccountRecord) => void
  /** Faster, for an account without extras, as nearly all are. */
  readonly plainAccount: (address: Address, balance: Sats.Sats, nonce: Nonce) => void
  readonly finish: (effectsDigest: Hash.Hash) => Either.Either<Ledger, Binary.MalformedBytes>
}

export class Ledger {
  readonly #state: State
  readonly #recount = new RunningRecount()
  #effectsDigest: Hash.Hash
  /** The position of the execution, for the error message if it throws. */
  readonly #place: { -readonly [K in keyof Place]: Place[K] } = { ...NOWHERE }
  readonly read: Reads

  private constructor(state: State, effectsDigest: Hash.Hash) {
    this.#state = state
    this.#effectsDigest = effectsDigest
    this.read = new Reads(state)
  }

  /** The ledger at commit 0. The key is this node's secret and affects only where in memory accounts lie. */
  static fromGenesis(genesis: Genesis.Genesis, tableKey: HalfSipHash.Key): Ledger {
    const state = new State(genesis.protocol, tableKey)
    EpochTransition.found(state, genesis)
    return new Ledger(state, Effects.digest(Hash.ZERO, state.collect()))
  }

  /** Restores the ledger that wrote the records. Records come in any order; the digest is stored separately. */
  static restoring(protocol: Protocol.Protocol, tableKey: HalfSipHash.Key): Restoring {
    const state = new State(protocol, tableKey)
    return {
      record: (record) => state.restore(record),
      account: (address, record) => void state.accounts.restore(address, record),
      plainAccount: (address, balance, nonce) => void state.accounts.restorePlain(address, balance, nonce),
      finish: (effectsDigest) => Either.map(state.rebuild(), () => new Ledger(state, effectsDigest)),
    }
  }

  /** For a read-only ledger: applies the changes of another ledger's commits. False if it must be rebuilt instead. */
  follow(changes: ReadonlyArray<Effects.Change>): Either.Either<boolean, Binary.MalformedBytes> {
    return Following.follow(this.#state, changes)
  }

  /**
   * Accepts a single signature of this key for every account from now on. Only `testing/DevNode.ts` can call it, on a
   * developer network, which runs on one machine: on any other network this node would apply transactions that all
   * others reject.
   */
  letSignForAll(standIn: PublicKey): void {
    this.#state.standIn = standIn
  }

  get effectsDigest(): Hash.Hash {
    return this.#effectsDigest
  }

  /** Why this transaction would be rejected now. `reserved` is the total of its sender's pending fees and amounts. */
  admission(transaction: Transaction, reserved: number): Rejection | undefined {
    return Transactions.admissionRejection(this.#state, transaction, reserved)
  }

  /** Whether the transaction, executed now, would be applied or would fail and pay its fee. */
  hasEffect(transaction: Transaction): boolean {
    return Transactions.hasEffect(this.#state, transaction)
  }

  /** The total that this transaction would take from its sender's balance now: fee, amount and bond. */
  spending(transaction: Transaction): number {
    return Transactions.spendingOf(transaction, this.#state.parameters)
  }

  /** Executes the next commit. After a failure this ledger must not be used again. */
  execute(input: Input): Either.Either<Execution, SupplyInvariantViolated | ExecutionFault> {
    try {
      return this.#execute(input)
    } catch (cause) {
      return Either.left(new ExecutionFault({ commit: input.commit, place: { ...this.#place }, cause }))
    }
  }

  #execute(input: Input): Either.Either<Execution, SupplyInvariantViolated> {
    const { commit, time } = input
    const state = this.#state
    const previous = state.head
    const { record } = state.epoch
    this.#expectNext(commit)
    state.round = commit.leaderRound
    this.#learnBase(input.vertices)

    const events: Array<Event> = []
    const postings = new Postings()
    const vertices = input.vertices.map((vertex) => this.#executeVertex(vertex, events, postings))
    this.#place.vertex = null
    Unlocking.release(state, events)
    postings.events(events)
    Governance.step(state, { events, postings })
    Rewards.forget(state)
    const { index, hash, leaderRound } = commit
    Heartbeats.remember(state, index, { hash, leaderRound })
    state.head = { index, hash, leaderRound, time, nextProposalId: state.head.nextProposalId }
    const closes = leaderRound >= EpochRecord.lastRound(record)
    const nextEpoch = closes ? EpochTransition.close(state, commit) : null

    const checked = Either.flatMap(state.supply.check(), () => this.#recount.step(state))
    return Either.map(checked, () => {
      const changes = state.collect()
      this.#effectsDigest = ProtocolVersion.rulesOf(record.rules.protocolVersion).digestsOutcomes
        ? Effects.digestWith(Outcomes.digest(input.vertices, vertices), this.#effectsDigest, changes)
        : Effects.digest(this.#effectsDigest, changes)
      return {
        commit,
        time,
        vertices,
        events,
        postings: postings.all,
        changes,
        effectsDigest: this.#effectsDigest,
        totals: state.supply.totals,
        nextEpoch,
        isCheckpointDue: EpochRecord.isCheckpointDue(record, previous.leaderRound, leaderRound),
      }
    })
  }

  #expectNext(commit: Commit): void {
    const { head, epoch } = this.#state
    const follows =
      commit.index === head.index + 1 &&
      commit.previous === head.hash &&
      commit.epoch === epoch.record.epoch &&
      commit.leaderRound > head.leaderRound
    if (follows) return
    throw new Error(
      `commit ${commit.index} of epoch ${commit.epoch}, round ${commit.leaderRound} does not follow commit ${head.index} ` +
        `of epoch ${epoch.record.epoch}, round ${head.leaderRound}`,
    )
  }

  /** All vertices of an epoch name the same base. The first one executed sets it; evidence is checked against it. */
  #learnBase(vertices: ReadonlyArray<Vertex>): void {
    const { epoch } = this.#state
    const [first] = vertices
    if (epoch.base === Hash.ZERO && first !== undefined) {
      this.#state.epoch = { ...epoch, base: first.header.base }
    }
  }

  #executeVertex({ header, body }: Vertex, events: Array<Event>, postings: Postings): VertexOutcome {
    const state = this.#state
    this.#place.vertex = header.hash
    Heartbeats.witness(state, header)
    for (const evidence of body.evidence) Slashing.apply(state, evidence, events)
    for (const heartbeat of body.heartbeats) Heartbeats.apply(state, heartbeat)
    const account = state.accountOf(header.author)
    const author = state.accounts.findOrAdd(account)
    const transactions = Transactions.executeAll(state, body.transactions, author, (transaction) => {
      this.#place.transaction = transaction.id
    })
    this.#place.transaction = null
    postings.fees(account, transactions)
    const minted = Rewards.apply(state, header, postings)
    return { vertex: header.hash, author: header.author, minted, transactions }
  }

  /** Number of accounts changed since the last freeze. */
  get unfrozen(): number {
    return this.#state.accounts.unfrozen
  }

  /**
   * Between commits: the records changed since the last freeze, with their current values. Can be read during later
   * commits.
   */
  freeze(): Frozen {
    return this.#state.freeze()
  }

  /** Between commits: every record. */
  records(): Generator<StateRecord> {
    return this.#state.records()
  }

  /** Between commits: every record as the state trie holds it. Each value is valid until the next one is requested. */
  entries(): Generator<Change> {
    return this.#state.entries()
  }

  /** Between commits: recounts the whole supply. */
  recount(): Either.Either<Totals, SupplyInvariantViolated> {
    return this.#state.recount()
  }
}
