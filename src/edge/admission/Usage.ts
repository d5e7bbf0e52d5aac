/** How much of a resource each network and each of its clients uses. */
import { networksOf } from "../../network/AddressGroup.js"

export class Usage {
  readonly #held = new Map<string, number>()
  total = 0

  /** The usage of a network or client. */
  of(network: string): number {
    return this.#held.get(network) ?? 0
  }

  /** Adds to a client's usage; a negative amount releases. */
  add(client: string, amount: number): void {
    this.total += amount
    for (const network of networksOf(client)) {
      const held = this.of(network) + amount
      if (held > 0) this.#held.set(network, held)
      else this.#held.delete(network)
    }
  }
}

/** A network's share of what the network around it can have; the rest is for its neighbours. */
const PART = 0.75

/**
 * Whether a client can take that much of what is free. Its widest network can hold as much as is still free, and each
 * narrower one three quarters of that. So one network gets at most half of everything, one of its addresses about a
 * third, and newcomers always find some.
 */
export const isFair = (client: string, amount: number, free: number, held: (network: string) => number): boolean =>
  networksOf(client).every((network, depth) => held(network) + amount <= free * PART ** depth)
