/**
 * Guards gossipsub, which decodes and answers everything at once: lets through whole messages of the wire with the
 * content of an honest node, only from peers that have greeted, at each peer's rate.
 */
import { setTimeout as sleep } from "node:timers/promises"
import type { GossipSub } from "@chainsafe/libp2p-gossipsub"
import type { Connection, Stream } from "@libp2p/interface"
import { Assembly } from "../Assembly.js"
import * as GossipRpc from "../GossipRpc.js"
import { Flood } from "../peers/GossipMeter.js"
import type { Policy } from "../peers/Wire.js"
import { connectionOf } from "./Connections.js"

/** Above the longest message of this node: a batch of transactions, or announcements of everything remembered. */
export const LIMITS: GossipRpc.Limits = {
  bytes: 4_194_304,
  subscriptions: 16,
  messages: 4_096,
  controls: 64,
  ids: 16_384,
}

/** The part of the policy that this guard uses. */
type Gate = Pick<Policy, "gossipMeterOf" | "violated" | "failed">

async function* guarded(source: Stream["source"], inner: Connection, policy: Gate) {
  const connection = connectionOf(inner)
  const meter = await policy.gossipMeterOf(connection)
  if (meter === null) throw new Error("no greeting")
  const assembly = new Assembly(GossipRpc.frameLength(LIMITS))
  for await (const piece of source) {
    // The stream's own errors are not caught here.
    try {
      assembly.add(piece.subarray())
      for (let frame = assembly.next(); frame !== undefined; frame = assembly.next()) {
        const counts = GossipRpc.counted(frame.subarray(GossipRpc.headLength(frame)), LIMITS)
        const waitMs = meter.charge(counts, frame.length)
        if (waitMs > 0) await sleep(waitMs, undefined, { ref: false })
        yield frame
      }
    } catch (error) {
      const { peer } = connection
      if (error instanceof Flood) policy.violated(peer, "flood", new Error(`gossip: ${error.message}`))
      else if (error instanceof GossipRpc.Malformed)
        policy.violated(peer, "misframed", new Error(`gossip: ${error.message}`))
      else policy.failed(peer, "reading gossip", error)
      throw error
    }
  }
}

type Registrar = ConstructorParameters<typeof GossipSub>[0]["registrar"]

/** A registrar that puts this guard in front of streams. */
export const registrar = (inner: Registrar, policy: Gate): Registrar => ({
  getProtocols: () => inner.getProtocols(),
  getHandler: (protocol) => inner.getHandler(protocol),
  getTopologies: (protocol) => inner.getTopologies(protocol),
  handle: (protocol, handler, options) =>
    inner.handle(
      protocol,
      (incoming) => {
        const { stream, connection } = incoming
        Object.assign(stream, { source: guarded(stream.source, connection, policy) })
        handler(incoming)
      },
      options,
    ),
  unhandle: (protocol) => inner.unhandle(protocol),
  register: (protocol, topology, options) => inner.register(protocol, topology, options),
  unregister: (id) => inner.unregister(id),
})
