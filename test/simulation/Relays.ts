/**
 * Checks which unpaid transactions a replica accepts and which messages it asks gossip to relay: exactly the useful
 * ones whose every part was new, with signatures that are valid by the protocol alone, and no more per signer than an
 * honest one makes. A transaction after a missing nonce is not useful to others.
 */

import { FORGIVEN_AFTER_MS, UNPAID_PER_ACCOUNT } from "../../src/ledger/pending/Unpaid.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import type { Timestamp } from "../../src/protocol/numbers/Natural.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import type { Outputs } from "../../src/replica/output/Output.js"
import type { Replica } from "../../src/replica/Replica.js"
import type { Scheme } from "./Scheme.js"
import { Violation } from "./Witness.js"

export interface Surroundings {
  readonly scheme: Scheme
  readonly networkId: NetworkId
  readonly relayed: (from: PeerId, message: Message) => void
}

/**
 * The most messages of one kind that a replica relays per signer, in the rounds that an honest signer takes between
 * two. It covers the end of one epoch and the start of the next, doubled for relays that heard the others first, and
 * for heartbeats a quarter of an epoch each.
 */
const MOST_OF_A_SIGNER = 12

export class Relays {
  readonly #machine: string
  readonly #replica: Replica
  readonly #around: Surroundings
  readonly #unpaid = new Map<Address, number>()
  /** When the count of unpaid transactions began. */
  #countedSince: Timestamp | null = null
  /** The rounds in which messages were relayed, for each kind and signer. */
  readonly #relayedIn = new Map<string, Array<number>>()

  constructor(machine: string, replica: Replica, around: Surroundings) {
    this.#machine = machine
    this.#replica = replica
    this.#around = around
  }

  receive(from: PeerId, message: Message, now: Timestamp): Outputs {
    const isExpected = this.#expects(from, message)
    const fresh = message._tag === "Transactions" ? this.#unknownOf(message.transactions) : []
    const { outputs, isRelayed } = this.#replica.receive(from, message, now)
    const expected = isExpected()
    this.#expectPaid(fresh, now)
    // A replica that has just halted sends nothing more.
    if (expected !== null && isRelayed !== expected && !this.#replica.isHalted) {
      throw new Violation(this.#machine, `${isRelayed ? "relays" : "does not relay"} a ${message._tag} from ${from}`)
    }
    if (isRelayed) {
      if (!this.#checksOf(message).every(this.#around.scheme.isValid)) {
        throw new Violation(this.#machine, `relays a ${message._tag} whose signatures do not hold`)
      }
      this.#count(message)
      this.#around.relayed(from, message)
    }
    return outputs
  }

  /** A joined replica starts with an empty mempool. */
  joined(): void {
    this.#unpaid.clear()
    this.#countedSince = null
  }

  /**
   * An account that never pays is allowed what the mempool keeps pending for it, a few replacements, and one more a
   * minute. Transactions that entered and left the pool within one message are not counted.
   */
  #expectPaid(fresh: ReadonlyArray<Transaction>, now: Timestamp): void {
    const { pool, read } = this.#replica
    this.#countedSince ??= now
    const allowed = UNPAID_PER_ACCOUNT + 1 + (now - this.#countedSince) / FORGIVEN_AFTER_MS
    for (const { id, from } of fresh) {
      if (pool.get(id) === undefined || read.account(from).nonce > 0) continue
      const taken = (this.#unpaid.get(from) ?? 0) + 1
      this.#unpaid.set(from, taken)
      if (taken <= pool.of(from).length + allowed) continue
      throw new Violation(this.#machine, `took in ${taken} transactions of ${from}, which has paid for none`)
    }
  }

  #count(message: Message): void {
    const signer = signerOf(message)
    if (signer === null) return
    const { dag, opening } = this.#replica.core.epoch
    const { epochRounds, checkpointIntervalRounds } = opening.record.rules
    const period = message._tag === "Heartbeat" ? epochRounds / 16 : Math.min(epochRounds, checkpointIntervalRounds)
    const name = `${message._tag} ${signer}`
    const rounds = [...(this.#relayedIn.get(name) ?? []), dag.highestRound].slice(-MOST_OF_A_SIGNER - 1)
    this.#relayedIn.set(name, rounds)
    const [first = 0] = rounds
    if (rounds.length > MOST_OF_A_SIGNER && dag.highestRound - first < period) {
      throw new Violation(this.#machine, `relays more than ${MOST_OF_A_SIGNER} ${name} in ${period} rounds`)
    }
  }

  /** Call this before the replica receives the message, and its result afterwards. Null: either decision is right. */
  #expects(from: PeerId, message: Message): () => boolean | null {
    switch (message._tag) {
      case "Transactions": {
        const fresh = this.#unknownOf(message.transactions)
        // The pool may refuse a transaction and accept it the second time.
        if (new Set(fresh.map(({ id }) => id)).size < fresh.length) return () => null
        const isNew = fresh.length > 0 && fresh.length === message.transactions.length
        return () => isNew && fresh.every((transaction) => this.#isExecutable(transaction))
      }
      case "Heartbeat":
      case "Evidence":
      case "CheckpointSignature": {
        const isWanted = this.#replica.useOf(from, message)._tag === "Wanted"
        return () => isWanted
      }
      default:
        return () => false
    }
  }

  #unknownOf(transactions: ReadonlyArray<Transaction>): ReadonlyArray<Transaction> {
    return transactions.filter(({ id }) => this.#replica.pool.get(id) === undefined)
  }

  /** Whether all of the sender's transactions from the finalized nonce up to this one are pending. */
  #isExecutable({ id, from, nonce }: Transaction): boolean {
    const { pool, read } = this.#replica
    const nonces = new Set(pool.of(from).map((pending) => Number(pending.nonce)))
    for (let before = Number(read.account(from).nonce); before < nonce; before++) if (!nonces.has(before)) return false
    return pool.get(id) !== undefined
  }

  #checksOf(message: Message): ReadonlyArray<Verification.Check> {
    switch (message._tag) {
      case "Transactions":
        return message.transactions.flatMap((each) => Verification.checksOf(this.#around.networkId, each))
      case "Heartbeat":
        return [Heartbeat.check(message.heartbeat)]
      case "Evidence":
        return [Header.check(message.evidence.first), Header.check(message.evidence.second)]
      case "CheckpointSignature": {
        const { checkpoint, signature } = message
        const committee = this.#replica.core.committeeOf(checkpoint.epoch)
        const seat = committee?.seatOf(signature.validator)
        if (committee === undefined || seat === undefined) {
          throw new Violation(this.#machine, "relays a signature under a checkpoint that no member made")
        }
        return [Checkpoint.check(checkpoint, committee.member(seat), signature.signature)]
      }
      default:
        throw new Violation(this.#machine, `relays a ${message._tag}`)
    }
  }
}

const signerOf = (message: Message): string | null => {
  switch (message._tag) {
    case "Heartbeat":
      return message.heartbeat.validator
    case "Evidence":
      return message.evidence.first.author
    case "CheckpointSignature":
      return message.signature.validator
    default:
      return null
  }
}
