/** The service through which a node talks to other nodes. Each layer chooses the transport. */
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

export interface Peer {
  readonly id: PeerId
  readonly validator: Address | null
  /** Its address, as KEY@HOST:PORT. */
  readonly address: string
  readonly direction: "inbound" | "outbound"
  /** The program it claims to run. */
  readonly agent: string
  /** The last measured round trip; null before the first. */
  readonly latencyMs: number | null
  readonly connectedSince: Timestamp
}

/** Whether a broadcast message can be relayed: it is new, already known, or something no honest node sends. */
export type RelayDecision = "news" | "known" | "refused"

export interface Received {
  readonly from: PeerId
  readonly standing: Standing
  /** The widest network that contains its address. */
  readonly network: string
  /** The kind of message, which is allowed on its lane. Nothing else has been read. */
  readonly tag: Tag
  readonly bytes: Uint8Array
  /** Call once the message is handled. Until then it counts against its sender's limits and is not relayed. */
  readonly release: (decision: RelayDecision) => void
}

export interface Figures {
  readonly freePlaces: number
  /** How many times a bug ended work for a peer. */
  readonly failures: number
  readonly volume: Volume
}

export class Network extends Context.Tag("udg/Network")<
  Network,
  {
    /** Where other nodes can reach this one, if they can. */
    readonly listensAt: Option.Option<string>
    readonly send: (to: PeerId, message: Question | DiskQuestion | Answer<Vertex.Encoded>) => Effect.Effect<void>
    readonly broadcast: (message: Gossip) => Effect.Effect<void>
    /** Messages from peers, not yet checked. */
    readonly inbound: Inbox<Received>
    readonly peers: Effect.Effect<ReadonlyArray<Peer>>
    readonly figures: () => Figures
    /** All peers, now and after every change. */
    readonly changes: Stream.Stream<ReadonlyArray<Peer>>
    readonly misbehaved: (peer: PeerId, what: string, offence?: Offence) => Effect.Effect<void>
    /** Sets the committee. Peers that prove the key of one of these validators are members. */
    readonly setMembers: (members: ReadonlyArray<Address>) => Effect.Effect<void>
  }
>() {}

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
