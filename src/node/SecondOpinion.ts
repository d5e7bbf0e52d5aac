/**
 * Signatures in vertices that the native verifier refused. ZIP-215 takes some of them, and a key for such ones costs its
 * owner nothing: so they are looked at in slices, in turn, and whoever sends many of them waits for nobody but himself.
 */
import { type Check, isValid } from "../protocol/Verification.js"
import * as Slice from "./Slice.js"

interface Doubt {
  readonly checks: Array<Check>
  readonly settle: (holds: boolean) => void
}

export class SecondOpinion {
  /** The first is looked at next. */
  readonly #doubts: Array<Doubt> = []
  #isAtWork = false

  /** Whether all of them hold. */
  ask(checks: ReadonlyArray<Check>, settle: (holds: boolean) => void): void {
    this.#doubts.push({ checks: [...checks], settle })
    if (this.#isAtWork) return
    this.#isAtWork = true
    setImmediate(() => this.#work())
  }

  #work(): void {
    const doubt = this.#doubts.shift()
    if (doubt === undefined) {
      this.#isAtWork = false
      return
    }
    const verdict = judged(doubt.checks, Slice.begin())
    if (verdict === undefined) this.#doubts.push(doubt)
    else doubt.settle(verdict)
    setImmediate(() => this.#work())
  }
}

/** Takes away what holds, while it may; the verdict, once there is one. */
const judged = (checks: Array<Check>, mayContinue: () => boolean): boolean | undefined => {
  do {
    const check = checks.pop()
    if (check === undefined) return true
    if (!isValid(check)) return false
  } while (mayContinue())
  return undefined
}
