/**
 * Clients that sent more ahead than anybody who waits for answers does. Node parses each piece of a connection to its end
 * and makes objects of all requests in it, some thousands, before anybody can say stop. So their next connections are
 * closed before anything is read from them, for a while.
 */
const KEPT_OUT_MS = 10_000
/** Of more clients than this, those that flooded first are let in again. */
const REMEMBERED_CLIENTS = 4_096

export class Floods {
  readonly #now: () => number
  /** When each is let in again, oldest first. */
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
