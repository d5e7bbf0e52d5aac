/** How far earlier answers bind later ones. Requests come here in the order in which they began. */
import { type Asked, type History, of } from "./History.js"

type Answer = Pick<Asked, "node" | "began" | "ended" | "floor" | "commit">

interface Said {
  readonly ended: number
  readonly commit: number
  readonly value: number
}

/** Reports of a value that only grows. `most` of an entry includes all entries before it. */
class Ascending {
  readonly #all: Array<{ readonly commit: number; readonly value: number; most: number }> = []

  add({ commit, value }: Said): void {
    const at = this.#after(commit)
    this.#all.splice(at, 0, { commit, value, most: value })
    // Nearly all entries are added at the end.
    for (let i = at; i < this.#all.length; i++) {
      const each = this.#all[i]
      if (each !== undefined) each.most = Math.max(each.value, this.#all[i - 1]?.most ?? each.value)
    }
  }

  upTo(commit: number): number {
    return this.#all[this.#after(commit) - 1]?.most ?? 0
  }

  #after(commit: number): number {
    let [low, high] = [0, this.#all.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#all[middle]?.commit ?? 0) <= commit) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Reports that had ended before the next request began, and those still open. */
class Since {
  readonly #told = new Ascending()
  #open: Array<Said> = []

  add(said: Said): void {
    this.#open.push(said)
  }

  before(began: number, commit: number): number {
    const open = this.#open
    this.#open = open.filter(({ ended }) => ended >= began)
    for (const said of open) if (said.ended < began) this.#told.add(said)
    return this.#told.upTo(commit)
  }
}

export class Told {
  readonly #restores: ReadonlyArray<{ readonly node: string; readonly at: number }>
  readonly #byNode = new Map<string, Since>()
  readonly #byCommit = new Since()

  constructor(history: History) {
    this.#restores = of(history, "fault").filter(({ fault }) => fault === "restore")
  }

  #of(node: string, restored: (at: number) => boolean): Since {
    const life = this.#restores.filter((restore) => restore.node === node && restored(restore.at)).length
    const key = `${node} ${life}`
    const known = this.#byNode.get(key) ?? new Since()
    this.#byNode.set(key, known)
    return known
  }

  tell({ node, began, ended, commit }: Answer, value: number): void {
    this.#of(node, (at) => at < began).add({ ended, commit: 0, value })
    if (commit !== null) this.#byCommit.add({ ended, commit, value })
  }

  /** The highest value reported before this request by the same node, or as of the commit that the request names. */
  least({ node, began, ended, floor }: Answer): number {
    const there = this.#of(node, (at) => at <= ended).before(began, 0)
    return floor === null ? there : Math.max(there, this.#byCommit.before(began, floor))
  }
}
