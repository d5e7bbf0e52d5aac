/**
 * The committee of one epoch that a client trusts. Trust starts with the committee of a genesis or of a closing
 * checkpoint. Each closing checkpoint signed by a quorum of it passes the trust on to the committee that it names.
 */
import { Either } from "effect"
import type { Checkpoint, SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { EpochRecord, Member } from "../../protocol/epoch/EpochRecord.js"
import * as FirstEpoch from "../../protocol/epoch/FirstEpoch.js"
import type { Genesis } from "../../protocol/epoch/Genesis.js"
import * as ProtocolVersion from "../../protocol/epoch/ProtocolVersion.js"
import * as Signers from "../../protocol/epoch/Signers.js"
import type { Check } from "../../protocol/transaction/Verification.js"
import { Detached, Malformed, UnknownVersion, Unsigned } from "./Refusal.js"

export interface Trusted {
  readonly committee: EpochRecord
  /** The closing checkpoint that names the committee; null for a genesis. */
  readonly closing: Checkpoint | null
}

export const ofGenesis = (genesis: Genesis): Trusted => ({ committee: FirstEpoch.of(genesis), closing: null })

/** The record of the next epoch, which a closing checkpoint must name. */
export const nextOf = ({ epoch, nextEpoch }: Checkpoint): Either.Either<EpochRecord, Malformed> =>
  nextEpoch?.epoch === epoch + 1
    ? Either.right(nextEpoch)
    : Either.left(new Malformed({ what: "checkpoint", reason: `it does not close epoch ${epoch}` }))

/**
 * The committee that a closing checkpoint names. The caller must have reason to trust the checkpoint: a mere claim of a
 * newer version must not make a user install another program.
 */
export const ofCheckpoint = (closing: Checkpoint): Either.Either<Trusted, Malformed | UnknownVersion> =>
  Either.flatMap(nextOf(closing), (committee) => {
    const { epoch, rules } = committee
    return rules.protocolVersion > ProtocolVersion.NEWEST
      ? Either.left(new UnknownVersion({ epoch, version: rules.protocolVersion }))
      : Either.right({ committee, closing })
  })

/**
 * The same for a checkpoint that the trusted committee signed. A vote raises the version by one, so none is skipped or
 * taken back.
 */
export const after = (trusted: Trusted, closing: Checkpoint): Either.Either<Trusted, Malformed | UnknownVersion> =>
  Either.flatMap(nextOf(closing), ({ epoch, rules }) => {
    const { committee } = trusted
    const [from, to] = [committee.rules.protocolVersion, rules.protocolVersion]
    const reason = `it takes the protocol from version ${from} in epoch ${committee.epoch} to ${to} in epoch ${epoch}`
    return to < from || to - from > epoch - committee.epoch
      ? Either.left(new Malformed({ what: "checkpoint", reason }))
      : ofCheckpoint(closing)
  })

/** Whether this checkpoint of the committee's own epoch names the trusted one before it. */
const isAttached = ({ committee, closing }: Trusted, { epoch, previous }: Checkpoint): boolean =>
  epoch !== committee.epoch || closing === null || previous === closing.hash

export interface Vouchers {
  readonly by: number
  readonly of: number
}

/**
 * The members of the trusted committee who signed, if they are a quorum. The checkpoint can be of a later epoch: honest
 * members sign only what they have executed themselves, so more than two thirds of them vouch for it in any epoch.
 */
export const signersOf = (
  trusted: Trusted,
  signed: SignedCheckpoint,
  isValid: (check: Check) => boolean,
): Either.Either<ReadonlyArray<Member>, Detached | Unsigned> => {
  const { epoch } = signed.checkpoint
  const { committee } = trusted
  if (!isAttached(trusted, signed.checkpoint)) return Either.left(new Detached({ epoch }))
  const isEarlier = epoch < committee.epoch
  return Either.fromNullable(
    isEarlier ? undefined : Signers.quorumOf(committee, signed, isValid),
    () => new Unsigned({ epoch, committee: committee.epoch }),
  )
}

/** The signers of a checkpoint of the committee's own epoch; null for the trusted checkpoint itself. */
export const vouchersOf = (
  trusted: Trusted,
  signed: SignedCheckpoint,
  isValid: (check: Check) => boolean,
): Either.Either<Vouchers | null, Unsigned | Detached> => {
  const { checkpoint } = signed
  const { committee, closing } = trusted
  if (checkpoint.hash === closing?.hash) return Either.right(null)
  if (checkpoint.epoch !== committee.epoch) {
    return Either.left(new Unsigned({ epoch: checkpoint.epoch, committee: committee.epoch }))
  }
  return Either.map(signersOf(trusted, signed, isValid), ({ length }) => ({ by: length, of: committee.members.length }))
}
