/** A binary heap whose items know their position, so that a changed item can be moved without a search. */
export interface Placed {
  /** Its position in the heap, -1 outside. Only the heap writes it. */
  place: number
}

export class Heap<A extends Placed> {
  readonly #isBefore: (a: A, b: A) => boolean
  readonly #items: Array<A> = []

  /** Builds the heap from items in any order, which is faster than adding them one by one. */
  constructor(isBefore: (a: A, b: A) => boolean, items: Iterable<A> = []) {
    this.#isBefore = isBefore
    for (const item of items) item.place = this.#items.push(item) - 1
    for (const above of this.#items.slice(0, this.#items.length >>> 1).reverse()) this.#sink(above)
  }

  get size(): number {
    return this.#items.length
  }

  get first(): A | undefined {
    return this.#items[0]
  }

  push(item: A): void {
    item.place = this.#items.push(item) - 1
    this.#rise(item)
  }

  pop(): A | undefined {
    const [first] = this.#items
    if (first !== undefined) this.remove(first)
    return first
  }

  /** Restores the order after an item in the heap has changed. */
  update(item: A): void {
    this.#rise(item)
    this.#sink(item)
  }

  remove(item: A): void {
    const at = item.place
    const last = this.#items.pop()
    item.place = -1
    if (last === undefined || last === item) return
    this.#put(last, at)
    this.update(last)
  }

  #put(item: A, at: number): void {
    this.#items[at] = item
    item.place = at
  }

  #rise(item: A): void {
    let at = item.place
    while (at > 0) {
      const above = (at - 1) >>> 1
      const parent = this.#items[above]
      if (parent === undefined || !this.#isBefore(item, parent)) break
      this.#put(parent, at)
      at = above
    }
    this.#put(item, at)
  }

  #sink(item: A): void {
    let at = item.place
    for (;;) {
      const left = this.#items[2 * at + 1]
      const right = this.#items[2 * at + 2]
      const child = right !== undefined && left !== undefined && this.#isBefore(right, left) ? right : left
      if (child === undefined || !this.#isBefore(child, item)) break
      const below = child.place
      this.#put(child, at)
      at = below
    }
    this.#put(item, at)
  }
}
