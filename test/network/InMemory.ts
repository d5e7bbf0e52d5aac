/** A network inside one process that delivers every message to all, at once and in order. For tests of whole nodes. */
import { Clock, Effect, Layer, Option, Stream, SubscriptionRef } from "effect"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import { Network, type Peer, type Received } from "../../src/network/Network.js"
import { Volume } from "../../src/network/Volume.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type * as Vertex from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import { Inbox } from "../../src/turns/Inbox.js"

interface Member {
  readonly self: Peer
  readonly inbound: Inbox<Received>
}

/** All nodes have received it already. */
const release = () => {}

/** The queue of a slow reader. Further messages are lost, as on a real network. */
const WAITING_MESSAGES = 10_000

export interface Hub {
  /** The network of one more node, which lasts until its scope ends. */
  readonly join: (name: string, validator: Address | null) => Layer.Layer<Network>
  /** The reported misbehaviours. */
  readonly misbehaviours: ReadonlyArray<{ readonly peer: PeerId; readonly what: string }>
}

export const hub: Effect.Effect<Hub> = Effect.gen(function* () {
  const members = yield* SubscriptionRef.make<ReadonlyArray<Member>>([])
  const misbehaviours: Array<{ readonly peer: PeerId; readonly what: string }> = []

  const joined = (name: string, validator: Address | null) =>
    Effect.gen(function* () {
      const inbound = new Inbox<Received>()
      const id = name as PeerId
      // A node that joins with a validator counts as a member: these networks have no others.
      const standing = validator === null ? "stranger" : "member"
      const self: Peer = {
        id,
        validator,
        address: `/memory/${name}`,
        direction: "inbound",
        agent: "udg",
        latencyMs: 0,
        connectedSince: Natural.timestamp(yield* Clock.currentTimeMillis),
      }
      yield* Effect.acquireRelease(
        SubscriptionRef.update(members, (all) => [...all, { self, inbound }]),
        () => SubscriptionRef.update(members, (all) => all.filter((member) => member.inbound !== inbound)),
      )
      const others = (all: ReadonlyArray<Member>) => all.filter((member) => member.inbound !== inbound)
      const tell = (listeners: ReadonlyArray<Member>, message: Message<Vertex.Encoded>): void => {
        const bytes = MessageCodec.encode(message)
        for (const { inbound } of listeners) {
          if (inbound.length < WAITING_MESSAGES)
            inbound.push({ from: id, standing, network: id, tag: message._tag, bytes, release })
        }
      }
      const peersOf = (all: ReadonlyArray<Member>) => others(all).map((member) => member.self)
      return Network.of({
        listensAt: Option.some(self.address),
        send: (to, message) =>
          Effect.map(members, (all) =>
            tell(
              others(all).filter((member) => member.self.id === to),
              message,
            ),
          ),
        broadcast: (message) => Effect.map(members, (all) => tell(others(all), message)),
        inbound,
        peers: Effect.map(members, peersOf),
        figures: () => ({ freePlaces: 128, failures: 0, volume: new Volume() }),
        changes: Stream.map(members.changes, peersOf),
        misbehaved: (peer, what) => Effect.sync(() => void misbehaviours.push({ peer, what })),
        setMembers: () => Effect.void,
      })
    })

  return {
    join: (name, validator) => Layer.scoped(Network, joined(name, validator)),
    misbehaviours,
  }
})
