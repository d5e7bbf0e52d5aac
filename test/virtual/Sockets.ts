/** Sockets between machines of one process, for Node's own HTTP server and client. */
import * as Http from "node:http"
import { createRequire } from "node:module"
import type { Server } from "node:net"
import { Duplex, Readable } from "node:stream"
import type { Machine } from "./Time.js"
import * as Universe from "./Universe.js"

const MOST_LATENCY_MS = 2
/** What the system keeps for a reader. */
const BUFFER_BYTES = 65_536

// Loaded before virtual time is installed.
const realClearInterval = clearInterval

const errorOf = (code: string): Error => Object.assign(new Error(code), { code })

class Socket extends Duplex {
  readonly machine: Machine
  readonly remoteAddress = "127.0.0.1"
  readonly connecting = false
  readonly #forget: () => void
  bytesRead = 0
  #other: Socket | null = null
  #lastAt = 0
  /** Sent, and not read at the other end. */
  #underWay = 0
  /** Called when there is room for more. */
  #written: (() => void) | null = null
  /** Called when the reader wants more. */
  #read: (() => void) | null = null
  #idle: NodeJS.Timeout | null = null

  constructor(machine: Machine) {
    super()
    this.machine = machine
    this.#forget = machine.onDeath(() => this.#reset())
  }

  static pair(client: Machine, server: Machine): readonly [client: Socket, server: Socket] {
    const [near, far] = [new Socket(client), new Socket(server)]
    near.#other = far
    far.#other = near
    return [near, far]
  }

  /** In order. */
  #send(act: (other: Socket) => void): void {
    const { time, chance } = Universe.here()
    const other = this.#other
    if (other === null) return
    this.#lastAt = Math.max(this.#lastAt, time.moment + chance.fraction() * MOST_LATENCY_MS)
    other.machine.at(this.#lastAt, () => {
      if (!other.destroyed) act(other)
    })
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.#idle?.refresh()
    this.#underWay += chunk.length
    this.#send((other) => other.#arrive(chunk, () => this.machine.after(0, () => this.#arrived(chunk.length))))
    if (this.#underWay < BUFFER_BYTES) done()
    else this.#written = done
  }

  #arrived(bytes: number): void {
    this.#underWay -= bytes
    if (this.#underWay >= BUFFER_BYTES) return
    const written = this.#written
    this.#written = null
    written?.()
  }

  #arrive(chunk: Buffer, done: () => void): void {
    this.bytesRead += chunk.length
    this.#idle?.refresh()
    if (this.push(chunk)) done()
    else this.#read = done
  }

  override _read(): void {
    const read = this.#read
    this.#read = null
    read?.()
  }

  override _final(done: () => void): void {
    this.#send((other) => other.push(null))
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.setTimeout(0)
    this.#forget()
    this.#reset()
    done(error)
  }

  #reset(): void {
    this.#send((other) => other.destroy(errorOf("ECONNRESET")))
    this.#other = null
  }

  setTimeout(ms: number): this {
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = ms > 0 ? setTimeout(() => this.emit("timeout"), ms) : null
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

interface Listening {
  readonly server: Server
  readonly machine: Machine
  readonly port: number
  readonly sockets: Set<Socket>
}

const listening = new Map<number, Listening>()
const known = new WeakMap<Server, Listening>()

const forget = (place: Listening): void => {
  if (listening.get(place.port) === place) listening.delete(place.port)
}

/** Node's own limits of time for requests count real time, so they must not count at all. */
const stopRealTimers = (server: Server): void => {
  const symbol = Object.getOwnPropertySymbols(server).find(({ description }) =>
    description?.endsWith("CheckingInterval"),
  )
  const timer: unknown = symbol === undefined ? undefined : Reflect.get(server, symbol)
  if (timer !== undefined) realClearInterval(timer as NodeJS.Timeout)
}

function listen(this: Server, { port }: { readonly port: number }, then: () => void): Server {
  const { here: machine } = Universe.here().time
  if (listening.has(port)) {
    machine.after(0, () => this.emit("error", errorOf("EADDRINUSE")))
    return this
  }
  const place: Listening = { server: this, machine, port, sockets: new Set() }
  listening.set(port, place)
  known.set(this, place)
  machine.onDeath(() => forget(place))
  this.once("listening", then)
  machine.after(0, () => {
    this.emit("listening")
    stopRealTimers(this)
  })
  return this
}

function close(this: Server, then?: () => void): Server {
  const place = known.get(this)
  if (place === undefined || listening.get(place.port) !== place) {
    Universe.here().time.here.after(0, () => then?.())
    return this
  }
  forget(place)
  const end = (): void => {
    const [left] = place.sockets
    if (left !== undefined) {
      left.once("close", end)
      return
    }
    this.emit("close")
    then?.()
  }
  place.machine.after(0, end)
  return this
}

function address(this: Server) {
  const place = known.get(this)
  return place === undefined ? null : { address: "127.0.0.1", family: "IPv4", port: place.port }
}

const connect = (port: number): Socket => {
  const place = listening.get(port)
  const { here } = Universe.here().time
  if (place === undefined) {
    const socket = new Socket(here)
    here.after(0, () => socket.destroy(errorOf("ECONNREFUSED")))
    return socket
  }
  const [near, far] = Socket.pair(here, place.machine)
  place.machine.after(0, () => {
    if (listening.get(port) !== place) {
      far.destroy()
      return
    }
    place.sockets.add(far)
    far.once("close", () => place.sockets.delete(far))
    place.server.emit("connection", far)
  })
  return near
}

class Agent extends Http.Agent {
  override createConnection({ port }: { readonly port: number | string }): Socket {
    return connect(Number(port))
  }
}

const agent = new Agent({ keepAlive: true })

/** `fetch` over these sockets. */
const ask = (input: string, { method = "GET", headers = {}, body, signal }: RequestInit = {}): Promise<Response> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason)
    const { hostname, port, pathname, search } = new URL(input)
    const sent = Object.fromEntries(new Headers(headers))
    const request = Http.request({ agent, hostname, port, method, path: pathname + search, headers: sent })
    const abort = (): void => void request.destroy(signal?.reason)
    signal?.addEventListener("abort", abort)
    request.once("close", () => signal?.removeEventListener("abort", abort))
    request.once("error", reject)
    request.once("response", (response) => {
      const told = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)])
      const stream = Readable.toWeb(response) as ReadableStream<Uint8Array>
      resolve(new Response(stream, { status: response.statusCode ?? 0, headers: told }))
    })
    request.end(body)
  })

/** Replaces the sockets of all servers, and `fetch`. */
export const install = (): void => {
  const { Server } = createRequire(import.meta.url)("node:net")
  Object.assign(Server.prototype, { listen, close, address })
  Object.assign(globalThis, { fetch: ask })
}
