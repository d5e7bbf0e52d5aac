/**
 * The connected nodes that have proven a validator's key, in the order in which they came. Places, rates and turns are
 * for each peer, and whoever has a member's key can start any number of nodes with it: only the first ones have its
 * standing. A second one is there for when it takes over from the other.
 */
import type { Address } from "../../protocol/identity/Address.js"
import type { PeerId } from "../../replica/messages/Peer.js"

const WITH_STANDING = 2

export class KeyHolders {
  readonly #of = new Map<Address, Set<PeerId>>()

  came(validator: Address | null, peer: PeerId): void {
    if (validator === null) return
    const peers = this.#of.get(validator) ?? new Set()
    this.#of.set(validator, peers.add(peer))
  }

  left(validator: Address | null, peer: PeerId): void {
    if (validator === null) return
    const peers = this.#of.get(validator)
    peers?.delete(peer)
    if (peers?.size === 0) this.#of.delete(validator)
  }

  /** Whether this peer, which is here or about to come, is one of the validator's first. */
  isFirst(validator: Address, peer: PeerId): boolean {
    let before = 0
    for (const each of this.#of.get(validator) ?? []) {
      if (each === peer) return true
      if (++before === WITH_STANDING) return false
    }
    return true
  }
}
