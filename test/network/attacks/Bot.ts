/**
 * A stranger as an attacker writes one: its own source address, its own transport with none of our limits, and writes
 * gathered into large packets, so that the attack costs the attacker as little as it can.
 */
import "../../../src/network/libp2p/withResolvers.js"
import { randomBytes } from "node:crypto"
import { noise } from "@chainsafe/libp2p-noise"
import { yamux } from "@chainsafe/libp2p-yamux"
import type { Connection, ConnectionEncrypter, Stream } from "@libp2p/interface"
import { tcp } from "@libp2p/tcp"
import { multiaddr } from "@multiformats/multiaddr"
import { createLibp2p } from "libp2p"
import * as Frames from "../../../src/network/Frames.js"
import * as Hello from "../../../src/network/Hello.js"
import { keyOf } from "../../../src/network/libp2p/Transport.js"
import * as Channel from "../../../src/network/peers/Channel.js"
import * as Greeting from "../../../src/network/peers/Greeting.js"
import type { Hash } from "../../../src/protocol/identity/Hash.js"
import type { NetworkId } from "../../../src/protocol/identity/Network.js"

export interface Place {
  readonly networkId: NetworkId
  readonly genesisHash: Hash
  /** A multiaddress with the id of the node there. */
  readonly target: string
  /** Where this stranger comes from. */
  readonly source: string
}

export type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

export interface Bot {
  readonly isOpen: () => boolean
  /** Writes to a stream of this name until the node ends it. */
  readonly write: (channel: Channel.Channel, bytes: Bytes) => Promise<void>
  /** The same, each byte in a frame of its own, of this message again and again. */
  readonly writePieces: (
    channel: Channel.Channel,
    message: Uint8Array,
    sent: (bytes: number) => boolean,
  ) => Promise<void>
  /** Opens streams as fast as it is let, asks for protocols that nobody has, and resets them. */
  readonly openStreams: (sent: (bytes: number) => boolean) => Promise<void>
  /** The same as `write` to gossip. */
  readonly gossip: (bytes: Bytes) => Promise<void>
  readonly topic: (name: "transactions" | "votes") => string
  readonly close: () => Promise<void>
}

const GOSSIP = ["/meshsub/1.2.0", "/meshsub/1.1.0"]
const DIAL_LIMIT_MS = 10_000
/** One message of Noise holds as many frames of a muxer as fit. */
const PACKET_BYTES = 60_000
/** Packets that wait for a node that reads slowly. */
const MAX_PACKETS = 16

interface Piece {
  subarray(): Uint8Array
}

/** What goes out on a connection: everything that is written within one turn of the event loop goes together. */
class Packets {
  #pieces: Array<Uint8Array> = []
  #bytes = 0
  #isOver = false
  #wake = () => {}
  #resume: Array<() => void> = []

  /** Past the muxer, whose frames these bytes already are. */
  async add(piece: Uint8Array): Promise<void> {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    this.#wake()
    while (this.#bytes > MAX_PACKETS * PACKET_BYTES && !this.#isOver) {
      await new Promise<void>((resolve) => this.#resume.push(resolve))
    }
  }

  async #pull(source: AsyncIterable<Piece>): Promise<void> {
    try {
      for await (const piece of source) await this.add(piece.subarray())
    } catch {
      // The connection is gone.
    } finally {
      this.#isOver = true
      this.#wake()
    }
  }

