/**
 * The way from the committee one trusts to that of a later epoch, by closing checkpoints. First the last one is tried;
 * where the trusted committee has changed too much to be a quorum of its signers, one in the middle, and so on, at worst
 * that of the very next epoch. Every checkpoint is asked for once.
 */
import { Either } from "effect"
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Epoch } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import { divideFloor } from "../../protocol/numbers/Sats.js"
import type { Check } from "../../protocol/transaction/Verification.js"
import { type Detached, type Malformed, OtherAnswer, type Unsigned } from "./Refusal.js"
import * as Trusted from "./Trusted.js"

/**
 * A node whose checkpoints carry more false signatures than this is not believed any more. An honest one may pass on a few
 * that it had no committee to check with.
 */
export const MAX_FALSE_SIGNATURES = 64

export interface Bisection {
  readonly trusted: Trusted.Trusted
  /** The epoch whose closing checkpoint names the committee that is wanted. */
  readonly goal: Epoch
  /** Not proven yet, each of an epoch before the one below it. */
  readonly ahead: ReadonlyArray<SignedCheckpoint>
  readonly falseSignatures: number
}

export const begin = (trusted: Trusted.Trusted, goal: Epoch): Bisection => ({
  trusted,
  goal,
  ahead: [],
  falseSignatures: 0,
})

/** The epoch whose closing checkpoint comes next; none at the goal. */
export const asks = ({ trusted, goal, ahead }: Bisection): Epoch | undefined => {
  const lowest = trusted.committee.epoch
  if (lowest > goal) return undefined
  const nearest = ahead.at(-1)?.checkpoint.epoch
  return nearest === undefined ? goal : Natural.epoch(lowest + divideFloor(nearest - lowest, 2))
}

type Step = Either.Either<Bisection, Malformed | OtherAnswer | Unsigned | Detached>

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
    return Either.map(Trusted.ofCheckpoint(signed.checkpoint), (trusted) => ({
      ...bisection,
      trusted,
      falseSignatures,
    }))
  }
  return isAtFault ? Either.left(signers.left) : Either.right({ ...bisection, falseSignatures })
}

/** The bisection with the answer to what it asked for. Verifies a bounded number of signatures, whatever the answer. */
export const take = (bisection: Bisection, signed: SignedCheckpoint, isValid: (check: Check) => boolean): Step => {
  const { epoch } = signed.checkpoint
  const asked = asks(bisection)
  if (epoch !== asked) {
    return Either.left(
      new OtherAnswer({ asked: `the checkpoint that closed epoch ${asked}`, given: `one of epoch ${epoch}` }),
    )
  }
  return Either.flatMap(Trusted.ofCheckpoint(signed.checkpoint), () =>
    upwards({ ...bisection, ahead: [...bisection.ahead, signed] }, isValid),
  )
}

/** As far up as the checkpoints at hand allow. */
const upwards = (bisection: Bisection, isValid: (check: Check) => boolean): Step => {
  const next = bisection.ahead.at(-1)
  if (next === undefined) return Either.right(bisection)
  return Either.flatMap(tried(bisection, next, isValid), (after) =>
    after.trusted === bisection.trusted
      ? Either.right(after)
      : upwards({ ...after, ahead: bisection.ahead.slice(0, -1) }, isValid),
  )
}
