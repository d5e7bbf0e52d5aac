/** The pending transactions that pay most, for people to look at. They are proposed in another order, `Choice`'s. */
import { Heap, type Placed } from "../../collections/Heap.js"
import { comesBefore } from "./Choice.js"
import type { Entry } from "./Entry.js"

interface Kept extends Placed {
  readonly entry: Entry
}

/** The `limit` entries with the highest fees, highest first. It keeps no more than that, since a pool holds thousands. */
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
