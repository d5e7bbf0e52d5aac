/** The connection of a node to other nodes. Each layer of this service decides how the bytes travel. */
import { Context, Effect, Layer, Option, Stream } from "effect"
import type { Address } from "../protocol/identity/Address.js"
import type { Timestamp } from "../protocol/numbers/Natural.js"
import type * as Vertex from "../protocol/vertex/Vertex.js"
import type { Answer, DiskQuestion, Gossip, Question } from "../replica/messages/Message.js"
import type { PeerId } from "../replica/messages/Peer.js"
import { Inbox } from "../turns/Inbox.js"
import type { Offence } from "./Conduct.js"
import type { Tag } from "./MessageCodec.js"
import type { Standing } from "./Standing.js"
import { Volume } from "./Volume.js"

/** Another node that this one is connected to. */
export interface Peer {
  readonly id: PeerId
  /** The validator whose key it has proven to hold, if any. */
  readonly validator: Address | null
  /** Its address, as KEY@HOST:PORT. */
  readonly address: string
  readonly direction: "inbound" | "outbound"
  /** The program that it claims to run. */
  readonly agent: string
  /** The last measured round trip; null before the first. */
  readonly latencyMs: number | null
  readonly connectedSince: Timestamp
}

/** Whether a message for everybody may be passed on: it is new, it was known, or no honest node sends it. */
export type RelayDecision = "news" | "known" | "refused"

export interface Received {
  readonly from: PeerId
  /** The sender's standing at the time the message came. */
  readonly standing: Standing
  /** The widest network that its address belongs to. */
  readonly network: string
  /** The kind of message, which is allowed on its lane. Nothing else was read. */
  readonly tag: Tag
  readonly bytes: Uint8Array
  /** To be called once it is handled: until then it counts against its sender's limits, and is not passed on. */
  readonly release: (decision: RelayDecision) => void
}

export interface Figures {
  /** Free places for strangers that dial in. */
  readonly freePlaces: number
  /** How often a bug ended work for a peer. */
  readonly failures: number
  /** Live counts of what went over the line. */
  readonly volume: Volume
}

export class Network extends Context.Tag("udg/Network")<
  Network,
  {
    /** Where other nodes can reach this one, if they can. */
    readonly listensAt: Option.Option<string>
    /** Sends to one peer; lost if that is gone. */
    readonly send: (to: PeerId, message: Question | DiskQuestion | Answer<Vertex.Encoded>) => Effect.Effect<void>
    /** To all nodes. */
    readonly broadcast: (message: Gossip) => Effect.Effect<void>
    /** Messages from peers, not checked yet. */
    readonly inbound: Inbox<Received>
    readonly peers: Effect.Effect<ReadonlyArray<Peer>>
    readonly figures: () => Figures
    /** All peers, now and whenever they change. */
    readonly changes: Stream.Stream<ReadonlyArray<Peer>>
    /** Reports that this peer sent something that no honest node sends. */
    readonly misbehaved: (peer: PeerId, what: string, offence?: Offence) => Effect.Effect<void>
    /** The committee from now on: peers that prove the key of one of these validators are members. */
    readonly setMembers: (members: ReadonlyArray<Address>) => Effect.Effect<void>
  }
>() {}

/** No peers: a node on its own. */
export const offline: Layer.Layer<Network> = Layer.sync(Network, () => ({
  listensAt: Option.none(),
  send: () => Effect.void,
  broadcast: () => Effect.void,
  inbound: new Inbox<Received>(),
  peers: Effect.succeed([]),
  figures: () => ({ freePlaces: 1, failures: 0, volume: new Volume() }),
  changes: Stream.never,
  misbehaved: () => Effect.void,
  setMembers: () => Effect.void,
}))
