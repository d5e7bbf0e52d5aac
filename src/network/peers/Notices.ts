/** What the network layer says of its peers: for the log, and about its own bugs, which it contains and counts. */

/** Something to be logged. */
export interface Notice {
  readonly level: "debug" | "info" | "warn"
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** How long the same complaint about the same peer is not said again. */
const SAID_AGAIN_MS = 600_000
const MAX_COMPLAINTS = 256

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export class Notices {
  readonly #noticed: (notice: Notice) => void
  readonly #now: () => number
  readonly #complaints = new Map<string, number>()
  #failures = 0

  constructor(noticed: (notice: Notice) => void, now: () => number) {
    this.#noticed = noticed
    this.#now = now
  }

  say(level: Notice["level"], message: string, fields: Notice["fields"]): void {
    this.#noticed({ level, message, fields })
  }

  /** Once in a while about each peer: whoever comes back every second must not fill the log. */
  complain(level: Notice["level"], message: string, fields: Notice["fields"] & { readonly peer: string }): void {
    const now = this.#now()
    const key = `${fields.peer} ${level} ${message}`
    const isFresh = now - (this.#complaints.get(key) ?? Number.NEGATIVE_INFINITY) >= SAID_AGAIN_MS
    if (this.#complaints.size >= MAX_COMPLAINTS) this.#complaints.clear()
    if (isFresh) this.#complaints.set(key, now)
    this.say(isFresh ? level : "debug", message, fields)
  }

  /** How often a bug of this node ended something that it did for a peer. */
  get failures(): number {
    return this.#failures
  }

  /** Counts a bug, and says it once for each peer and cause. */
  failed(peer: string, where: string, error: unknown): void {
    this.#failures++
    this.complain("warn", `a bug in what this node does for a peer (${where}): ${reasonOf(error)}`, { peer })
  }

  /** What throws here is a bug of this node, which must not be a way to stop it: `otherwise` ends what it was about. */
  contain(peer: string, where: string, handle: () => void, otherwise: () => void): void {
    try {
      handle()
    } catch (error) {
      this.failed(peer, where, error)
      otherwise()
    }
  }
}
