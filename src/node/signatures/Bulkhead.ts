/**
 * Contains bugs that a peer's message finds. Judging a message changes nothing, so an exception there ends that message
 * and nothing else: it is counted, logged once for each cause, and costs the sender points, since no honest node has a
 * reason to find it. An exception while something is applied is another matter: a change may be half done, and the node
 * ends.
 */

/** Counts every failure. */
interface Counters {
  readonly judgingFailed: () => void
}

/** The work that threw. */
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

  /** Runs `judge`, and then `otherwise` if that throws. */
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

/** The place of the throw without the message, which may hold text that the sender chose. */
const causeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error
  const frame = error.stack?.split("\n").find((line) => /^\s+at /.test(line))
  return `${error.name} ${frame?.trim() ?? ""}`
}
