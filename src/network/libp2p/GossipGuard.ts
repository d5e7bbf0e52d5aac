/**
 * Stands in front of gossipsub, which decodes whatever comes and answers it at once: lets through whole messages of the
 * wire that hold what an honest node writes, of peers that have greeted, at the rate that each has.
 */
import { setTimeout as sleep } from "node:timers/promises"
import type { GossipSub } from "@chainsafe/libp2p-gossipsub"
import type { Connection, Stream } from "@libp2p/interface"
import { Assembly } from "../Assembly.js"
import * as GossipRpc from "../GossipRpc.js"
import { Flood } from "../peers/GossipMeter.js"
import type { Policy } from "../peers/Wire.js"
import { connectionOf } from "./Connections.js"

/** Above the longest that this node writes: a batch of transactions, or announcements of all that is remembered. */
export const LIMITS: GossipRpc.Limits = {
  bytes: 4_194_304,
  subscriptions: 16,
  messages: 4_096,
  controls: 64,
  ids: 16_384,
}

/** What of the policy this guard asks. */
type Gate = Pick<Policy, "gossipMeterOf" | "violated" | "failed">

async function* guarded(source: Stream["source"], inner: Connection, policy: Gate) {
  const connection = connectionOf(inner)
  const meter = await policy.gossipMeterOf(connection)
  if (meter === null) throw new Error("no greeting")
  const assembly = new Assembly(GossipRpc.frameLength(LIMITS))
  for await (const piece of source) {
    // What the stream itself ends with does not come here.
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

/** A registrar that hands streams over with this guard in front. */
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
