/** The log of the network layer. It also contains and counts bugs of this node that occur while serving a peer. */

export interface LogEntry {
  readonly level: "debug" | "info" | "warn"
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** The same complaint about the same peer is not repeated within this time. */
const REPEATED_AFTER_MS = 600_000
const MAX_COMPLAINTS = 256

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export class PeerLog {
  readonly #logged: (entry: LogEntry) => void
  readonly #now: () => number
  readonly #complaints = new Map<string, number>()
  #failures = 0

  constructor(logged: (entry: LogEntry) => void, now: () => number) {
    this.#logged = logged
    this.#now = now
  }

  write(level: LogEntry["level"], message: string, fields: LogEntry["fields"]): void {
    this.#logged({ level, message, fields })
  }

  /** Repeats a complaint about a peer only occasionally: one that reconnects every second must not fill the log. */
  complain(level: LogEntry["level"], message: string, fields: LogEntry["fields"] & { readonly peer: string }): void {
    const now = this.#now()
    const key = `${fields.peer} ${level} ${message}`
    const isFresh = now - (this.#complaints.get(key) ?? Number.NEGATIVE_INFINITY) >= REPEATED_AFTER_MS
    if (this.#complaints.size >= MAX_COMPLAINTS) this.#complaints.clear()
    if (isFresh) this.#complaints.set(key, now)
    this.write(isFresh ? level : "debug", message, fields)
  }

  get failures(): number {
    return this.#failures
  }

  failed(peer: string, where: string, error: unknown): void {
    this.#failures++
    this.complain("warn", `a bug of this node while serving a peer (${where}): ${reasonOf(error)}`, { peer })
  }

  /** Anything `handle` throws is a bug of this node and must not stop it. `otherwise` then cleans up. */
  contain(peer: string, where: string, handle: () => void, otherwise: () => void): void {
    try {
      handle()
    } catch (error) {
      this.failed(peer, where, error)
      otherwise()
    }
  }
}
