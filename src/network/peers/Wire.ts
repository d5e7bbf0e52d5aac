/**
 * All that this room asks of a network library: connections to peers whose ids are proven, streams of bytes over them, and
 * gossip. `network/libp2p` implements it, and a test can do the same without sockets.
 */
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Offence } from "../Conduct.js"
import type { Piece } from "../Frames.js"
import type { RelayDecision } from "../Network.js"
import type { GossipMeter } from "./GossipMeter.js"
import type { Meter } from "./Meter.js"
import type { Outflow } from "./Traffic.js"

/** Time as the policy for peers sees it. */
export interface Clock {
  /** Milliseconds; never set. */
  readonly now: () => number
  /** Neither keeps the process alive. */
  readonly wait: (ms: number) => Promise<void>
  /** Acts once these milliseconds have passed, unless the returned function is called before. */
  readonly after: (ms: number, act: () => void) => () => void
}

export interface Stream {
  readonly source: AsyncIterable<Piece>
  /** Resolves once everything is sent. */
  readonly sink: (pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) => Promise<void>
  readonly close: () => Promise<void>
  readonly closeWrite: () => Promise<void>
  /** Ends both directions at once. */
  readonly abort: (reason: Error) => void
}

export interface Connection {
  /** The id that the handshake has proven. */
  readonly peer: PeerId
  readonly direction: "inbound" | "outbound"
  /** The other end, as a multiaddress without a peer id. */
  readonly address: string
  /** The host in that address; null if it has none. */
  readonly host: string | null
  /** False as soon as it begins to close, which may be long before `Policy.closed`. */
  readonly isOpen: boolean
  /** The last measured round trip; null before the first. */
  readonly latencyMs: number | null
  readonly open: (protocol: string) => Promise<Stream>
  /** Closes once everything under way is sent, or cannot be. */
  readonly close: () => void
  /** Closes at once. */
  readonly abort: (reason: Error) => void
}

export interface Wire {
  readonly id: PeerId
  /** Where it listens, as multiaddresses with its peer id. */
  readonly addresses: ReadonlyArray<string>
  readonly port: number
  /** All connections, including those that are closing. */
  readonly connections: ReadonlyArray<Connection>
  readonly start: (policy: Policy) => Promise<void>
  readonly stop: () => Promise<void>
  /** Connects to a multiaddress; the result is the peer that answered, which may be this node itself. */
  readonly dial: (target: string, limitMs: number) => Promise<PeerId>
  readonly publish: (topic: string, bytes: Uint8Array) => Promise<void>
}

/** A kind of stream that peers may open. */
export interface Protocol {
  readonly name: string
  /** How many of them one peer may have open. */
  readonly maxInbound: number
  /** Failing aborts the stream. */
  readonly take: (connection: Connection, stream: Stream) => Promise<void>
}

/** The calls a wire makes to ask and report. It may report the end of a connection late, and more than once. */
export interface Policy {
  readonly protocols: ReadonlyArray<Protocol>
  /** The topics of gossip. */
  readonly topics: ReadonlyArray<string>
  /** Asked before anything is read from a connection. */
  readonly refusesHost: (address: string, host: string) => boolean
  /** A connection that was not refused, and how to cut it. */
  readonly arrived: (address: string, cut: () => void) => void
  /** Asked once the peer's id is known. */
  readonly refusesPeer: (peer: PeerId) => boolean
  readonly meterOf: (peer: PeerId) => Meter
  /** A multiplexer starts on a connection to this peer. */
  readonly multiplexed: (peer: PeerId, outflow: Outflow) => void
  readonly opened: (connection: Connection) => void
  readonly closed: (connection: Connection) => void
  /** The meter of a peer that has greeted over this connection; null if it did not. */
  readonly gossipMeterOf: (connection: Connection) => Promise<GossipMeter | null>
  readonly gossiped: (from: PeerId, topic: string, bytes: Uint8Array, relay: (decision: RelayDecision) => void) => void
  /** The peer broke the rules below the level of messages, and must be cut. */
  readonly violated: (peer: PeerId, offence: Offence, violation: Error) => void
  /** A bug of this node ended its work for a peer. */
  readonly failed: (peer: PeerId, where: string, error: unknown) => void
}
