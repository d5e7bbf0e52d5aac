/**
 * The main thread's time for what peers send, in fair turns at the price of the time they took. Rounds, clients and the disk
 * need the same thread: so nobody has it for longer than a slice, and those who are not members have a part of it altogether.
 */

import * as Slice from "../../turns/Slice.js"
import { Budget } from "./Budget.js"
import { FairQueue, type Owner } from "./FairQueue.js"

/** Milliseconds. */
const RATES = {
  named: { atOnce: 1_000, perSecond: 400 },
  stranger: { atOnce: 500, perSecond: 100 },
}
/** How soon it is looked whether somebody may have a turn again. */
const LOOK_MS = 10

export type Step = () => void

export class Turns {
  readonly #steps = new FairQueue<Step>()
  readonly #budget = new Budget(RATES, performance.now())
  #isAtWork = false

  /** `step` throws nothing: whoever hands it over holds what it does. */
  take(owner: Owner, step: Step): void {
    this.#steps.push(owner, step)
    this.#begin()
  }

  /** What was begun goes on before what the same peer sent later. */
  goOn(owner: Owner, step: Step): void {
    this.#steps.pushFirst(owner, step)
    this.#begin()
  }

  #begin(): void {
    if (this.#isAtWork) return
    this.#isAtWork = true
    // Behind whatever else came at the same time, so that the first one of it is not before a member.
    queueMicrotask(() => this.#work())
  }

  #work(): void {
    const mayContinue = Slice.begin()
    let at = performance.now()
    const mayHave = ({ standing }: Owner): boolean => this.#budget.has(standing, at)
    let next = this.#steps.next(mayHave)
    while (next !== undefined) {
      next.item()
      const now = performance.now()
      this.#steps.charge(next.owner, now - at)
      this.#budget.take(next.owner.standing, now - at, now)
      at = now
      if (!mayContinue()) break
      next = this.#steps.next(mayHave)
    }
    if (this.#steps.size === 0) this.#isAtWork = false
    else if (next === undefined) setTimeout(() => this.#work(), LOOK_MS).unref()
    else setImmediate(() => this.#work())
  }
}
