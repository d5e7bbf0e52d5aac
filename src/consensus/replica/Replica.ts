/**
 * One node, whole: everything it does apart from sockets, disk, clock and keys. Messages, transactions, time and what
 * the disk has done come in, `Output`s come out; nothing in it reads a clock or draws chance.
 */
import type { Either } from "effect"
import type { Refusal } from "../../ledger/PendingTransactions.js"
import type { Nonce, Timestamp } from "../../protocol/Counter.js"
import type { Hash } from "../../protocol/Hash.js"
import type { PublicKey, Signature } from "../../protocol/Keys.js"
import type { Transaction } from "../../protocol/Transaction.js"
import type { Check } from "../../protocol/Verification.js"
import type { Message } from "./Message.js"
import type { Outputs } from "./Output.js"
import type { Connection, PeerId } from "./Peer.js"

/** Who signs for this node; `SecretKey` is one. */
export interface Signer {
  readonly publicKey: PublicKey
  readonly sign: (message: Uint8Array) => Signature
}

export interface Options {
  /** None for a node without a validator key. */
  readonly signer: Signer | null
  /** Judges signatures under closing checkpoints, which only the replica knows whom to hold against. */
  readonly isValid: (check: Check) => boolean
  /** Closing checkpoint that a fast sync must pass through. */
  readonly trust: { readonly epoch: number; readonly hash: Hash } | null
}

export interface Accepted {
  readonly id: Hash
  readonly nonce: Nonce
}

/** `Replica.open(options, stored): Either<Replica, CannotOpen>` makes one. */
export interface Machine {
  readonly start: (now: Timestamp) => Outputs
  readonly tick: (now: Timestamp) => Outputs
  /** When the next tick can matter, if nothing comes in before. */
  readonly wakeAt: (now: Timestamp) => Timestamp
  /** All peers there are at the moment. Called whenever that changes. */
  readonly connected: (connections: ReadonlyArray<Connection>, now: Timestamp) => Outputs
  /** A message whose `checksOf` hold. */
  readonly receive: (from: PeerId, message: Message, now: Timestamp) => Outputs
  /** The signatures that must hold before the message may come in. */
  readonly checksOf: (message: Message, isVerified?: (transaction: Transaction) => boolean) => ReadonlyArray<Check>
  /** The door. The transaction's signatures hold. What follows comes out with the next `tick`. */
  readonly submit: (transaction: Transaction, now: Timestamp) => Either.Either<Accepted, Refusal>
  /** This write and all before it are on the disk. */
  readonly written: (id: number, now: Timestamp) => Outputs
  /** Whether `work` has anything to do. */
  readonly hasWork: boolean
  /** Does background work while it may: checkpoints. */
  readonly work: (mayContinue: () => boolean, now: Timestamp) => Outputs
}