  async *of(source: AsyncIterable<Piece>): AsyncGenerator<Uint8Array, undefined> {
    const pulled = this.#pull(source)
    while (!this.#isOver || this.#pieces.length > 0) {
      if (this.#pieces.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
      await new Promise((resolve) => setImmediate(resolve))
      const packet = Buffer.concat(this.#pieces)
      this.#pieces = []
      this.#bytes = 0
      for (const resume of this.#resume.splice(0)) resume()
      for (let at = 0; at < packet.length; at += PACKET_BYTES) yield packet.subarray(at, at + PACKET_BYTES)
    }
    await pulled
    return undefined
  }
}

const encrypter =
  (packets: Packets) =>
  (components: Parameters<ReturnType<typeof noise>>[0]): ConnectionEncrypter => {
    const inner = noise()(components)
    return {
      protocol: inner.protocol,
      secureInbound: (connection, options) => inner.secureInbound(connection, options),
      secureOutbound: async (connection, options) => {
        const secured = await inner.secureOutbound(connection, options)
        const sink = secured.conn.sink.bind(secured.conn)
        secured.conn.sink = (source) => sink(packets.of(source))
        return secured
      },
    }
  }

/** A frame of the muxer for each byte: its header is twelve bytes, with the stream at the fourth and the length at the eighth. */
const HEADER_BYTES = 12

const single = (stream: number, bytes: Uint8Array): Uint8Array => {
  const frames = Buffer.alloc((HEADER_BYTES + 1) * bytes.length)
  for (const [i, byte] of bytes.entries()) {
    const at = i * (HEADER_BYTES + 1)
    frames.writeUInt32BE(stream, at + 4)
    frames.writeUInt32BE(1, at + 8)
    frames[at + HEADER_BYTES] = byte
  }
  return frames
}

/** What we use of the muxer's own stream. */
interface Window {
  readonly _id: number
  sendWindowCapacity: number
}

const isWindow = (stream: object): stream is Window => "_id" in stream && "sendWindowCapacity" in stream

const PIECES_AT_ONCE = 4_096
const LOOK_MS = 20

const WINDOW_UPDATE = 1
const [SYN, RST] = [1, 8]
/** Far above those of the muxer itself. */
const FIRST_STREAM = 1_000_001
const STREAMS_AT_ONCE = 64

const frame = (type: number, flags: number, stream: number, content: Uint8Array): Uint8Array => {
  const head = Buffer.alloc(HEADER_BYTES)
  head.writeUInt8(type, 1)
  head.writeUInt16BE(flags, 2)
  head.writeUInt32BE(stream, 4)
  head.writeUInt32BE(content.length, 8)
  return Buffer.concat([head, content])
}

const NOTHING = new Uint8Array(0)
const PROPOSAL = Buffer.from("\x13/multistream/1.0.0\n\x0d/udg/nothing\n", "utf8")

/** A stream that is opened, negotiates in vain, and is reset. */
const vainStream = (stream: number): Uint8Array =>
  Buffer.concat([
    frame(WINDOW_UPDATE, SYN, stream, NOTHING),
    frame(0, 0, stream, PROPOSAL),
    frame(WINDOW_UPDATE, RST, stream, NOTHING),
  ])

/** Everything a node sends to it is read and thrown away, but for what `heard` wants. */
const drain = async (stream: Stream, channel: Channel.Channel, heard: Heard | "deaf" | null): Promise<void> => {
  if (heard === "deaf") return
  if (heard === null) for await (const _ of stream.source);
  else for await (const frame of Frames.read(stream.source, 8_000_000)) heard(channel, frame)
}

export type Heard = (channel: Channel.Channel, frame: Uint8Array) => void

/**
 * Dials and greets under a new identity; fails when it is not let in. `heard`: takes what comes; the deaf read nothing of
 * it, all others throw it away.
 */
export const connect = async (place: Place, heard: Heard | "deaf" | null = null): Promise<Bot> => {
  const protocolOf = (name: string) => `/udg/${Hello.PROTOCOL_VERSION}/${place.genesisHash}/${name}`
  const packets = new Packets()
  const node = await createLibp2p({
    start: false,
    privateKey: keyOf(randomBytes(32)),
    addresses: { listen: [] },
    transports: [tcp({ dialOpts: { noDelay: true, localAddress: place.source } as { noDelay: boolean } })],
    connectionEncrypters: [encrypter(packets)],
    streamMuxers: [yamux({ maxInboundStreams: 64, maxOutboundStreams: 64 })],
    connectionManager: { reconnectRetries: 0 },
    connectionMonitor: { enabled: false },
  })
  let connection: Connection | null = null
  try {
    for (const channel of Channel.all) {
      await node.handle(protocolOf(channel), ({ stream }) => void drain(stream, channel, heard).catch(() => {}))
    }
    await node.handle(GOSSIP, ({ stream }) => void drain(stream, "questions", null).catch(() => {}))
    await node.start()
    const opened = await node.dial(multiaddr(place.target), { signal: AbortSignal.timeout(DIAL_LIMIT_MS) })
    connection = opened
    const { networkId, genesisHash } = place
    const version = Hello.PROTOCOL_VERSION
    const hello = { version, networkId, genesisHash, agent: "bot", port: 0, challenge: Hello.drawChallenge() }
    const stream = await opened.newStream(Greeting.PROTOCOL, { signal: AbortSignal.timeout(DIAL_LIMIT_MS) })
    await Greeting.greet({ id: node.peerId.toString(), hello, signer: null }, opened.remotePeer.toString(), stream)
    const write = async (protocol: string | Array<string>, bytes: Bytes) => {
      const out = await opened.newStream(protocol, { signal: AbortSignal.timeout(DIAL_LIMIT_MS) })
      await out.sink(bytes)
    }
    const writePieces = async (channel: Channel.Channel, message: Uint8Array, sent: (bytes: number) => boolean) => {
      const out = await opened.newStream(protocolOf(channel), { signal: AbortSignal.timeout(DIAL_LIMIT_MS) })
      if (!isWindow(out)) throw new Error("another muxer")
      // The muxer's own first message opens the stream for good.
      await out.sink(
        (async function* () {
          for (let at = 0; out.status === "open"; ) {
            const part = message.subarray(at, at + Math.min(PIECES_AT_ONCE, out.sendWindowCapacity - 1))
            if (part.length === 0) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
            out.sendWindowCapacity -= part.length
            await packets.add(single(out._id, part))
            at = (at + part.length) % message.length
            if (!sent(part.length)) return
            await new Promise((resolve) => setImmediate(resolve))
          }
        })(),
      )
    }
    let nextStream = FIRST_STREAM
    const openStreams = async (sent: (bytes: number) => boolean) => {
      for (;;) {
        const first = nextStream
        const bytes = Buffer.concat(Array.from({ length: STREAMS_AT_ONCE }, (_, n) => vainStream(first + 2 * n)))
        nextStream += 2 * STREAMS_AT_ONCE
        await packets.add(bytes)
        if (!sent(bytes.length) || opened.status !== "open") return
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    return {
      writePieces,
      openStreams,
      isOpen: () => opened.status === "open",
      write: (channel, bytes) => write(protocolOf(channel), bytes),
      gossip: (bytes) => write(GOSSIP, bytes),
      topic: protocolOf,
      close: async () => {
        opened.abort(new Error("over"))
        await node.stop()
      },
    }
  } catch (error) {
    connection?.abort(new Error("not let in"))
    await node.stop()
    throw error
  }
}
