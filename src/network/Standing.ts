/**
 * A peer's standing decides its priority: committee members, which proved their validator key in the greeting, then
 * peers named by the operator, then strangers.
 */

import type { Address } from "../protocol/identity/Address.js"
import type { PeerId } from "../replica/messages/Peer.js"

export type Standing = "member" | "named" | "stranger"

/** From lowest to highest. */
export const RANK: { readonly [standing in Standing]: number } = { stranger: 0, named: 1, member: 2 }

export class Standings {
  #members: ReadonlySet<Address> = new Set()
  /** The peer behind each named address: the one the operator wrote, or the one that answered there. */
  readonly #named = new Map<string, PeerId>()

  setMembers(members: Iterable<Address>): void {
    this.#members = new Set(members)
  }

  name(address: string, peer: PeerId): void {
    this.#named.set(address, peer)
  }

  of(peer: PeerId, validator: Address | null): Standing {
    if (validator !== null && this.isMember(validator)) return "member"
    return this.isNamed(peer) ? "named" : "stranger"
  }

  isMember(validator: Address): boolean {
    return this.#members.has(validator)
  }

  get members(): ReadonlyArray<Address> {
    return [...this.#members]
  }

  isNamed(peer: PeerId): boolean {
    for (const named of this.#named.values()) if (named === peer) return true
    return false
  }
}
