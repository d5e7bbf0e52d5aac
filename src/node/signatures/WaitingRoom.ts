/**
 * Items that cannot be judged before this node has executed a commit, with a limit for each sender: a peer that fills
 * its places displaces no other's items.
 */

interface Waiting<A> {
  readonly from: string
  readonly commit: number
  readonly item: A
}

/** Places per peer: more than honest ones send between two commits. */
const OF_A_PEER = 16
const IN_ALL = 1_024

export class WaitingRoom<A> {
  #waiting: Array<Waiting<A>> = []

  get size(): number {
    return this.#waiting.length
  }

  /** False if there is no room. */
  add(from: string, commit: number, item: A): boolean {
    const own = this.#waiting.reduce((count, each) => (each.from === from ? count + 1 : count), 0)
    if (own >= OF_A_PEER || this.#waiting.length >= IN_ALL) return false
    this.#waiting.push({ from, commit, item })
    return true
  }

  /** Removes the items that waited for this commit or an earlier one, in order of arrival. */
  takeUpTo(commit: number): ReadonlyArray<A> {
    const due = this.#waiting.filter((each) => each.commit <= commit)
    if (due.length > 0) this.#waiting = this.#waiting.filter((each) => each.commit > commit)
    return due.map(({ item }) => item)
  }
}
