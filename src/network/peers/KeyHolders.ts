/**
 * The connected nodes that have proven each validator key, in order of arrival. Places, rates and turns are per peer,
 * and the holder of a member's key can start any number of nodes. So only the first two get the member's standing: the
 * second is a standby that may take over.
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

  /** Whether this peer, connected or about to be, is among the validator's first. */
  isFirst(validator: Address, peer: PeerId): boolean {
    let before = 0
    for (const each of this.#of.get(validator) ?? []) {
      if (each === peer) return true
      if (++before === WITH_STANDING) return false
    }
    return true
  }
}
