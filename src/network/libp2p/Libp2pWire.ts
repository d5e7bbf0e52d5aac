/** The wire over libp2p. */
import { TopicValidatorResult } from "@libp2p/interface"
import { multiaddr } from "@multiformats/multiaddr"
import type { PeerId } from "../../replica/messages/Peer.js"
import type { RelayDecision } from "../Network.js"
import type * as Wire from "../peers/Wire.js"
import { connectionOf, errorOf } from "./Connections.js"
import * as Transport from "./Transport.js"

const RELAY: { readonly [decision in RelayDecision]: TopicValidatorResult } = {
  news: TopicValidatorResult.Accept,
  known: TopicValidatorResult.Ignore,
  refused: TopicValidatorResult.Reject,
}

export class Libp2pWire implements Wire.Wire {
  readonly #options: Transport.Options
  #transport: Transport.Transport | null = null

  constructor(options: Transport.Options) {
    this.#options = options
  }

  get #node(): Transport.Transport {
    if (this.#transport === null) throw new Error("the network is not started")
    return this.#transport
  }

  get id(): PeerId {
    return this.#node.peerId.toString() as PeerId
  }

  get addresses(): ReadonlyArray<string> {
    return this.#node.getMultiaddrs().map((address) => address.toString())
  }

  get port(): number {
    return Number(this.#node.getMultiaddrs()[0]?.nodeAddress().port ?? 0)
  }

  get connections(): ReadonlyArray<Wire.Connection> {
    return this.#node.getConnections().map(connectionOf)
  }

  async start(policy: Wire.Policy): Promise<void> {
    const node = await Transport.make(this.#options, policy)
    this.#transport = node
    for (const { name, maxInbound, take } of policy.protocols) {
      await node.handle(
        name,
        ({ connection, stream }) => {
          take(connectionOf(connection), stream).catch((error: unknown) => stream.abort(errorOf(error)))
        },
        { maxInboundStreams: maxInbound },
      )
    }
    node.addEventListener("connection:open", ({ detail }) => policy.opened(connectionOf(detail)))
    node.addEventListener("connection:close", ({ detail }) => policy.closed(connectionOf(detail)))
    node.addEventListener("peer:disconnect", ({ detail }) => {
      // Forgets the identify record: new peer ids cost nothing, and each would be kept for hours.
      node.peerStore.delete(detail).catch(() => {})
    })
    await node.start()
    this.#subscribe(node, policy)
  }

  #subscribe({ services: { gossip } }: Transport.Transport, policy: Wire.Policy): void {
    gossip.addEventListener("gossipsub:message", ({ detail: { propagationSource, msg, msgId } }) => {
      const from = propagationSource.toString()
      policy.gossiped(from as PeerId, msg.topic, msg.data, (decision) =>
        gossip.reportMessageValidationResult(msgId, from, RELAY[decision]),
      )
    })
    for (const topic of policy.topics) gossip.subscribe(topic)
  }

  async stop(): Promise<void> {
    await this.#transport?.stop()
  }

  async dial(target: string, limitMs: number): Promise<PeerId> {
    const { remotePeer } = await this.#node.dial(multiaddr(target), { signal: AbortSignal.timeout(limitMs) })
    return remotePeer.toString() as PeerId
  }

  async publish(topic: string, bytes: Uint8Array): Promise<void> {
    await this.#node.services.gossip.publish(topic, bytes)
  }
}
