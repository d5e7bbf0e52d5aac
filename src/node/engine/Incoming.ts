/**
 * The way in to the replica, which expects valid signatures and checks none itself. A transaction's signatures are
 * verified once, whether it first arrives from a client, in gossip or in a vertex. `MessageInspection` judges peers'
 * messages and changes nothing. A later exception, while the replica applies an input, is this node's own fault and
 * ends it.
 */
import { Effect, Either } from "effect"
import type { Following } from "../../consensus/Recovery.js"
import type { Refusal } from "../../ledger/pending/PendingTransactions.js"
import type { Network } from "../../network/Network.js"
import * as Address from "../../protocol/identity/Address.js"
import type { Signature, Signer } from "../../protocol/identity/Keys.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type { Operation } from "../../protocol/transaction/Operation.js"
import * as Transaction from "../../protocol/transaction/Transaction.js"
import * as Verification from "../../protocol/transaction/Verification.js"
import type { Connection } from "../../replica/messages/Peer.js"
import type { Outputs } from "../../replica/output/Output.js"
import type { Accepted, Replica } from "../../replica/Replica.js"
import {
  type Inspected,
  MessageInspection,
  type Surroundings as OfInspection,
} from "../signatures/MessageInspection.js"
import type { SignatureThreads } from "../signatures/SignatureThreads.js"
import type { Counters } from "./Counters.js"

export type Input =
  | Inspected
  | { readonly _tag: "Connections"; readonly connections: ReadonlyArray<Connection> }
  | { readonly _tag: "Written"; readonly id: number }
  /** The remote signer's answer; null if it refuses. */
  | { readonly _tag: "Signed"; readonly id: number; readonly signature: Signature | null }

export interface SignRequest {
  readonly key: Signer
  /** The sender if not the key's own account; the key then signs as one of that account's keys. */
  readonly from?: Address.Address
  readonly operation: Operation
  /** Omitted for free transaction types. */
  readonly fee?: Sats.Sats
}

export type Submitted = Either.Either<Accepted, Refusal>

export interface Surroundings extends Pick<OfInspection, "networkId" | "asked" | "bulkhead"> {
  readonly replica: Replica
  readonly network: typeof Network.Service
  readonly fork: (effect: Effect.Effect<void>) => void
  readonly counters: Counters
  readonly signatures: OfInspection["signatures"] & Pick<SignatureThreads, "results" | "verified">
}

const acceptedOf = ({ id, nonce }: Transaction.Transaction): Accepted => ({ id, nonce })

/** Refusals that can depend on other pending transactions of the account. */
const DEPENDENT: ReadonlySet<Refusal["_tag"]> = new Set([
  "InsufficientBalance",
  "NoncePending",
  "MempoolFull",
  "AccountThrottled",
])

/** Answers the replica would give whatever the signatures are, so no signature is checked. */
const answersAhead = (
  replica: Pick<Replica, "judge">,
  transactions: ReadonlyArray<Transaction.Transaction>,
): ReadonlyArray<Submitted | undefined> => {
  // Accounts with a transaction that may be accepted: answers to their later ones may depend on it.
  const open = new Set<Address.Address>()
  return transactions.map((transaction) => {
    const verdict = replica.judge(transaction)
    const isOpen = open.has(transaction.from)
    if (Either.isLeft(verdict)) {
      return isOpen && DEPENDENT.has(verdict.left._tag) ? undefined : Either.left(verdict.left)
    }
    if (isOpen) return undefined
    if (verdict.right === "known") return Either.right(acceptedOf(transaction))
    open.add(transaction.from)
    return undefined
  })
}

/** Refusals that rounds not yet executed here may lift. */
const PREMATURE: ReadonlySet<Refusal["_tag"]> = new Set(["NonceTooHigh", "InsufficientBalance", "ProposalNotFound"])

/** A node that knows it is behind does not judge by an old state. */
const unlessBehind = (replica: Pick<Replica, "recovery">, at: Timestamp) => {
  let following: Following["_tag"] | undefined
  return (refusal: Refusal): Refusal => {
    if (!PREMATURE.has(refusal._tag)) return refusal
    following ??= replica.recovery(at).following._tag
    return following === "Behind" || following === "EpochOver" ? { _tag: "NotReady" } : refusal
  }
}

const badSignature: Refusal = {
  _tag: "InvalidSignature",
  reason: "a signature is invalid for these bytes and this key",
}

export class Incoming {
  readonly #around: Surroundings

  constructor(around: Surroundings) {
    this.#around = around
  }

