/** How much each network, and each client in it, has of something. */
import { networksOf } from "../../network/AddressGroup.js"

export class Usage {
  readonly #held = new Map<string, number>()
  total = 0

  /** What a network, or a client, has. */
  of(network: string): number {
    return this.#held.get(network) ?? 0
  }

  /** Adds to what a client has; a negative amount takes it away again. */
  add(client: string, amount: number): void {
    this.total += amount
    for (const network of networksOf(client)) {
      const held = this.of(network) + amount
      if (held > 0) this.#held.set(network, held)
      else this.#held.delete(network)
    }
  }
}

/** What a network may have of what the network around it may have: its neighbours need the rest. */
const PART = 0.75

/**
 * Whether a client may have so much more of what is free. The widest network of a client may have as much as is still free, and
 * each narrower one three quarters of that. So one network gets half of everything at most, one address of it about a
 * third, and however many come, the next one still finds some.
 */
export const isFair = (client: string, amount: number, free: number, held: (network: string) => number): boolean =>
  networksOf(client).every((network, depth) => held(network) + amount <= free * PART ** depth)
