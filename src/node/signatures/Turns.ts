/**
 * Shares the main thread's time among peers' messages, in fair turns charged by time. Rounds, clients and the disk need
 * the same thread, so no peer holds it longer than a slice, and all non-members together have only a part of it.
 */

import * as Slice from "../../turns/Slice.js"
import { Budget, CLOCK, type Clock } from "./Budget.js"
import { FairQueue, type Owner, type Rank } from "./FairQueue.js"

const RATES = {
  relayed: { burst: 500, perSecond: 200 },
  named: { burst: 1_000, perSecond: 400 },
  stranger: { burst: 100, perSecond: 100 },
}
/** How soon to check again whether a peer may have a turn. */
const LOOK_MS = 10

export type Step = () => void

export class Turns {
  readonly #steps = new FairQueue<Step>()
  readonly #budget: Budget
  readonly #clock: Clock
  #isAtWork = false

  constructor(clock: Clock = CLOCK) {
    this.#budget = new Budget(RATES, clock)
    this.#clock = clock
  }

  /** `step` must not throw: its caller contains its exceptions. */
  take(owner: Owner, step: Step): void {
    this.#steps.push(owner, step)
    this.#begin()
  }

  /** Begun work continues before later messages of the same peer. */
  goOn(owner: Owner, step: Step): void {
    this.#steps.pushFirst(owner, step)
    this.#begin()
  }

  #begin(): void {
    if (this.#isAtWork) return
    this.#isAtWork = true
    // After everything else that arrives at the same time, so that its first piece does not precede a member's.
    queueMicrotask(() => this.#work())
  }

  #work(): void {
    const mayContinue = Slice.begin()
    let at = performance.now()
    const mayHave = ({ standing }: Owner): boolean => this.#budget.has(standing)
    let next = this.#steps.next(mayHave)
    while (next !== undefined) {
      next.item()
      const now = performance.now()
      const milliseconds = this.#priceOf(next.owner.standing, now - at)
      this.#steps.charge(next.owner, milliseconds)
      this.#budget.take(next.owner.standing, milliseconds)
      at = now
      if (!mayContinue()) break
      next = this.#steps.next(mayHave)
    }
    if (this.#steps.size === 0) this.#isAtWork = false
    else if (next === undefined) setTimeout(() => this.#work(), LOOK_MS).unref()
    else setImmediate(() => this.#work())
  }

  /**
   * On a busy machine, other processes interrupt a long step and have most of the time that it takes. Strangers, whose
   * budget fills slowly there, would pay for that twice.
   */
  #priceOf(rank: Rank, passedMs: number): number {
    return rank === "stranger" && passedMs > Slice.SLICE_MS
      ? Math.max(Slice.SLICE_MS, passedMs * this.#clock.spareShare())
      : passedMs
  }
}
