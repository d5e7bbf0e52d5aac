import type * as Kinds from "../../protocol/numbers/Kinds.js"

/** The network that transactions are for: they are invalid on any other. */
export interface NetworkName {
  readonly networkId: Kinds.NetworkId
  readonly prefix: Kinds.AddressPrefix
}
