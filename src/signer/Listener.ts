/**
 * A signer's port. Strangers are limited as on a node: few handshakes, each with few bytes and little time. Then only
 * nodes on the list are served, one connection each, one statement after the other.
 */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { Either } from "effect"
import * as AddressGroup from "../network/AddressGroup.js"
import { Allowance, type Rate } from "../network/Allowance.js"
import * as PeerAddress from "../network/PeerAddress.js"
import { Arrivals } from "../network/peers/Arrivals.js"
import type { Clock } from "../network/peers/Clock.js"
import * as Handshake from "../network/tls/Handshake.js"
import { RecordSocket } from "../network/tls/RecordSocket.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type * as Keys from "../protocol/identity/Keys.js"
import type { PeerId } from "../replica/messages/Peer.js"
import * as Line from "./Line.js"

export interface Options {
  /** The signer's identity. */
  readonly key: Keys.SecretKey
  readonly genesisHash: Hash
  /** The validator's keys for each served node. */
  readonly nodes: ReadonlyMap<PeerId, ReadonlyArray<Keys.PublicKey>>
  readonly clock: Clock
  /** Resolves once everything to be recorded is on disk. */
  readonly sign: (node: PeerId, asked: Line.Ask) => Promise<Either.Either<Keys.Signature, string>>
  readonly told: (node: PeerId, told: Line.Told) => Promise<void>
  readonly logged: (event: Event) => void
}

export type Event =
  | { readonly _tag: "Connected" | "Disconnected"; readonly node: PeerId; readonly address: string }
  /** Without the port, which differs each time: the log leaves out repetitions. */
  | { readonly _tag: "NotServed"; readonly node: PeerId; readonly host: string; readonly reason: string }

/** More than a node needs with rounds of ten milliseconds. Each can cost a disk sync. */
const STATEMENTS: Rate = { burst: 512, perSecond: 256 }
/** Log lines about nodes that are not on the list: each can come with a key of its own. */
const STRANGERS: Rate = { burst: 32, perSecond: 0.1 }
/** TLS records without a complete statement; a statement needs two. */
const RECORDS_PER_STATEMENT = 64
const KNOWN_HOSTS = 256
const BACKLOG = 64

export class Listener {
  readonly #options: Options
  readonly #server: Server
  readonly #arrivals: Arrivals
  readonly #strangers: Allowance
  /** Recent hosts where a served node has proven its key. */
  readonly #knownHosts = new Set<string>()
  readonly #lines = new Map<PeerId, Socket>()
  readonly #sockets = new Set<Socket>()

