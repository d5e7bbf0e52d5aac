/** Remembers what was asked for, so that a missing parent is asked for again and again, but not all the time. */
import type { Timestamp } from "../protocol/Counter.js"
import type { Hash } from "../protocol/Hash.js"
import type { Missing } from "./Admission.js"
import type { Wanted } from "./Output.js"

/** How many parents one request may name. */
const MAX_WANTED = 256

interface Asked {
  readonly at: Timestamp
  readonly attempt: number
}

export class Fetches {
  readonly #retryMs: number
  #asked = new Map<Hash, Asked>()

  constructor(retryMs: number) {
    this.#retryMs = retryMs
  }

  /** Of what is missing, what should be asked for now. What is missing no longer is forgotten. */
  due(missing: ReadonlyArray<Missing>, now: Timestamp): ReadonlyArray<Wanted> {
    const asked = new Map<Hash, Asked>()
    const wanted: Array<Wanted> = []
    for (const { parent, namedBy } of missing) {
      const before = this.#asked.get(parent.hash)
      const attempt = before === undefined ? 0 : before.attempt + 1
      const isRecent = before !== undefined && now >= before.at && now - before.at < this.#retryMs
      if (isRecent) asked.set(parent.hash, before)
      else if (wanted.length < MAX_WANTED) {
        asked.set(parent.hash, { at: now, attempt })
        wanted.push({ parent, namedBy, attempt })
      }
    }
    this.#asked = asked
    return wanted
  }
}