  /** Judges peers' messages. Passes on those that `take` accepts, and hands questions to `ask`. */
  inspection({ ask, pass }: Pick<OfInspection, "ask" | "pass">): MessageInspection {
    const { counters, fork, network } = this.#around
    return new MessageInspection({
      ...this.#around,
      refused: ({ from, tag }, what, offence) => {
        if (tag === "CheckpointSignature") counters.checkpointRefused()
        fork(network.misbehaved(from, what, offence))
      },
      ask,
      pass,
    })
  }

  take(input: Input, at: Timestamp): Outputs {
    const { replica, asked, counters } = this.#around
    switch (input._tag) {
      case "Message":
        return this.#receive(input, at)
      case "HeardOf":
        return replica.heardOf(input.epoch, input.from, at)
      case "PageArrived":
        return replica.pageArrived(input.from, at)
      case "PageRefused":
        return replica.pageRefused(input.from, at)
      case "HeaderOnly":
        return replica.metHeader(input.header, input.from, at)
      case "Connections":
        asked.keepOnly(new Set(input.connections.map(({ peer }) => peer)))
        counters.connected(input.connections.length)
        return replica.connected(input.connections, at)
      case "Written":
        return replica.written(input.id, at)
      case "Signed":
        return replica.signed(input.id, input.signature, at)
    }
  }

  /**
   * Takes clients' transactions. Those the replica would refuse or already knows are answered first, without signature
   * checks. Other threads check the rest while the node continues; then the replica takes them one after the other. The
   * consequences are output by its next tick.
   */
  submit(
    transactions: ReadonlyArray<Transaction.Transaction>,
    clock: Effect.Effect<Timestamp>,
  ): Effect.Effect<ReadonlyArray<Submitted>> {
    const { replica, networkId, signatures, counters } = this.#around
    return Effect.suspend(() => {
      const ahead = answersAhead(replica, transactions)
      const unknown = transactions.filter((transaction, i) => !ahead[i] && !signatures.verified.has(transaction))
      const checks = unknown.map((transaction) => Verification.checksOf(networkId, transaction))
      return Effect.zipWith(signatures.results(checks.flat()), clock, (results, at) => {
        const refused = new Set<Transaction.Transaction>()
        const judgedNow = unlessBehind(replica, at)
        let first = 0
        for (const [i, transaction] of unknown.entries()) {
          const end = first + (checks[i]?.length ?? 0)
          const bad = results.indexOf(0, first)
          if (bad >= 0 && bad < end) refused.add(transaction)
          first = end
        }
        return transactions.map((transaction, i): Submitted => {
          // A known transaction may have left the pool by now; it must not enter here, since its signatures are
          // unchecked.
          const judged =
            ahead[i] ?? (refused.has(transaction) ? Either.left(badSignature) : replica.submit(transaction, at))
          const answer = Either.mapLeft(judged, judgedNow)
          if (Either.isLeft(answer)) counters.refused(answer.left._tag)
          return answer
        })
      })
    })
  }

  /** Signs with the sender's next nonce and submits, with no step in between. */
  signAndSubmit(request: SignRequest, at: Timestamp): Effect.Effect<Accepted, Refusal> {
    const { replica, networkId, signatures, counters } = this.#around
    return Effect.suspend(() => {
      const { key, operation, fee = Sats.ZERO } = request
      const own = Address.fromPublicKey(key.publicKey)
      const { from = own } = request
      const unsigned = { from, nonce: replica.pool.nextNonce(from), fee, operation }
      const transaction =
        from === own
          ? Transaction.sign(networkId, unsigned, key)
          : Transaction.make(networkId, unsigned, {
              _tag: "Policy",
              signatures: [Transaction.cosign(networkId, unsigned, key)],
            })
      // A proof of possession is by another key and comes with the request.
      const isVerified =
        operation._tag !== "RotateKeyTx" ||
        Verification.checksOf(networkId, transaction).every(Verification.isStrictlyValid)
      if (isVerified) signatures.verified.add(transaction)
      const judged = isVerified ? replica.submit(transaction, at) : Either.left(badSignature)
      const answer = Either.mapLeft(judged, unlessBehind(replica, at))
      return Effect.tapError(answer, ({ _tag }) => Effect.sync(() => counters.refused(_tag)))
    })
  }

  #receive({ from, message, isWhole, release }: Extract<Inspected, { _tag: "Message" }>, at: Timestamp): Outputs {
    const { outputs, isRelayed } = this.#around.replica.receive(from, message, at, isWhole)
    release(isRelayed ? "news" : "known")
    return outputs
  }
}
