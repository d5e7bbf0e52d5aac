/** A connection whose peer has proven its key: its lanes over a socket, read at the peer's rate. */
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Clock } from "../peers/Clock.js"
import { Violation } from "../peers/Frame.js"
import { Lanes } from "../peers/Lanes.js"
import type { Meter } from "../peers/Meter.js"
import type { Connection, Policy } from "../peers/Wire.js"
import type { RecordSocket } from "./RecordSocket.js"

/** Bytes queued in the socket before the lanes hold back more. */
const UNSENT_BYTES = 262_144
/** TLS overhead of each record: its head, its kind and its tag. */
const RECORD_BYTES = 22
/** The largest incomplete record. */
const INCOMPLETE_BYTES = 16_384 + 256
/** How long a closing connection may take to send pending data. */
const CLOSING_MS = 2_000

export interface Facts {
  readonly peer: PeerId
  readonly direction: Connection["direction"]
  readonly address: string
  readonly host: string
}

export interface Line {
  readonly socket: TLSSocket
  readonly raw: Socket
  readonly records: RecordSocket | null
}

type Gate = Pick<Policy, "meterOf" | "closed" | "violated" | "failed">

export class TlsConnection implements Connection {
  readonly peer: PeerId
  readonly direction: Connection["direction"]
  readonly address: string
  readonly host: string
  readonly lanes: Lanes
  readonly #socket: TLSSocket
  readonly #raw: Socket
  readonly #policy: Gate
  readonly #meter: Meter
  #isOpen = true
  #isPaused = false
  /** Decrypted bytes, and the records that carried them. */
  #plainBytes = 0
  #records = 0
  /** Records without data that were already charged. */
  #emptyRecords = 0
  readonly #counted: RecordSocket | null
  readonly #rawBefore: number
  #rawSeen: number
  #silentTicks = 0

  constructor(facts: Facts, { socket, raw, records }: Line, policy: Gate, clock: Clock) {
    this.peer = facts.peer
    this.direction = facts.direction
    this.address = facts.address
    this.host = facts.host
    this.#socket = socket
    this.#raw = raw
    this.#policy = policy
    this.#meter = policy.meterOf(facts.peer)
    this.#rawBefore = raw.bytesRead
    this.#rawSeen = raw.bytesRead
    const write = (bytes: Uint8Array): boolean => socket.write(bytes) || socket.writableLength < UNSENT_BYTES
    const later = (act: () => void): void => {
      const { gatherMs } = this.#meter
      if (gatherMs > 0) clock.after(gatherMs, act)
      else setImmediate(act)
    }
    this.lanes = new Lanes({ write, soon: setImmediate, later, now: clock.now }, (error) => this.#fail(error))
    this.#counted = records
    if (records !== null) {
      const before = records.count
      records.counted = (count) => this.#chargeBeyond(count - before)
    }
    socket.on("drain", () => this.lanes.drained())
    socket.on("close", () => this.#ended())
  }

  /** Starts reading, beginning with the data that followed the proof. */
  begin(rest: Buffer): void {
    if (rest.length > 0) this.#received(rest)
    this.#socket.on("data", (bytes: Buffer) => this.#received(bytes))
    if (!this.#isPaused) this.#socket.resume()
  }

  get isOpen(): boolean {
    return this.#isOpen && !this.#socket.destroyed
  }

  get unsentBytes(): number {
    return this.#socket.writableLength
  }

  get written(): number {
    return this.#raw.bytesWritten
  }

  #received(bytes: Buffer): void {
    if (this.#socket.destroyed) return
    this.#records++
    this.#plainBytes += bytes.length
    try {
      const frames = this.lanes.received(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length))
      this.#charge(1 + frames, bytes.length)
    } catch (error) {
      this.#fail(error)
    }
  }

  #charge(pieces: number, bytes: number): void {
    const pause = this.#meter.charge(pieces, bytes)
    if (pause === undefined || this.#isPaused) return
    this.#isPaused = true
    this.#socket.pause()
    this.#counted?.hold(true)
    void pause.then(() => {
      this.#isPaused = false
      this.#silentTicks = 0
      this.#counted?.hold(false)
      this.#socket.resume()
    })
  }

  /**
   * Charges records without data: empty ones and key updates. TLS consumes them silently, but their bytes show in
   * `bytesRead`. Call periodically; does nothing if records are counted.
   */
  chargeEmpty(): void {
    if (this.#counted !== null) return
    const overhead = this.#raw.bytesRead - this.#rawBefore - this.#plainBytes - INCOMPLETE_BYTES
    this.#chargeBeyond(Math.floor(overhead / RECORD_BYTES))
  }

  /** `records`: the total; those already known to have carried data are not charged again. */
  #chargeBeyond(records: number): void {
    const empty = records - this.#records - this.#emptyRecords
    // Decrypted but unread bytes are data.
    if (empty <= 0 || this.#socket.readableLength > 0) return
    this.#emptyRecords += empty
    this.#charge(empty, 0)
  }

  /**
   * Counts ticks without a received byte, except while this node pauses reading. A stall of this process counts as one
   * tick, however long: data that arrived meanwhile is read next.
   */
  isSilentFor(ticks: number): boolean {
    const { bytesRead } = this.#raw
    this.#silentTicks = bytesRead === this.#rawSeen && !this.#isPaused ? this.#silentTicks + 1 : 0
    this.#rawSeen = bytesRead
    return this.#silentTicks > ticks
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.lanes.flush()
    this.#socket.end()
    setTimeout(() => this.#socket.destroy(), CLOSING_MS).unref()
  }

  abort(_reason: Error): void {
    this.#isOpen = false
    this.#socket.destroy()
    this.#raw.destroy()
  }

  #fail(error: unknown): void {
    if (this.#socket.destroyed) return
    if (error instanceof Violation) this.#policy.violated(this, error)
    else this.#policy.failed(this.peer, "reading a connection", error)
    this.abort(error instanceof Error ? error : new Error(String(error)))
  }

  #ended(): void {
    this.#isOpen = false
    this.lanes.end()
    this.#raw.destroy()
    this.#policy.closed(this)
  }
}
