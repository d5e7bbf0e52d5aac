/** The peers this node is connected to, and those it was configured to connect to. */
import { Context, Effect, Layer } from "effect"
import { Network, type Peer } from "../../network/Network.js"
import * as PeerAddress from "../../network/PeerAddress.js"
import { Configuration } from "../start/Configuration.js"

export interface Bootstrap {
  /** As a multiaddress. */
  readonly address: string
  readonly isConnected: boolean
}

export interface Known {
  readonly connected: ReadonlyArray<Peer>
  readonly bootstrap: ReadonlyArray<Bootstrap>
}

export class Peers extends Context.Tag("udg/Peers")<Peers, { readonly known: Effect.Effect<Known> }>() {}

/** A peer that was configured by address alone answers under an address that ends in its identity. */
const isAt = (peer: Peer, address: string): boolean =>
  peer.address === address || peer.address.startsWith(`${address}/`)

export const layer: Layer.Layer<Peers, never, Network | Configuration> = Layer.effect(
  Peers,
  Effect.gen(function* () {
    const network = yield* Network
    const addresses = (yield* Configuration).peers.map(PeerAddress.toMultiaddr)
    return Peers.of({
      known: Effect.map(network.peers, (connected) => ({
        connected,
        bootstrap: addresses.map((address) => ({
          address,
          isConnected: connected.some((peer) => isAt(peer, address)),
        })),
      })),
    })
  }),
)
