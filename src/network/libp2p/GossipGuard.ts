/**
 * Stands in front of gossipsub, which decodes whatever comes and answers it at once: lets through whole messages of the
 * wire that hold what an honest node writes, of peers that have greeted, at the rate that each has.
 */
import { setTimeout as sleep } from "node:timers/promises"
import type { GossipSub } from "@chainsafe/libp2p-gossipsub"
import type { Connection, Stream } from "@libp2p/interface"
import type { PeerId } from "../../replica/messages/Peer.js"
import { Allowance, type Rate } from "../Allowance.js"
import { Assembly } from "../Assembly.js"
import * as GossipRpc from "../GossipRpc.js"
import type { Standing } from "../Standing.js"
import { RATES } from "./Rates.js"

/** Above the longest that this node writes: a batch of transactions, or announcements of all that is remembered. */
export const LIMITS: GossipRpc.Limits = {
  bytes: 4_194_304,
  subscriptions: 16,
  messages: 4_096,
  controls: 64,
  ids: 16_384,
}

/** A node subscribes when it connects. */
const SUBSCRIPTIONS: Rate = { burst: 64, perSecond: 1 }

/** Of one peer that has greeted. */
export class GossipMeter {
  readonly #standing: () => Standing
  readonly #now: () => number
  readonly #items: Allowance
  readonly #bytes: Allowance
  readonly #subscriptions: Allowance

  constructor(standing: () => Standing, now: () => number) {
    const { items, bytes } = RATES[standing()].gossip
    this.#standing = standing
    this.#now = now
    this.#items = new Allowance(items, now())
    this.#bytes = new Allowance(bytes, now())
    this.#subscriptions = new Allowance(SUBSCRIPTIONS, now())
  }

  /** Gives how many milliseconds to wait before it is handed on; fails for what is a flood at any standing. */
  charge(counts: GossipRpc.Counts, bytes: number): number {
    const now = this.#now()
    const rates = RATES[this.#standing()].gossip
    this.#items.change(rates.items, now)
    this.#bytes.change(rates.bytes, now)
    const { subscriptions, messages, controls, ids } = counts
    if (this.#subscriptions.take(subscriptions, now) > 0) throw new Flood("more subscriptions than there are topics")
    const items = 1 + subscriptions + messages + controls + ids
    return Math.max(this.#items.take(items, now), this.#bytes.take(bytes, now))
  }
}

export class Flood extends Error {}

export interface Warden {
  /** The meter of a peer that has greeted over this connection; null for one that did not. */
  readonly gossipMeterOf: (connection: Connection) => Promise<GossipMeter | null>
  /** The connection is to be cut for it. */
  readonly gossipedWrongly: (connection: Connection, error: GossipRpc.Malformed | Flood) => void
  /** A bug of this node has ended what it did for a peer. */
  readonly failed: (peer: PeerId, where: string, error: unknown) => void
}

async function* guarded(source: Stream["source"], connection: Connection, warden: Warden) {
  const meter = await warden.gossipMeterOf(connection)
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
      if (error instanceof GossipRpc.Malformed || error instanceof Flood) warden.gossipedWrongly(connection, error)
      else warden.failed(connection.remotePeer.toString() as PeerId, "reading gossip", error)
      throw error
    }
  }
}

type Registrar = ConstructorParameters<typeof GossipSub>[0]["registrar"]

/** A registrar that hands streams over with this guard in front. */
export const registrar = (inner: Registrar, warden: Warden): Registrar => ({
  getProtocols: () => inner.getProtocols(),
  getHandler: (protocol) => inner.getHandler(protocol),
  getTopologies: (protocol) => inner.getTopologies(protocol),
  handle: (protocol, handler, options) =>
    inner.handle(
      protocol,
      (incoming) => {
        const { stream, connection } = incoming
        Object.assign(stream, { source: guarded(stream.source, connection, warden) })
        handler(incoming)
      },
      options,
    ),
  unhandle: (protocol) => inner.unhandle(protocol),
  register: (protocol, topology, options) => inner.register(protocol, topology, options),
  unregister: (id) => inner.unregister(id),
})
