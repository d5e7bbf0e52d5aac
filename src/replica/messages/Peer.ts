/** Another node, as this one sees it. */
import type { Address } from "../../protocol/identity/Address.js"
import type { Brand } from "../../protocol/numbers/Kinds.js"

/** The host's name for it; opaque here. */
export type PeerId = string & Brand<"PeerId">

export interface Connection {
  readonly peer: PeerId
  readonly validator: Address | null
  /** Whether this node dialled it. One machine can dial in a hundred times. */
  readonly isDialled: boolean
}
