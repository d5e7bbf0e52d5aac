/**
 * A source of choices: a seeded stream like the simulator's `Chance`, or a list of numbers from fast-check, which
 * shrinks the list and so all choices.
 */
import { FastCheck as fc } from "effect"

export interface Draws {
  /** An integer from 0 to `below` − 1. */
  below(below: number): number
  /** An integer from `least` to `most`, both included. */
  between(least: number, most: number): number
  percent(chance: number): boolean
  pick<A>(items: ReadonlyArray<A>): A
}

/** After its end, every choice is the first one. */
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

/** The numbers of a tape, enough for any transaction. */
export const tape: fc.Arbitrary<ReadonlyArray<number>> = fc.array(fc.nat(), { maxLength: 20, size: "max" })
