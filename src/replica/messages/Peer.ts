/** Another node, as this one talks to it. */
import type { Brand } from "effect"
import type { Address } from "../../protocol/identity/Address.js"

/** The host's name for it; nothing is read out of it. */
export type PeerId = string & Brand.Brand<"PeerId">

export interface Connection {
  readonly peer: PeerId
  /** The validator whose key the peer has proven to hold, to the host; null for who proved none. */
  readonly validator: Address | null
  /** Whether this node dialled it. Whoever dials in can be there a hundred times. */
  readonly isDialled: boolean
}
