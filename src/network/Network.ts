/** How a node talks to the others. What goes over the wire, and how, is each layer's own business. */
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

/** Another node that this one is connected to. */
export interface Peer {
  readonly id: PeerId
  /** The validator whose key it has proven to hold; null for who proved none. */
  readonly validator: Address | null
  /** Where it is, as a multiaddress. */
  readonly address: string
  readonly direction: "inbound" | "outbound"
  /** What program it says it is. */
  readonly agent: string
  /** The last measured round trip; null before the first. */
  readonly latencyMs: number | null
  readonly connectedSince: Timestamp
}

/** What became of a message: news that others may hear too, nothing new, or what no honest node sends. */
export type Verdict = "news" | "known" | "refused"

export interface Received {
  readonly from: PeerId
  /** Who the sender is to this node, as of the moment the message came. */
  readonly standing: Standing
  /** What it says it is, which its way allows. Nothing else of it was read: that is for whoever judges it, in its turn. */
  readonly tag: Tag
  readonly bytes: Uint8Array
  /** To be told once it was taken in: until then it takes up its sender's room, and is forwarded to nobody. */
  readonly release: (verdict: Verdict) => void
}

export interface Figures {
  /** For strangers that dial in. */
  readonly freePlaces: number
  /** How often a bug ended something that was done for a peer. */
  readonly failures: number
}

export class Network extends Context.Tag("udg/Network")<
  Network,
  {
    /** Where others reach this node; none when they cannot. */
    readonly listensAt: Option.Option<string>
    /** To one peer; lost when it is gone. */
    readonly send: (to: PeerId, message: Question | DiskQuestion | Answer<Vertex.Encoded>) => Effect.Effect<void>
    /** To everybody, by whatever way. */
    readonly broadcast: (message: Gossip) => Effect.Effect<void>
    /** What others say, as bytes that nobody has judged yet. */
    readonly inbound: Inbox<Received>
    readonly peers: Effect.Effect<ReadonlyArray<Peer>>
    readonly figures: () => Figures
    /** Everybody there is, now and whenever that changes. */
    readonly changes: Stream.Stream<ReadonlyArray<Peer>>
    /** This peer sent what no honest node sends. */
    readonly misbehaved: (peer: PeerId, what: string, offence?: Offence) => Effect.Effect<void>
    /** The committee from now on: peers that prove one of these validators' keys are its members. */
    readonly setMembers: (members: ReadonlyArray<Address>) => Effect.Effect<void>
  }
>() {}

/** Nobody there: a node for itself. */
export const nobody: Layer.Layer<Network> = Layer.sync(Network, () => ({
  listensAt: Option.none(),
  send: () => Effect.void,
  broadcast: () => Effect.void,
  inbound: new Inbox<Received>(),
  peers: Effect.succeed([]),
  figures: () => ({ freePlaces: 1, failures: 0 }),
  changes: Stream.never,
  misbehaved: () => Effect.void,
  setMembers: () => Effect.void,
}))
