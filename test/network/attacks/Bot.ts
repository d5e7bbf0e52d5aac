/**
 * A peer as an attacker would write it: its own source address, and lanes without our limits. It proves a key and
 * greets like any peer, and respects only what would cost the connection at once: the credit of each lane.
 */
import { once } from "node:events"
import { connect as dial } from "node:net"
import type { TLSSocket } from "node:tls"
import { Option } from "effect"
import * as Hello from "../../../src/network/Hello.js"
import * as PeerAddress from "../../../src/network/PeerAddress.js"
import * as Channel from "../../../src/network/peers/Channel.js"
import * as Frame from "../../../src/network/peers/Frame.js"
import { Reassembly } from "../../../src/network/Reassembly.js"
import * as Handshake from "../../../src/network/tls/Handshake.js"
import type { Hash } from "../../../src/protocol/identity/Hash.js"
import { SecretKey } from "../../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../../src/protocol/identity/Network.js"

export interface Place {
  readonly networkId: NetworkId
  readonly genesisHash: Hash
  /** Where the node listens. */
  readonly target: string
  /** The source address of this stranger. */
  readonly source?: string
}

export type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>
export type Heard = (channel: Channel.Channel, message: Uint8Array) => void

export interface Wish {
  /**
   * How it reads. Readers keep what arrives; by default it is discarded. The deaf read nothing and the slow almost
   * nothing; both grant the node the largest possible credit.
   */
  readonly heard?: Heard | "deaf" | "slow"
  /** A new key by default. */
  readonly key?: SecretKey
  readonly hello?: Partial<Hello.Hello>
  /** Connects without a hello. */
  readonly isSilent?: boolean
}

export interface Bot {
  readonly isOpen: () => boolean
  /** Sends whole messages, each once there is credit for it. */
  readonly write: (channel: Channel.Channel, messages: Bytes) => Promise<void>
  /** The same message repeatedly, each byte in a piece of its own. */
  readonly writePieces: (
    channel: Channel.Channel,
    message: Uint8Array,
    sent: (bytes: number) => boolean,
  ) => Promise<void>
  /** Sends these bytes unchanged, each piece in a record of its own. */
  readonly writeRaw: (bytes: Bytes) => Promise<void>
  readonly close: () => void
}

const LIMIT_MS = 10_000
/** What the node may send on each lane before this peer reads it. */
const GRANTED = 4_000_000
/** The most that a node accepts, in grants that can be encoded. */
const MOST_NUMBER = 0xff_ffff
const GRANTS = 100
/** What a slow reader reads per second. */
const SLOW_BYTES = 1_024
const GREETED = Channel.all.indexOf("greeting")

const head = (kind: number, lane: number, number: number): Uint8Array =>
  Uint8Array.of(kind * 16 + lane, number & 255, (number >> 8) & 255, (number >> 16) & 255)

/** A piece of a message with its head. */
export const piece = (channel: Channel.Channel, bytes: Uint8Array, kind: number = Frame.KIND.last): Uint8Array =>
  Buffer.concat([head(kind, Channel.all.indexOf(channel), bytes.length), bytes])

/** A broadcast message that its author has already sent to all members. */
export const told = (message: Uint8Array): Uint8Array => Buffer.concat([Uint8Array.of(0), message])

class Line {
  readonly socket: TLSSocket
  readonly #heard: Wish["heard"]
  readonly #credit = Channel.all.map((_, lane) => (lane === GREETED ? Channel.LIMITS.greeting.windowBytes : 0))
  readonly #parts: Array<Array<Uint8Array>> = Channel.all.map(() => [])
  readonly #assembly = new Reassembly(Frame.frameLength)
  readonly greeted: Array<Uint8Array> = []
  #changed = () => {}

