/** The connected peers, and those configured. */
import { Context, Effect, Layer } from "effect"
import { Network, type Peer } from "../../network/Network.js"
import * as PeerAddress from "../../network/PeerAddress.js"
import { Configuration } from "../start/Configuration.js"

/** A peer configured by address alone is connected under an address that begins with its key. */
const isAt = (peer: Peer, address: string): boolean => peer.address === address || peer.address.endsWith(`@${address}`)

const make = Effect.gen(function* () {
  const network = yield* Network
  const addresses = (yield* Configuration).peers.map(PeerAddress.toText)
  return {
    known: Effect.map(network.peers, (connected) => ({
      connected,
      bootstrap: addresses.map((address) => ({
        address,
        isConnected: connected.some((peer) => isAt(peer, address)),
      })),
    })),
  }
})

export class Peers extends Context.Tag("udg/Peers")<Peers, Effect.Effect.Success<typeof make>>() {}

export type Known = Effect.Effect.Success<(typeof Peers.Service)["known"]>

export const layer = Layer.effect(Peers, make)
