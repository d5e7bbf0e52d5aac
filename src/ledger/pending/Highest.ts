/** The pending transactions with the highest fees, for display. They are proposed in the order of `Choice`. */
import { Heap, type Placed } from "../../collections/Heap.js"
import { comesBefore } from "./Choice.js"
import type { Entry } from "./Entry.js"

interface Kept extends Placed {
  readonly entry: Entry
}

/**
 * The `limit` entries with the highest fees, highest first. Keeps no more than `limit` at a time: a mempool has
 * thousands.
 */
export const highest = (entries: Iterable<Entry>, limit: number): ReadonlyArray<Entry> => {
  const lowestFirst = new Heap<Kept>((a, b) => comesBefore(b.entry, a.entry))
  for (const entry of entries) {
    const lowest = lowestFirst.first
    if (lowestFirst.size === limit && lowest !== undefined && !comesBefore(entry, lowest.entry)) continue
    lowestFirst.push({ entry, place: -1 })
    if (lowestFirst.size > limit) lowestFirst.pop()
  }
  const found: Array<Entry> = []
  for (let kept = lowestFirst.pop(); kept !== undefined; kept = lowestFirst.pop()) found.push(kept.entry)
  return found.reverse()
}
