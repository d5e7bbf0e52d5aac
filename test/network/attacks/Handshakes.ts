/** Attacks during the handshake: what one stranger does at one node until the attack ends. */
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import { sha256 } from "#crypto"
import * as NodeProof from "../../../src/network/tls/NodeProof.js"
import * as Security from "../../../src/network/tls/Security.js"
import { SecretKey } from "../../../src/protocol/identity/Keys.js"
import type { Place } from "./Bot.js"
import { RawTls, type Shared } from "./RawTls.js"

export interface Assault {
  readonly place: Place
  /** Other nodes of the network. */
  readonly others: ReadonlyArray<string>
  readonly isOver: () => boolean
  readonly sent: (messages: number, bytes: number) => void
  readonly opened: () => void
  /** Something succeeded that must not. */
  readonly breached: () => void
}

/** The public key that everybody shares with every node. */
export const SHARED: Shared = {
  identity: "udg",
  psk: Buffer.from(sha256(Buffer.from("udg/wire\0"))),
  protocol: "udg/1",
}
const AT_ONCE = 8
const BETWEEN_MS = 2
/** Longer than a node waits for a handshake. */
const HELD_MS = 6_000

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Any address of this machine's loopback networks. */
const anySource = (): string => {
  const byte = () => 1 + Math.floor(Math.random() * 250)
  return `127.${byte()}.${byte()}.${byte()}`
}

/** A socket from this address that ignores errors. */
const socketTo = (target: string, source = anySource()): Socket => {
  const [host = "", port = ""] = (target.split("@").at(-1) ?? "").split(":")
  return connect({ host, port: Number(port), localAddress: source, noDelay: true }).on("error", () => {})
}

const connected = async (target: string): Promise<Socket> => {
  const socket = socketTo(target)
  await Promise.race([once(socket, "connect"), once(socket, "close").then(() => Promise.reject(new Error("refused")))])
  return socket
}

/** Several at once, each repeated until the attack ends. */
const again = async ({ isOver }: Assault, one: () => Promise<void>): Promise<void> => {
  const many = Array.from({ length: AT_ONCE }, async () => {
    while (!isOver()) {
      await one().catch(() => {})
      await pause(BETWEEN_MS)
    }
  })
  await Promise.all(many)
}

const secured = async (target: string): Promise<TLSSocket> => {
  const raw = socketTo(target)
  const socket = Security.dialling(raw).on("error", () => raw.destroy())
  await Promise.race([once(socket, "secureConnect"), once(raw, "close").then(() => Promise.reject(new Error("cut")))])
  return socket
}

/** Closes as soon as it has made the node compute. */
export const unproven = (assault: Assault): Promise<void> =>
  again(assault, async () => {
    assault.sent(1, 0)
    const socket = await secured(assault.place.target)
    assault.opened()
    socket.destroy()
  })

export const halves = async ({ place, isOver, sent, opened }: Assault): Promise<void> => {
  const open: Array<Socket> = []
  for (let n = 0; !isOver(); n++) {
    const socket = socketTo(place.target)
    open.push(socket)
    socket.once("connect", () => {
      opened()
      if (n % 3 > 0) socket.write(Uint8Array.of(22, 3, 1, 2, 0, 1, 0, 1))
    })
    if (n % 3 === 2) {
      const timer = setInterval(() => socket.write(Uint8Array.of(0)), 500)
      socket.once("close", () => clearInterval(timer))
    }
    sent(1, 8)
    setTimeout(() => socket.destroy(), HELD_MS).unref()
    await pause(BETWEEN_MS)
  }
  for (const socket of open) socket.destroy()
}

const UPDATES_AT_ONCE = 64
let turns = 0

/** The first half of them prove a key, but send no greeting. */
export const updates = (assault: Assault): Promise<void> =>
  again(assault, async () => {
    const socket = await connected(assault.place.target)
    try {
      const line = await RawTls.shake(socket, SHARED)
      assault.opened()
      if (turns++ % 2 === 0) {
        const binding = line.exported(NodeProof.LABEL, NodeProof.BINDING_BYTES)
        socket.write(line.data(NodeProof.make(SecretKey.generate(), "dialler", binding)))
      }
      while (!assault.isOver() && !socket.destroyed) {
        const records = Buffer.concat(Array.from({ length: UPDATES_AT_ONCE }, () => line.update(true)))
        assault.sent(UPDATES_AT_ONCE, records.length)
        const isFull = !socket.write(records)
        await (isFull ? Promise.race([once(socket, "drain"), once(socket, "close")]) : pause(0))
      }
    } finally {
      socket.destroy()
    }
  })

const WRONG_MS = 50

/** An invalid tag, an impossible length, half a record, and another version. */
const wrongRecords = (line: RawTls): ReadonlyArray<Buffer> => [
  Buffer.concat([Buffer.from([23, 3, 3, 0, 32]), Buffer.alloc(32)]),
  Buffer.from([23, 3, 3, 255, 255, ...Buffer.alloc(1_000)]),
  line.data(Buffer.alloc(NodeProof.BYTES)).subarray(0, 60),
  Buffer.from([22, 2, 0, 0, 4, 0, 0, 0, 0]),
]

export const garbage = (assault: Assault): Promise<void> =>
  again(assault, async () => {
    const socket = await connected(assault.place.target)
    try {
      const line = await RawTls.shake(socket, SHARED)
      assault.opened()
      const all = wrongRecords(line)
      const wrong = all[turns++ % all.length] ?? Buffer.alloc(1)
      assault.sent(1, wrong.length)
      socket.write(wrong)
      await Promise.race([once(socket, "close"), pause(WRONG_MS)])
    } finally {
      socket.destroy()
    }
  })

const bindingOf = (socket: TLSSocket): Buffer =>
  socket.exportKeyingMaterial(NodeProof.BINDING_BYTES, NodeProof.LABEL, Buffer.alloc(0))

const PATIENCE_MS = 2_000

/** The response to this proof; undefined if the node closes. */
const answerTo = async (socket: TLSSocket, proof: Uint8Array): Promise<Buffer> => {
  const heard: Array<Buffer> = []
  socket.on("data", (bytes: Buffer) => heard.push(bytes)).write(proof)
  const bytes = () => Buffer.concat(heard)
  for (let waited = 0; waited < PATIENCE_MS && !socket.destroyed && bytes().length < NodeProof.BYTES; waited += 20)
    await pause(20)
  return bytes()
}

/** Replays the proof that another node gave on its connection, or its own proof from another connection. */
export const proofs = (assault: Assault): Promise<void> =>
  again(assault, async () => {
    const { place, others, sent, opened, breached } = assault
    const other = others[turns++ % others.length]
    if (other === undefined) throw new Error("there is no other node")
    const [near, far] = [await secured(place.target), await secured(other)]
    try {
      const own = NodeProof.make(SecretKey.generate(), "dialler", bindingOf(far))
      const answer = await answerTo(far, own)
      if (answer.length < NodeProof.BYTES) throw new Error("it does not answer")
      opened()
      sent(1, NodeProof.BYTES)
      const proof = turns % 2 === 0 ? own : answer.subarray(0, NodeProof.BYTES)
      if ((await answerTo(near, proof)).length > 0) breached()
    } finally {
      near.destroy()
      far.destroy()
    }
  })
