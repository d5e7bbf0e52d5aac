/** The wire over TLS: listens, dials, and keeps the connections whose peers have proven their keys. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { networkInterfaces } from "node:os"
import { Option } from "effect"
import type { SecretKey } from "../../protocol/identity/Keys.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import * as AddressGroup from "../AddressGroup.js"
import * as PeerAddress from "../PeerAddress.js"
import type { Clock } from "../peers/Clock.js"
import * as Wire from "../peers/Wire.js"
import * as Handshake from "./Handshake.js"
import * as NodeProof from "./NodeProof.js"
import { RecordSocket } from "./RecordSocket.js"
import { type Facts, TlsConnection } from "./TlsConnection.js"

export interface Options {
  /** The node's key, not the validator's. */
  readonly key: SecretKey
  readonly listen: { readonly host: string; readonly port: number }
  readonly clock: Clock
  readonly silence?: Silence
}

/**
 * When a silent connection counts as dead. A live peer answers every ping. Without this limit, a connection that lost
 * its other end would stay open as long as the machine or a relay accepts its writes.
 */
export interface Silence {
  readonly tickMs: number
  /** How many consecutive ticks may pass without a byte. Ticks instead of time: a stall of this process is one tick. */
  readonly ticks: number
}

/** 90 seconds. */
const SILENCE: Silence = { tickMs: 5_000, ticks: 18 }
const TICKS_PER_PING = 2
const BACKLOG = 64
const CHARGED_EVERY_MS = 100

export class TlsWire implements Wire.Wire {
  readonly id: PeerId
  readonly #options: Options
  readonly #connections = new Set<TlsConnection>()
  readonly #strange = new Set<Socket>()
  readonly #server: Server
  #policy: Wire.Policy | null = null
  #timers: ReadonlyArray<NodeJS.Timeout> = []
  #isStopped = false

  constructor(options: Options) {
    this.#options = options
    this.id = NodeProof.idOf(options.key)
    this.#server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => void this.#accept(socket))
  }

  get #gate(): Wire.Policy {
    if (this.#policy === null) throw new Error("the network is not started")
    return this.#policy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0
  }

  get addresses(): ReadonlyArray<string> {
    const bound = this.#server.address() as AddressInfo | null
    if (bound === null) return []
    return hostsOf(bound.address).map((host) => PeerAddress.at(this.id, PeerAddress.hostPort(host, bound.port)))
  }

