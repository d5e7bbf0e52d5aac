/**
 * What a claim about a transaction proves, once its checkpoint is signed by a quorum: that it is in the total order.
 */
import { Either } from "effect"
import type { Checkpoint, SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import * as Inclusion from "../../protocol/epoch/Inclusion.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { NetworkId } from "../../protocol/identity/Network.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Check } from "../../protocol/transaction/Verification.js"
import type { Commit } from "../../protocol/vertex/Commit.js"
import type { Header } from "../../protocol/vertex/Header.js"
import type { TransactionClaim } from "./Answer.js"
import { type Detached, FalseInclusion, OtherAnswer, TooEarly, type Unsigned } from "./Refusal.js"
import * as Trusted from "./Trusted.js"

export interface ProvenTransaction {
  readonly transaction: Transaction
  readonly vertex: Header
  /** The commit that orders the vertex, unless an earlier one did. */
  readonly commit: Commit
  readonly checkpoint: Checkpoint
  /** The signers of the checkpoint; null if it is the trusted one itself. */
  readonly signed: Trusted.Vouchers | null
}

/** The content of a claim under its own checkpoint, before signatures are verified. */
export interface Consistent {
  readonly id: Hash
  readonly included: Inclusion.Included
  readonly signed: SignedCheckpoint
}

/**
 * Verifies everything about a claim that needs no signature. An unknown network is the one for which the hash matches.
 */
export const consistent = (
  id: Hash,
  network: NetworkId | null,
  { hash, networkId, inclusion, signed }: TransactionClaim,
): Either.Either<Consistent, OtherAnswer | FalseInclusion> => {
  if (hash !== id) return Either.left(new OtherAnswer({ asked: `transaction ${id}`, given: `transaction ${hash}` }))
  if (network !== null && network !== networkId) {
    return Either.left(new OtherAnswer({ asked: `network ${network}`, given: `network ${networkId}` }))
  }
  return Either.mapBoth(Inclusion.verify(networkId, id, signed.checkpoint, inclusion), {
    onLeft: ({ reason }) => new FalseInclusion({ id, reason }),
    onRight: (included) => ({ id, included, signed }),
  })
}

/** Rejects transactions before the trusted checkpoint: no proof leads back from there. */
export const reachable = (
  { closing }: Trusted.Trusted,
  { checkpoint }: SignedCheckpoint,
): Either.Either<void, TooEarly> =>
  closing !== null && checkpoint.round <= closing.round
    ? Either.left(new TooEarly({ round: checkpoint.round, trusted: closing.round }))
    : Either.void

/**
 * The transaction, if a quorum of the trusted committee signed the checkpoint and the commit orders down to its vertex.
 */
export const proven = (
  trusted: Trusted.Trusted,
  { id, included, signed }: Consistent,
  isValid: (check: Check) => boolean,
): Either.Either<ProvenTransaction, Unsigned | Detached | FalseInclusion> =>
  Either.flatMap(Trusted.vouchersOf(trusted, signed, isValid), (signers) =>
    Inclusion.isOrdered(included, trusted.committee)
      ? Either.right({ ...included, checkpoint: signed.checkpoint, signed: signers })
      : Either.left(new FalseInclusion({ id, reason: "the vertex is below the rounds that the commit orders" })),
  )
