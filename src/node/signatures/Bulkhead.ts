/**
 * Between what others send and this node. To judge a message changes nothing, so what throws there is a bug that ends that
 * message and nothing else: it is counted, logged once for each cause, and costs the sender points, since no honest node
 * has a reason to find it. What throws while something is applied is another matter: nobody knows what was half done,
 * and the node ends.
 */

/** Counts every failure. */
interface Counters {
  readonly judgingFailed: () => void
}

/** What was being done. */
export type Place = "reading" | "judging" | "checking signatures" | "answering"

/** Causes that are distinguished; further ones are only counted. */
const MAX_CAUSES = 64

export class Bulkhead {
  readonly #counters: Counters
  readonly #say: (place: Place, error: unknown) => void
  readonly #said = new Set<string>()

  constructor(counters: Counters, say: (place: Place, error: unknown) => void) {
    this.#counters = counters
    this.#say = say
  }

  /** Runs it; where it throws, `otherwise` follows. */
  hold(place: Place, judge: () => void, otherwise: () => void): void {
    try {
      judge()
    } catch (error) {
      this.failed(place, error)
      otherwise()
    }
  }

  failed(place: Place, error: unknown): void {
    this.#counters.judgingFailed()
    const cause = `${place} ${causeOf(error)}`
    if (this.#said.has(cause) || this.#said.size >= MAX_CAUSES) return
    this.#said.add(cause)
    this.#say(place, error)
  }
}

/** Where it was thrown, not what it says: that may hold what the sender chose. */
const causeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error
  const frame = error.stack?.split("\n").find((line) => /^\s+at /.test(line))
  return `${error.name} ${frame?.trim() ?? ""}`
}