  get connections(): ReadonlyArray<TlsConnection> {
    return [...this.#connections]
  }

  async start(policy: Wire.Policy): Promise<void> {
    this.#policy = policy
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject)
      this.#server.listen({ ...this.#options.listen, backlog: BACKLOG }, () => {
        this.#server.off("error", reject)
        // Accepting can fail for lack of file descriptors, which may become available again.
        this.#server.on("error", () => {})
        resolve()
      })
    })
    const { tickMs, ticks } = this.#options.silence ?? SILENCE
    let tick = 0
    this.#timers = [
      setInterval(() => this.#listen(ticks, ++tick % TICKS_PER_PING === 0), tickMs).unref(),
      setInterval(() => this.#each((connection) => connection.chargeEmpty()), CHARGED_EVERY_MS).unref(),
    ]
  }

  #each(act: (connection: TlsConnection) => void): void {
    for (const connection of this.#connections) act(connection)
  }

  #listen(ticks: number, isPinging: boolean): void {
    this.#each((connection) => {
      if (connection.isSilentFor(ticks)) connection.abort(new Error("the connection has been silent for too long"))
      else if (isPinging) connection.lanes.ping()
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const timer of this.#timers) clearInterval(timer)
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#strange) socket.destroy()
    this.#each((connection) => connection.abort(new Error("this node is stopping")))
    await closed
  }

  async #accept(socket: Socket): Promise<void> {
    const { remoteAddress, remotePort = 0 } = socket
    socket.on("error", () => {})
    if (remoteAddress === undefined) {
      socket.destroy()
      return
    }
    const host = AddressGroup.plain(remoteAddress) ?? remoteAddress
    const address = PeerAddress.hostPort(host, remotePort)
    if (this.#isStopped || this.#gate.refusesHost(address, host)) {
      socket.destroy()
      return
    }
    this.#gate.arrived(address, () => socket.destroy())
    const facts = { address, host, direction: "inbound" } as const
    await this.#secure(socket, facts, Handshake.LIMIT_MS, null).catch(() => this.#gate.vanished(address))
  }

  /** Returns the peer that answers there; fails if it is not the expected one. */
  async dial(target: string, limitMs: number): Promise<PeerId> {
    const parsed = Option.getOrThrow(PeerAddress.parse(target))
    const expected = Option.getOrNull(parsed.key)
    if (expected !== null && this.#gate.refusesPeer(expected)) throw new Error("that peer is banned")
    const address = PeerAddress.hostPort(parsed.host, parsed.port)
    const socket = await this.#connect(parsed, limitMs)
    const host = AddressGroup.plain(socket.remoteAddress ?? "") ?? parsed.host
    const facts = { address, host, direction: "outbound" } as const
    return this.#secure(socket, facts, limitMs, expected).catch((error: unknown) => {
      throw new Wire.NoPeer(`no handshake with ${target}: ${error instanceof Error ? error.message : String(error)}`)
    })
  }

  #connect({ host, port }: PeerAddress.PeerAddress, limitMs: number): Promise<Socket> {
    const socket = connect({ host, port, noDelay: true })
    const timer = setTimeout(() => socket.destroy(new Error("no answer")), limitMs).unref()
    return new Promise<Socket>((resolve, reject) => {
      socket.once("connect", () => resolve(socket)).once("error", reject)
    }).finally(() => clearTimeout(timer))
  }

  async #secure(raw: Socket, facts: Omit<Facts, "peer">, limitMs: number, expected: PeerId | null): Promise<PeerId> {
    this.#strange.add(raw)
    const role = facts.direction === "outbound" ? "dialler" : "listener"
    const records = this.#gate.knows(facts.host) ? null : new RecordSocket(raw)
    try {
      const { peer, socket, rest } = await Handshake.shake(raw, role, this.#options.key, limitMs, records)
      const refusal = this.#refusal(peer, expected)
      if (refusal !== null || socket.destroyed) {
        raw.destroy()
        socket.destroy()
        throw new Error(refusal ?? "it closed the connection")
      }
      const line = { socket, raw, records }
      this.#open(new TlsConnection({ ...facts, peer }, line, this.#observing(), this.#options.clock), rest)
      return peer
    } finally {
      this.#strange.delete(raw)
    }
  }

  #refusal(peer: PeerId, expected: PeerId | null): string | null {
    if (this.#isStopped) return "this node is stopping"
    if (expected !== null && expected !== peer) return `a node with another key answers, ${peer}`
    return this.#gate.refusesPeer(peer) ? "that peer is banned" : null
  }

  #open(connection: TlsConnection, rest: Buffer): void {
    this.#connections.add(connection)
    this.#gate.opened(connection)
    connection.begin(rest)
  }

  #observing(): Wire.Policy {
    return {
      ...this.#gate,
      closed: (connection) => {
        for (const each of this.#connections) if (each === connection) this.#connections.delete(each)
        this.#gate.closed(connection)
      },
    }
  }
}

/** This machine's addresses at which a socket bound there is reachable. */
const hostsOf = (bound: string): ReadonlyArray<string> => {
  if (bound !== "0.0.0.0" && bound !== "::") return [AddressGroup.plain(bound) ?? bound]
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const families = bound === "::" ? ["IPv4", "IPv6"] : ["IPv4"]
  const usable = all.filter(({ family, address }) => families.includes(family) && !/^fe[89ab]/i.test(address))
  return usable.sort((a, b) => Number(a.internal) - Number(b.internal)).map(({ address }) => address)
}
