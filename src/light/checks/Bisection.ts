/**
 * The way from the trusted committee to that of a later epoch, along closing checkpoints. The last one is tried first.
 * If the trusted committee has changed too much to be a quorum of its signers, one in the middle is tried, and so on,
 * at worst that of the very next epoch. Every checkpoint is requested once.
 */
import { Either } from "effect"
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Epoch } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import { divideFloor } from "../../protocol/numbers/Sats.js"
import type { Check } from "../../protocol/transaction/Verification.js"
import { type Detached, type Malformed, OtherAnswer, type UnknownVersion, type Unsigned } from "./Refusal.js"
import * as Trusted from "./Trusted.js"

/**
 * A node whose checkpoints carry more false signatures than this is not believed any more. An honest one may pass on a
 * few from committees that it could not check.
 */
export const MAX_FALSE_SIGNATURES = 64

export interface Bisection {
  readonly trusted: Trusted.Trusted
  /** The epoch whose closing checkpoint names the wanted committee. */
  readonly goal: Epoch
  /** Not proven yet, each of an earlier epoch than the one before. */
  readonly ahead: ReadonlyArray<SignedCheckpoint>
  readonly falseSignatures: number
}

export const begin = (trusted: Trusted.Trusted, goal: Epoch): Bisection => ({
  trusted,
  goal,
  ahead: [],
  falseSignatures: 0,
})

/** The epoch whose closing checkpoint to request next; undefined at the goal. */
export const asks = ({ trusted, goal, ahead }: Bisection): Epoch | undefined => {
  const lowest = trusted.committee.epoch
  if (lowest > goal) return undefined
  const nearest = ahead.at(-1)?.checkpoint.epoch
  return nearest === undefined ? goal : Natural.epoch(lowest + divideFloor(nearest - lowest, 2))
}

type Step = Either.Either<Bisection, Malformed | OtherAnswer | Unsigned | Detached | UnknownVersion>

/** One step up to `signed`, or the same bisection if the trusted committee is no quorum of its signers. */
const tried = (bisection: Bisection, signed: SignedCheckpoint, isValid: (check: Check) => boolean): Step => {
  let { falseSignatures } = bisection
  const counted = (check: Check): boolean => {
    if (falseSignatures > MAX_FALSE_SIGNATURES) return false
    const holds = isValid(check)
    if (!holds) falseSignatures++
    return holds
  }
  const signers = Trusted.signersOf(bisection.trusted, signed, counted)
  const isAtFault =
    signed.checkpoint.epoch === bisection.trusted.committee.epoch || falseSignatures > MAX_FALSE_SIGNATURES
  if (Either.isRight(signers)) {
    return Either.map(Trusted.after(bisection.trusted, signed.checkpoint), (trusted) => ({
      ...bisection,
      trusted,
      falseSignatures,
    }))
  }
  return isAtFault ? Either.left(signers.left) : Either.right({ ...bisection, falseSignatures })
}

/** Adds the requested checkpoint. Verifies a bounded number of signatures, whatever the answer. */
export const take = (bisection: Bisection, signed: SignedCheckpoint, isValid: (check: Check) => boolean): Step => {
  const { epoch } = signed.checkpoint
  const asked = asks(bisection)
  if (epoch !== asked) {
    return Either.left(
      new OtherAnswer({ asked: `the checkpoint that closed epoch ${asked}`, given: `one of epoch ${epoch}` }),
    )
  }
  return Either.flatMap(Trusted.nextOf(signed.checkpoint), () =>
    upwards({ ...bisection, ahead: [...bisection.ahead, signed] }, isValid),
  )
}

/** Goes as far up as the checkpoints at hand allow. */
const upwards = (bisection: Bisection, isValid: (check: Check) => boolean): Step => {
  const next = bisection.ahead.at(-1)
  if (next === undefined) return Either.right(bisection)
  return Either.flatMap(tried(bisection, next, isValid), (after) =>
    after.trusted === bisection.trusted
      ? Either.right(after)
      : upwards({ ...after, ahead: bisection.ahead.slice(0, -1) }, isValid),
  )
}
