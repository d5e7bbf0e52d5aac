/**
 * Contains bugs triggered by a peer's message. Judging a message changes nothing, so an exception ends only that
 * message: it is counted, logged once per cause, and costs the sender points, since no honest node has a reason to
 * trigger it. An exception while a message is applied is different: a change may be half done, and the node ends.
 */

interface Counters {
  readonly judgingFailed: () => void
}

export type Place = "reading" | "judging" | "checking signatures" | "answering"

/** Limit of distinguished causes; further ones are only counted. */
const MAX_CAUSES = 64

export class Bulkhead {
  readonly #counters: Counters
  readonly #say: (place: Place, error: unknown) => void
  readonly #said = new Set<string>()

  constructor(counters: Counters, say: (place: Place, error: unknown) => void) {
    this.#counters = counters
    this.#say = say
  }

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

/** Where it was thrown, without the message, which may contain text chosen by the sender. */
const causeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error
  const frame = error.stack?.split("\n").find((line) => /^\s+at /.test(line))
  return `${error.name} ${frame?.trim() ?? ""}`
}
