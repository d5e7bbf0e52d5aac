/**
 * A fair queue: networks take turns, within each its parts, down to the clients, whose own entries stay in order. A
 * crowd of clients in one network delays another network by a single turn.
 */
import { networksOf } from "../../network/AddressGroup.js"

/** The entries of a network or client. */
class Line<A> {
  readonly #parts = new Map<string, Line<A>>()
  #items: Array<A> = []
  #head = 0

  get isEmpty(): boolean {
    return this.#parts.size === 0 && this.#head === this.#items.length
  }

  push([name, ...narrower]: ReadonlyArray<string>, item: A): void {
    if (name === undefined) {
      this.#items.push(item)
      return
    }
    const part = this.#parts.get(name) ?? new Line<A>()
    this.#parts.set(name, part)
    part.push(narrower, item)
  }

  /** Takes from the part at the front, which then moves to the end. */
  next(): A | undefined {
    const [first] = this.#parts
    if (first === undefined) return this.#items[this.#head++]
    const [name, part] = first
    this.#parts.delete(name)
    const item = part.next()
    if (!part.isEmpty) this.#parts.set(name, part)
    return item
  }
}

export class Turns<A> {
  readonly #all = new Line<A>()

  get isEmpty(): boolean {
    return this.#all.isEmpty
  }

  push(client: string, item: A): void {
    this.#all.push(networksOf(client), item)
  }

  next(): A | undefined {
    return this.#all.isEmpty ? undefined : this.#all.next()
  }
}
