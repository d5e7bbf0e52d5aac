/**
 * The interface of a transport: connections to peers with proven ids, each with its lanes. `network/tls` implements it
 * over sockets, and tests do so in memory.
 */
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Violation } from "./Frame.js"
import type { Lanes } from "./Lanes.js"
import type { Meter } from "./Meter.js"

/** The outgoing data of one connection, below its lanes. */
export interface Outflow {
  readonly unsentBytes: number
  readonly written: number
}

export interface Connection extends Outflow {
  readonly peer: PeerId
  readonly direction: "inbound" | "outbound"
  /** The other end, as HOST:PORT. */
  readonly address: string
  readonly host: string
  /** False once it begins to close, possibly long before `Policy.closed`. */
  readonly isOpen: boolean
  readonly lanes: Lanes
  /** Closes after sending pending data, if possible. */
  readonly close: () => void
  readonly abort: (reason: Error) => void
}

/** Something listens there but does not act as the expected peer. */
export class NoPeer extends Error {}

export interface Wire {
  readonly id: PeerId
  /** Where it listens, as KEY@HOST:PORT. */
  readonly addresses: ReadonlyArray<string>
  readonly port: number
  /** Includes closing connections. */
  readonly connections: ReadonlyArray<Connection>
  readonly start: (policy: Policy) => Promise<void>
  readonly stop: () => Promise<void>
  /**
   * Connects to [KEY@]HOST:PORT and returns the peer that answered, which may be this node itself. Fails with `NoPeer`,
   * or if nothing listens there.
   */
  readonly dial: (target: string, limitMs: number) => Promise<PeerId>
}

/** Questions and reports from the wire. It may report the end of a connection late, and more than once. */
export interface Policy {
  /** Asked before anything is read from a connection or computed for it. */
  readonly refusesHost: (address: string, host: string) => boolean
  /** Whether a member or a named peer is known at this host. */
  readonly knows: (host: string) => boolean
  /** An accepted connection, and how to cut it. */
  readonly arrived: (address: string, cut: () => void) => void
  /** An accepted connection ended before its peer proved its id. */
  readonly vanished: (address: string) => void
  /** Asked once the peer's id is known. */
  readonly refusesPeer: (peer: PeerId) => boolean
  readonly meterOf: (peer: PeerId) => Meter
  readonly opened: (connection: Connection) => void
  readonly closed: (connection: Connection) => void
  /** The peer broke the rules below the level of messages and must be cut. */
  readonly violated: (connection: Connection, violation: Violation) => void
  readonly failed: (peer: PeerId, where: string, error: unknown) => void
}
