/**
 * Guards the two points that libp2p leaves open to anyone: the bytes before the encryption is agreed on, and the
 * encrypted records before the multiplexer. After that every peer has its meter.
 */
import type {
  ConnectionEncrypter,
  ConnectionProtector,
  PeerId as Libp2pPeerId,
  MultiaddrConnection,
  SecuredConnection,
  StreamMuxerFactory,
} from "@libp2p/interface"
import * as Binary from "../../protocol/encoding/Binary.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import { Assembly } from "../Assembly.js"
import type { Piece } from "../Frames.js"
import type { Policy } from "../peers/Wire.js"
import * as MuxerGuard from "./MuxerGuard.js"
import * as Silence from "./Silence.js"

/** The part of the policy that these guards use. */
type Gate = Pick<Policy, "meterOf" | "multiplexed" | "violated" | "failed">

const line = (text: string): Uint8Array => {
  const bytes = Binary.utf8(`${text}\n`)
  return Uint8Array.of(bytes.length, ...bytes)
}

/**
 * The first bytes of either side. There is one encryption to agree on, and libp2p would answer thousands of proposals.
 */
export const preamble = (encryption: string): Uint8Array =>
  Uint8Array.of(...line("/multistream/1.0.0"), ...line(encryption))

/** Fails if a source does not begin with these bytes. */
export async function* beginning<A extends Piece>(
  source: AsyncIterable<A>,
  expected: Uint8Array,
): AsyncGenerator<A, undefined> {
  let at = 0
  for await (const piece of source) {
    if (at < expected.length) {
      const start = piece.subarray().subarray(0, expected.length - at)
      if (start.some((byte, i) => byte !== expected[at + i])) {
        throw new MuxerGuard.Violation("it speaks another protocol")
      }
      at += start.length
    }
    yield piece
  }
  return undefined
}

const RECORD_HEAD_BYTES = 2

const recordLength = (start: Uint8Array): number | undefined =>
  start.length < RECORD_HEAD_BYTES ? undefined : RECORD_HEAD_BYTES + (start[0] ?? 0) * 256 + (start[1] ?? 0)

/** Joins encrypted records, since the library's own work is quadratic in the pieces of one. */
export async function* records(source: AsyncIterable<Piece>): AsyncGenerator<Uint8Array, undefined> {
  const assembly = new Assembly(recordLength)
  for await (const piece of source) {
    assembly.add(piece.subarray())
    for (let record = assembly.next(); record !== undefined; record = assembly.next()) yield record
  }
  return undefined
}

/** `arrived` is called for every connection before anything is read from it. */
export const protector = (
  encryption: string,
  silence: Silence.Limit,
  arrived: Policy["arrived"],
): ConnectionProtector => {
  const expected = preamble(encryption)
  return {
    protect: async (connection: MultiaddrConnection) => {
      arrived(connection.remoteAddr.toString(), () =>
        connection.abort(new MuxerGuard.Violation("others wait to greet")),
      )
      connection.source = beginning(Silence.watched(connection.source, connection, silence), expected)
      return connection
    },
  }
}

type Secure = ConnectionEncrypter["secureInbound"]

export const encrypter = (inner: ConnectionEncrypter, policy: Gate): ConnectionEncrypter => {
  const muxerFor = (remote: Libp2pPeerId, factory: StreamMuxerFactory | undefined): StreamMuxerFactory => {
    // It would be negotiated by the same endless lines; every node of this program negotiates it in the handshake.
    if (factory === undefined) throw new MuxerGuard.Violation("it names no multiplexer in the handshake")
    const peer = remote.toString() as PeerId
    return MuxerGuard.guarded(factory, {
      meter: policy.meterOf(peer),
      opened: (each) => policy.multiplexed(peer, each),
      violated: (violation) => policy.violated(peer, "misframed", violation),
      failed: (error) => policy.failed(peer, "reading a connection", error),
    })
  }
  const guarded =
    (secure: Secure): Secure =>
    async (connection, options) => {
      connection.source = records(connection.source)
      const secured = await secure(connection, options)
      return { ...secured, streamMuxer: muxerFor(secured.remotePeer, secured.streamMuxer) } satisfies SecuredConnection
    }
  return {
    protocol: inner.protocol,
    secureInbound: guarded((connection, options) => inner.secureInbound(connection, options)),
    secureOutbound: guarded((connection, options) => inner.secureOutbound(connection, options)),
  }
}
