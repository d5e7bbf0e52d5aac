/** Remembers what was asked for, so that a missing parent is asked for again and again, but not all the time. */
import type { Timestamp } from "../protocol/Counter.js"
import type { Hash } from "../protocol/Hash.js"
import type { Parent } from "../protocol/Header.js"
import type { Admission } from "./Admission.js"
import type { Wanted } from "./Output.js"

/** How many parents one request may name. */
const MAX_WANTED = 256

/** Who knows what is missing. */
export type Lacking = Pick<Admission, "isMissing" | "toFetch">

interface Asked {
  readonly parent: Parent
  readonly at: Timestamp
  readonly attempt: number
}

export class Fetches {
  readonly #retryMs: number
  readonly #asked = new Map<Hash, Asked>()

  constructor(retryMs: number) {
    this.#retryMs = retryMs
  }

  /** How many parents were asked for and did not come. */
  get size(): number {
    return this.#asked.size
  }

  /** What should be asked for now, up to this round. What is missing no longer is forgotten. */
  due(lacking: Lacking, upTo: number, now: Timestamp): ReadonlyArray<Wanted> {
    for (const [hash, { parent }] of this.#asked) if (!lacking.isMissing(parent)) this.#asked.delete(hash)
    const isAsked = (hash: Hash): boolean => {
      const asked = this.#asked.get(hash)
      return asked !== undefined && now >= asked.at && now - asked.at < this.#retryMs
    }
    const wanted: Array<Wanted> = []
    for (const { parent, namedBy } of lacking.toFetch(upTo, isAsked)) {
      const before = this.#asked.get(parent.hash)
      wanted.push({ parent, namedBy, attempt: before === undefined ? 0 : before.attempt + 1 })
      if (wanted.length === MAX_WANTED) break
    }
    for (const { parent, attempt } of wanted) this.#asked.set(parent.hash, { parent, at: now, attempt })
    return wanted
  }
}
