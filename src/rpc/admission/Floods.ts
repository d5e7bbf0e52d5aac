/**
 * Clients that sent more requests ahead than a client that waits for answers would. Node parses each piece of a connection
 * to its end and makes objects of all requests in it, some thousands, before it can be stopped. So for a while, the next
 * connections of these clients are closed before anything is read from them.
 */
const KEPT_OUT_MS = 10_000
/** If there are more clients than this, those that flooded first are admitted again. */
const REMEMBERED_CLIENTS = 4_096

export class Floods {
  readonly #now: () => number
  /** When each is admitted again, oldest first. */
  readonly #until = new Map<string, number>()

  constructor(now: () => number) {
    this.#now = now
  }

  note(client: string): void {
    this.#until.delete(client)
    this.#until.set(client, this.#now() + KEPT_OUT_MS)
    const [oldest] = this.#until.keys()
    if (this.#until.size > REMEMBERED_CLIENTS && oldest !== undefined) this.#until.delete(oldest)
  }

  keepsOut(client: string): boolean {
    const until = this.#until.get(client)
    if (until === undefined) return false
    if (until > this.#now()) return true
    this.#until.delete(client)
    return false
  }
}
