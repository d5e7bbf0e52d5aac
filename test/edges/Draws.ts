/**
 * Where choices come from: a seed, as `Chance` of the simulator draws them, or a list of numbers that fast-check made. It
 * shrinks the list, and with it everything that was chosen by it.
 */
import { FastCheck as fc } from "effect"

export interface Draws {
  /** An integer from 0 to below − 1. */
  below(below: number): number
  /** An integer of these bounds, both included. */
  between(least: number, most: number): number
  percent(chance: number): boolean
  pick<A>(items: ReadonlyArray<A>): A
}

/** Behind its end the first choice is made always. */
export class Tape implements Draws {
  readonly #numbers: ReadonlyArray<number>
  #at = 0

  constructor(numbers: ReadonlyArray<number>) {
    this.#numbers = numbers
  }

  below(below: number): number {
    return (this.#numbers[this.#at++] ?? 0) % below
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  percent(chance: number): boolean {
    return this.below(100) < chance
  }

  pick<A>(items: ReadonlyArray<A>): A {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new RangeError("nothing to pick from")
    return item
  }
}

/** What a tape is made of; enough for any transaction. */
export const tape: fc.Arbitrary<ReadonlyArray<number>> = fc.array(fc.nat(), { maxLength: 20, size: "max" })
