/**
 * What clients wait for, in fair turns: networks in turn, in each its parts in turn, down to the clients, and each client's
 * own in order. So a crowd of clients in one network delays those of another one by a single turn.
 */
import { networksOf } from "../../network/AddressGroup.js"

/** What waits in a network, or of a client. */
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

  /** Of the part whose turn it is, which then goes to the end. */
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
