/**
 * The memory that all clients together may make the server hold. A client may hold as many bytes as are still free: a single
 * client gets half of them, and however many clients there are, the next one still finds room.
 */
export class Budget {
  readonly #limit: number
  readonly #held = new Map<string, number>()
  #used = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get used(): number {
    return this.#used
  }

  take(client: string, bytes: number): boolean {
    const held = (this.#held.get(client) ?? 0) + bytes
    if (held > this.#limit - this.#used) return false
    this.#held.set(client, held)
    this.#used += bytes
    return true
  }

  give(client: string, bytes: number): void {
    const held = (this.#held.get(client) ?? 0) - bytes
    if (held > 0) this.#held.set(client, held)
    else this.#held.delete(client)
    this.#used -= bytes
  }
}
