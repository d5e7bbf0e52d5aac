/**
 * The memory that all clients together can make the server hold. The share of one client or network depends on what is
 * free (`isFair`), so that a newcomer always finds room.
 */
import { isFair, Usage } from "./Usage.js"

export class Budget {
  readonly #limit: number
  readonly #held = new Usage()

  constructor(limit: number) {
    this.#limit = limit
  }

  get used(): number {
    return this.#held.total
  }

  take(client: string, bytes: number): boolean {
    if (!isFair(client, bytes, this.#limit - this.used, (network) => this.#held.of(network))) return false
    this.#held.add(client, bytes)
    return true
  }

  give(client: string, bytes: number): void {
    this.#held.add(client, -bytes)
  }
}