  constructor(options: Options) {
    this.#options = options
    this.#arrivals = new Arrivals(Handshake.LIMIT_MS, options.clock, (host) => this.#knownHosts.has(host))
    this.#strangers = new Allowance(STRANGERS, options.clock.now())
    this.#server = createServer({ noDelay: true, pauseOnConnect: true, keepAlive: true }, (socket) => {
      void this.#accept(socket)
    })
  }

  get port(): number {
    const bound = this.#server.address()
    return bound === null || typeof bound === "string" ? 0 : (bound satisfies AddressInfo).port
  }

  /** Currently connected nodes. */
  get connected(): ReadonlyArray<PeerId> {
    return [...this.#lines.keys()]
  }

  async start(listen: { readonly host: string; readonly port: number }): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject)
      this.#server.listen({ ...listen, backlog: BACKLOG }, () => {
        this.#server.off("error", reject)
        // Accepting can fail for lack of file descriptors, which can become available again.
        this.#server.on("error", () => {})
        resolve()
      })
    })
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  async #accept(raw: Socket): Promise<void> {
    raw.on("error", () => {})
    const { remoteAddress, remotePort = 0 } = raw
    const host = AddressGroup.plain(remoteAddress ?? "") ?? remoteAddress ?? ""
    const address = PeerAddress.hostPort(host, remotePort)
    if (remoteAddress === undefined || !this.#arrivals.comes(address, host)) {
      raw.destroy()
      return
    }
    this.#sockets.add(raw)
    raw.once("close", () => this.#sockets.delete(raw))
    this.#arrivals.arrived(address, () => raw.destroy())
    const records = new RecordSocket(raw)
    try {
      const proven = await Handshake.shake(raw, "listener", this.#options.key, Handshake.LIMIT_MS, records)
      await this.#serve(raw, records, proven, address, host)
    } catch {
      // A stranger that does not speak the protocol, or a broken connection, is not reported.
    } finally {
      this.#arrivals.done(address)
      raw.destroy()
    }
  }

  async #serve(
    raw: Socket,
    records: RecordSocket,
    { peer, socket, rest }: Handshake.Proven,
    address: string,
    host: string,
  ): Promise<void> {
    const { nodes, logged, clock } = this.#options
    const publicKeys = nodes.get(peer)
    if (publicKeys === undefined) {
      const reason = "it is not on the list"
      if (this.#strangers.take(0, clock.now()) === 0) {
        this.#strangers.take(1, clock.now())
        logged({ _tag: "NotServed", node: peer, host, reason })
      }
      await refuse(socket, `the signer does not serve the node ${peer}: ${reason}`, clock)
      return
    }
    this.#arrivals.done(address)
    this.#know(host)
    // The newest connection counts, because the previous one can be half open.
    this.#lines.get(peer)?.destroy()
    this.#lines.set(peer, raw)
    let isOpen = false
    const opened = (): void => {
      isOpen = true
      logged({ _tag: "Connected", node: peer, address })
    }
    if (rest.length > 0) socket.unshift(rest)
    try {
      await this.#converse(socket, records, peer, publicKeys, host, opened)
    } finally {
      if (this.#lines.get(peer) === raw) this.#lines.delete(peer)
      if (isOpen) logged({ _tag: "Disconnected", node: peer, address })
    }
  }

  async #converse(
    socket: Handshake.Proven["socket"],
    records: RecordSocket,
    peer: PeerId,
    publicKeys: ReadonlyArray<Keys.PublicKey>,
    host: string,
    opens: () => void,
  ): Promise<void> {
    const { clock, genesisHash, sign, told, logged } = this.#options
    const allowance = new Allowance(STATEMENTS, clock.now())
    let seen = records.count
    records.counted = (count) => void (count - seen > RECORDS_PER_STATEMENT && socket.destroy())
    let isOpen = false
    for await (const frame of Line.framesOf(socket)) {
      seen = records.count
      const waitMs = allowance.take(1, clock.now())
      if (waitMs > 0) await clock.wait(waitMs)
      if (!isOpen) {
        const opened = judgeOpening(frame, genesisHash, publicKeys)
        if (Either.isLeft(opened)) {
          logged({ _tag: "NotServed", node: peer, host, reason: opened.left })
          await refuse(socket, opened.left, clock)
          return
        }
        await send(socket, Line.opened.encode(opened))
        isOpen = true
        opens()
        continue
      }
      const said = Line.said.decode(frame)
      if (Either.isLeft(said)) return
      if ("place" in said.right) await told(peer, said.right)
      else await send(socket, Line.answer.encode({ id: said.right.id, result: await sign(peer, said.right) }))
    }
  }

  #know(host: string): void {
    this.#knownHosts.delete(host)
    this.#knownHosts.add(host)
    const [oldest] = this.#knownHosts
    if (this.#knownHosts.size > KNOWN_HOSTS && oldest !== undefined) this.#knownHosts.delete(oldest)
  }
}

const judgeOpening = (frame: Uint8Array, genesisHash: Hash, publicKeys: ReadonlyArray<Keys.PublicKey>): Line.Opened =>
  Either.match(Line.open.decode(frame), {
    onLeft: ({ message }) => Either.left(message),
    onRight: (theirs) => {
      if (theirs.version !== Line.VERSION) {
        return Either.left(`it speaks version ${theirs.version} of the signer's protocol, the signer ${Line.VERSION}`)
      }
      return theirs.genesisHash === genesisHash
        ? Either.right(publicKeys)
        : Either.left(`it is on the network with genesis ${theirs.genesisHash}, the signer on ${genesisHash}`)
    },
  })

/** Time to read the reason, which an immediately destroyed connection can lose. */
const FAREWELL_MS = 1_000

const refuse = async (socket: Handshake.Proven["socket"], reason: string, clock: Clock): Promise<void> => {
  await send(socket, Line.opened.encode(Either.left(reason)))
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
  await Promise.race([closed, clock.wait(FAREWELL_MS)])
}

/** A client that does not read its answers is neither read nor answered. */
const send = (socket: Handshake.Proven["socket"], bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.write(Line.frame(bytes), (error) => (error ? reject(error) : resolve()))
  })
