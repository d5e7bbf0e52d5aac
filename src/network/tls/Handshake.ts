/** Turns a connected socket into a peer with a proven key, within limits on time and bytes. */
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import type { Signer } from "../../protocol/identity/Keys.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import * as NodeProof from "./NodeProof.js"
import type { RecordSocket } from "./RecordSocket.js"
import * as Security from "./Security.js"

export const LIMIT_MS = 5_000
/** How often to check whether a stranger has sent more than a handshake takes. */
const LOOK_MS = 100
/** More than a handshake, a proof and the first messages take. */
const MOST_BYTES = 16_384
/** The same limit in records. */
const MOST_RECORDS = 32

const ANOTHER = "it speaks another protocol"
/** A node that refuses this one also closes. */
const CLOSED = "it closed the connection before it proved a key: it may speak another protocol or refuse this node"

export interface Proven {
  readonly peer: PeerId
  readonly socket: TLSSocket
  readonly rest: Buffer
}

/** Replaces Node's errors by ones that say what to do. */
const explained = (error: Error): Error => {
  const code = "code" in error ? String(error.code) : ""
  if (code.startsWith("ERR_SSL_")) return new Error(ANOTHER)
  return code === "ECONNRESET" || code === "EPIPE" ? new Error(CLOSED) : error
}

/** Reads at least as many bytes as a proof has, then stops reading. The result can include later bytes. */
const readProof = (socket: TLSSocket): Promise<Buffer<ArrayBufferLike>> =>
  new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0)
    const onData = (piece: Buffer) => {
      bytes = bytes.length === 0 ? piece : Buffer.concat([bytes, piece])
      if (bytes.length < NodeProof.BYTES) return
      socket.off("data", onData)
      socket.pause()
      resolve(bytes)
    }
    socket.on("data", onData)
    socket.once("error", (error) => reject(explained(error)))
    socket.once("close", () => reject(new Error(CLOSED)))
  })

const secured = (socket: TLSSocket): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once("secure", () => {
      if (Security.isOurs(socket)) resolve()
      else reject(new Error(ANOTHER))
    })
    socket.once("error", (error) => reject(explained(error)))
    socket.once("close", () => reject(new Error(CLOSED)))
  })

const converse = async (socket: TLSSocket, role: NodeProof.Role, key: Signer): Promise<Proven> => {
  await secured(socket)
  const binding = socket.exportKeyingMaterial(NodeProof.BINDING_BYTES, NodeProof.LABEL, Buffer.alloc(0))
  // The listener signs nothing for a dialler that has proven nothing.
  if (role === "dialler") socket.write(NodeProof.make(key, role, binding))
  const bytes = await readProof(socket)
  const theirs = role === "dialler" ? "listener" : "dialler"
  const peer = NodeProof.peerOf(bytes.subarray(0, NodeProof.BYTES), theirs, binding)
  if (peer === null) throw new Error("its proof of a node key is invalid")
  if (role === "listener") socket.write(NodeProof.make(key, role, binding))
  return { peer, socket, rest: bytes.subarray(NodeProof.BYTES) }
}

/** Destroys the socket on failure. `records`: the record counter, if records are counted. */
export const shake = async (
  raw: Socket,
  role: NodeProof.Role,
  key: Signer,
  limitMs: number,
  records: RecordSocket | null = null,
): Promise<Proven> => {
  const line = records ?? raw
  const socket = role === "dialler" ? Security.dialling(line) : Security.listening(line)
  const cut = (why: string) => {
    socket.destroy(new Error(why))
    raw.destroy()
  }
  const timer = setTimeout(() => cut(`no handshake within ${limitMs} ms`), limitMs).unref()
  const watch = setInterval(() => raw.bytesRead > MOST_BYTES && cut("more than a handshake"), LOOK_MS).unref()
  if (records !== null) records.counted = (count) => void (count > MOST_RECORDS && cut("more than a handshake"))
  // A socket that breaks later closes; nothing else handles the error.
  socket.on("error", () => {})
  raw.on("error", () => {})
  try {
    return await converse(socket, role, key)
  } catch (error) {
    cut("no handshake")
    throw error
  } finally {
    clearTimeout(timer)
    clearInterval(watch)
  }
}
