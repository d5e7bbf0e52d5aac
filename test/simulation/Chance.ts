/**
 * All randomness of a run comes from one seed. Each concern draws from its own labelled stream, so a new fault or one
 * more transaction does not change what the network does elsewhere in the run.
 */

/** FNV-1a with a final mix: labels that differ in one letter give unrelated streams. */
const hashOf = (text: string, seed: number): number => {
  let hash = (0x811c9dc5 ^ seed) >>> 0
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** The sfc32 generator: fast, 128 bits of state, passes the usual test batteries. */
export class Chance {
  readonly #seed: number
  readonly #label: string
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number, label = "") {
    this.#seed = seed
    this.#label = label
    this.#a = hashOf(label, seed)
    this.#b = hashOf(`${label}#`, seed)
    this.#c = hashOf(`${label}##`, seed)
    for (let i = 0; i < 12; i++) this.#next()
  }

  /** An independent stream: drawing from one does not affect the other. */
  stream(label: string): Chance {
    return new Chance(this.#seed, `${this.#label}/${label}`)
  }

  #next(): number {
    const drawn = (this.#a + this.#b + this.#counter) >>> 0
    this.#counter = (this.#counter + 1) >>> 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) >>> 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) >>> 0
    this.#c = (this.#c + drawn) >>> 0
    return drawn
  }

  /** From 0 up to, but not including, 1. */
  fraction(): number {
    return this.#next() / 0x1_0000_0000
  }

  /** An integer from 0 to `below` − 1. */
  below(below: number): number {
    return Math.floor(this.fraction() * below)
  }

  /** An integer from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  percent(chance: number): boolean {
    return this.fraction() * 100 < chance
  }

  /** Pareto with shape 1.3: mostly little more than `least`, occasionally a hundred times as much. */
  heavyTail(least: number, most: number): number {
    return Math.min(most, least / (1 - this.fraction()) ** (1 / 1.3))
  }

  pick<A>(items: ReadonlyArray<A>): A {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new RangeError("nothing to pick from")
    return item
  }

  shuffle<A>(items: ReadonlyArray<A>): Array<A> {
    const left = [...items]
    const shuffled: Array<A> = []
    while (left.length > 0) shuffled.push(...left.splice(this.below(left.length), 1))
    return shuffled
  }
}
