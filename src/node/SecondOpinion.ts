/**
 * Signatures that the native verifier refused and ZIP-215 may take. They are looked at here, on the thread that rounds
 * need, at ten times the price: so only of vertices whose author a member's key vouches for, in fair turns between those who
 * cause it, and never for more than a quarter of the time.
 */
import { type Check, isValid } from "../protocol/Verification.js"
import { FairQueue } from "./FairQueue.js"
import * as Slice from "./Slice.js"

interface Doubt {
  readonly checks: Array<Check>
  readonly settle: (holds: boolean) => void
}

/** After a slice everybody else has the thread for so long. */
const REST_MS = 3 * Slice.SLICE_MS

export class SecondOpinion {
  readonly #doubts = new FairQueue<Doubt>()
  #isAtWork = false

  /** Whether all of them hold. `cause`: who is to wait behind the rest of it. */
  ask(cause: string, checks: ReadonlyArray<Check>, settle: (holds: boolean) => void): void {
    this.#doubts.push({ peer: cause, standing: "member" }, { checks: [...checks], settle })
    if (this.#isAtWork) return
    this.#isAtWork = true
    setImmediate(() => this.#work())
  }

  #work(): void {
    const next = this.#doubts.next()
    if (next === undefined) {
      this.#isAtWork = false
      return
    }
    const { owner, item } = next
    const began = performance.now()
    const verdict = judged(item.checks, Slice.begin())
    this.#doubts.charge(owner, performance.now() - began)
    if (verdict === undefined) this.#doubts.pushFirst(owner, item)
    setTimeout(() => this.#work(), REST_MS)
    if (verdict !== undefined) item.settle(verdict)
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