  constructor(socket: TLSSocket, heard: Wish["heard"]) {
    this.socket = socket
    this.#heard = heard
    socket.on("close", () => this.#changed())
  }

  change(): Promise<void> {
    if (this.socket.destroyed) throw new Error("the line is cut")
    return new Promise((resolve) => {
      this.#changed = resolve
    })
  }

  begin(rest: Buffer): void {
    this.#read(rest)
    this.socket.on("data", (bytes: Buffer) => this.#read(bytes)).resume()
  }

  /** From now on it reads so slowly that the node has to wait. */
  dawdle(): void {
    this.socket.on("data", (bytes: Buffer) => {
      this.socket.pause()
      setTimeout(() => this.socket.resume(), (bytes.length / SLOW_BYTES) * 1_000).unref()
    })
  }

  #read(bytes: Buffer): void {
    this.#assembly.add(bytes)
    for (let frame = this.#assembly.next(); frame !== undefined; frame = this.#assembly.next()) this.#frame(frame)
    this.#changed()
  }

  #frame(frame: Uint8Array): void {
    const [kind, lane] = [(frame[0] ?? 0) >> 4, (frame[0] ?? 0) & 15]
    const [a = 0, b = 0, c = 0] = frame.subarray(1)
    const number = a + 256 * b + 65_536 * c
    if (kind === Frame.KIND.credit) this.#credit[lane] = this.creditOf(lane) + number
    else if (kind === Frame.KIND.ping) this.socket.write(head(Frame.KIND.pong, 0, number))
    else if (kind <= Frame.KIND.part) {
      const parts = this.#parts[lane] ?? []
      parts.push(frame.slice(Frame.HEAD_BYTES))
      const isGreeting = lane === GREETED
      if (!isGreeting) this.socket.write(head(Frame.KIND.credit, lane, number + Frame.PIECE_COST))
      if (kind === Frame.KIND.part) return
      const message = Buffer.concat(parts.splice(0))
      if (isGreeting) this.greeted.push(message)
      else if (typeof this.#heard === "function") this.#heard(Channel.all[lane] ?? "answers", message)
    }
  }

  creditOf(lane: number): number {
    return this.#credit[lane] ?? 0
  }

  async put(bytes: Uint8Array): Promise<void> {
    if (this.socket.destroyed) throw new Error("the line is cut")
    if (this.socket.write(bytes)) return
    await new Promise<void>((resolve) => {
      const goOn = () => {
        this.socket.off("drain", goOn).off("close", goOn)
        resolve()
      }
      this.socket.on("drain", goOn).on("close", goOn)
    })
  }

  /** Once there is credit for this many bytes in pieces. */
  async spend(channel: Channel.Channel, bytes: number, pieces: number): Promise<void> {
    const lane = Channel.all.indexOf(channel)
    const cost = bytes + pieces * Frame.PIECE_COST
    while (this.creditOf(lane) < cost) await this.change()
    this.#credit[lane] = this.creditOf(lane) - cost
  }

  async send(channel: Channel.Channel, message: Uint8Array): Promise<void> {
    for (let at = 0; at === 0 || at < message.length; at += Frame.PIECE_BYTES) {
      const part = message.subarray(at, at + Frame.PIECE_BYTES)
      await this.spend(channel, part.length, 1)
      const isLast = at + part.length === message.length
      await this.put(piece(channel, part, isLast ? Frame.KIND.last : Frame.KIND.part))
    }
  }
}

const greet = async (line: Line, { networkId, genesisHash }: Place, changes: Partial<Hello.Hello>): Promise<void> => {
  const version = Hello.PROTOCOL_VERSION
  const hello = { version, networkId, genesisHash, agent: "bot", port: 0, challenge: Hello.drawChallenge() }
  await line.send("greeting", Hello.encode({ ...hello, ...changes }))
  await line.send("greeting", Hello.encodeProof(null))
  while (line.greeted.length < 2) await line.change()
}

const PIECES_AT_ONCE = 256

/** Dials and greets. Fails if it is not admitted. */
export const connect = async (place: Place, wish: Wish = {}): Promise<Bot> => {
  const { heard, key = SecretKey.generate(), isSilent = false, hello = {} } = wish
  const { host, port } = Option.getOrThrow(PeerAddress.parse(place.target))
  const raw = dial({ host, port, noDelay: true, ...(place.source === undefined ? {} : { localAddress: place.source }) })
  raw.on("error", () => {})
  await Promise.race([once(raw, "connect"), once(raw, "close").then(() => Promise.reject(new Error("refused")))])
  const { socket, rest } = await Handshake.shake(raw, "dialler", key, LIMIT_MS)
  const line = new Line(socket, heard)
  const timer = setTimeout(() => socket.destroy(), LIMIT_MS)
  const close = () => {
    socket.destroy()
    raw.destroy()
  }
  try {
    line.begin(rest)
    if (!isSilent) await greet(line, place, hello)
    const grants = heard === "deaf" || heard === "slow" ? Array(GRANTS).fill(MOST_NUMBER) : [GRANTED]
    for (const lane of Channel.all.keys()) {
      if (isSilent || lane === GREETED) continue
      await line.put(Buffer.concat(grants.map((granted) => head(Frame.KIND.credit, lane, granted))))
    }
  } catch (error) {
    close()
    throw error
  } finally {
    clearTimeout(timer)
  }
  if (heard === "deaf") socket.pause()
  if (heard === "slow") line.dawdle()
  return {
    isOpen: () => !socket.destroyed && !raw.destroyed,
    write: async (channel, messages) => {
      for await (const message of messages) await line.send(channel, message)
    },
    writePieces: async (channel, message, sent) => {
      for (let at = 0, isEnd = false; ; at = isEnd ? 0 : at + PIECES_AT_ONCE) {
        const bytes = message.subarray(at, at + PIECES_AT_ONCE)
        await line.spend(channel, bytes.length, bytes.length)
        isEnd = at + bytes.length === message.length
        const pieces = Array.from(bytes, (byte, i) => {
          const kind = isEnd && i === bytes.length - 1 ? Frame.KIND.last : Frame.KIND.part
          return piece(channel, Uint8Array.of(byte), kind)
        })
        await line.put(Buffer.concat(pieces))
        if (!sent(bytes.length)) return
      }
    },
    writeRaw: async (bytes) => {
      for await (const each of bytes) await line.put(each)
    },
    close,
  }
}
