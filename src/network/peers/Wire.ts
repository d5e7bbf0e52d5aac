/**
 * All that this room asks of a network: connections to peers whose ids are proven, each with its lanes. `network/tls`
 * implements it over sockets, and a test can do the same without.
 */
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Violation } from "./Frame.js"
import type { Lanes } from "./Lanes.js"
import type { Meter } from "./Meter.js"

/** The outgoing data of one connection, below its lanes. */
export interface Outflow {
  /** Bytes that wait to be written. */
  readonly unsentBytes: number
  /** How many bytes were written so far. */
  readonly written: number
}

export interface Connection extends Outflow {
  /** The id that the handshake has proven. */
  readonly peer: PeerId
  readonly direction: "inbound" | "outbound"
  /** The other end, as HOST:PORT. */
  readonly address: string
  /** The host in that address. */
  readonly host: string
  /** False as soon as it begins to close, which may be long before `Policy.closed`. */
  readonly isOpen: boolean
  readonly lanes: Lanes
  /** Closes once everything under way is sent, or cannot be. */
  readonly close: () => void
  /** Closes at once. */
  readonly abort: (reason: Error) => void
}

/** Something listens there, but gives no connection to the peer that is expected. */
export class NoPeer extends Error {}

export interface Wire {
  readonly id: PeerId
  /** Where it listens, as KEY@HOST:PORT. */
  readonly addresses: ReadonlyArray<string>
  readonly port: number
  /** All connections, including those that are closing. */
  readonly connections: ReadonlyArray<Connection>
  readonly start: (policy: Policy) => Promise<void>
  readonly stop: () => Promise<void>
  /**
   * Connects to [KEY@]HOST:PORT; the result is the peer that answered, which may be this node itself. Fails with `NoPeer`,
   * or if nothing listens there.
   */
  readonly dial: (target: string, limitMs: number) => Promise<PeerId>
}

/** The calls a wire makes to ask and report. It may report the end of a connection late, and more than once. */
export interface Policy {
  /** Asked before anything is read from a connection, or computed for it. */
  readonly refusesHost: (address: string, host: string) => boolean
  /** Whether a member or a named peer is known to be there. */
  readonly knows: (host: string) => boolean
  /** A connection that was not refused, and how to cut it. */
  readonly arrived: (address: string, cut: () => void) => void
  /** A connection that was not refused is gone before its peer's id was proven. */
  readonly vanished: (address: string) => void
  /** Asked once the peer's id is known. */
  readonly refusesPeer: (peer: PeerId) => boolean
  readonly meterOf: (peer: PeerId) => Meter
  readonly opened: (connection: Connection) => void
  readonly closed: (connection: Connection) => void
  /** The peer broke the rules below the level of messages, and must be cut. */
  readonly violated: (connection: Connection, violation: Violation) => void
  /** A bug of this node ended its work for a peer. */
  readonly failed: (peer: PeerId, where: string, error: unknown) => void
}
