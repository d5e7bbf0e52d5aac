/** Virtual time: a queue of future events. The clock jumps from one event to the next. */

interface Entry {
  readonly at: number
  readonly order: number
  readonly act: () => void
}

const isSooner = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)

/** A binary heap. Events of one moment run in the order in which they were added. */
export class Agenda {
  readonly #heap: Array<Entry> = []
  #now: number
  #order = 0

  constructor(now: number) {
    this.#now = now
  }

  get now(): number {
    return this.#now
  }

  get size(): number {
    return this.#heap.length
  }

  at(moment: number, act: () => void): void {
    const heap = this.#heap
    const entry = { at: Math.max(moment, this.#now), order: this.#order++, act }
    let hole = heap.length
    heap.push(entry)
    while (hole > 0) {
      const above = (hole - 1) >>> 1
      const parent = heap[above]
      if (parent === undefined || !isSooner(entry, parent)) break
      heap[hole] = parent
      hole = above
    }
    heap[hole] = entry
  }

  after(delay: number, act: () => void): void {
    this.at(this.#now + delay, act)
  }

  /** Runs the next event. Returns false if there is none. */
  step(): boolean {
    const [first] = this.#heap
    if (first === undefined) return false
    const last = this.#heap.pop()
    if (last !== undefined && last !== first) this.#sink(last)
    this.#now = first.at
    first.act()
    return true
  }

  #sink(entry: Entry): void {
    const heap = this.#heap
    let hole = 0
    for (;;) {
      const left = 2 * hole + 1
      const a = heap[left]
      if (a === undefined) break
      const b = heap[left + 1]
      const [sooner, at] = b !== undefined && isSooner(b, a) ? [b, left + 1] : [a, left]
      if (!isSooner(sooner, entry)) break
      heap[hole] = sooner
      hole = at
    }
    heap[hole] = entry
  }
}
