/** Sockets between machines of one process, for Node's own HTTP server and client. */
import * as Http from "node:http"
import { createRequire } from "node:module"
import type { Server } from "node:net"
import { Duplex, Readable } from "node:stream"
import type { Machine } from "./Time.js"
import * as Universe from "./Universe.js"

const MOST_LATENCY_MS = 2

class Socket extends Duplex {
  readonly machine: Machine
  readonly remoteAddress = "127.0.0.1"
  readonly connecting = false
  readonly #forget: () => void
  bytesRead = 0
  #other: Socket | null = null
  #lastAt = 0
  #goOn: (() => void) | null = null
  #idle: { readonly timer: NodeJS.Timeout } | null = null

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
    this.#lastAt = Math.max(this.#lastAt, time.now() + chance.fraction() * MOST_LATENCY_MS)
    other.machine.after(this.#lastAt - time.now(), () => {
      if (!other.destroyed) act(other)
    })
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.#idle?.timer.refresh()
    this.#send((other) => other.#arrive(chunk, () => this.machine.after(0, done)))
  }

  #arrive(chunk: Buffer, done: () => void): void {
    this.bytesRead += chunk.length
    this.#idle?.timer.refresh()
    if (this.push(chunk)) done()
    else this.#goOn = done
  }

  override _read(): void {
    this.#goOn?.()
    this.#goOn = null
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
    this.#send((other) => other.destroy(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })))
    this.#other = null
  }

  setTimeout(ms: number): this {
    if (this.#idle !== null) clearTimeout(this.#idle.timer)
    this.#idle = ms > 0 ? { timer: setTimeout(() => this.emit("timeout"), ms) } : null
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

/** Replaces listening and closing of all servers, and `fetch`. */
export const install = (): void => {
  const { Server } = createRequire(import.meta.url)("node:net")
  Server.prototype.listen = function ({ port }: { readonly port: number }, then: () => void) {
    const machine = Universe.here().time.here
    const place: Listening = { server: this, machine, port, sockets: new Set() }
    if (listening.has(port)) throw new Error(`port ${port} is taken`)
    listening.set(port, place)
    known.set(this, place)
    machine.onDeath(() => forget(place))
    this.once("listening", then)
    machine.after(0, () => this.emit("listening"))
    return this
  }
  Server.prototype.address = function () {
    const place = known.get(this)
    return place === undefined ? null : { address: "127.0.0.1", family: "IPv4", port: place.port }
  }
  Server.prototype.close = function (then?: () => void) {
    const place = known.get(this)
    if (place === undefined) return this
    forget(place)
    const end = (): void => {
      if (place.sockets.size > 0) return void [...place.sockets][0]?.once("close", end)
      this.emit("close")
      then?.()
    }
    place.machine.after(0, end)
    return this
  }
  globalThis.fetch = ask as typeof fetch
}

const forget = (place: Listening): void => {
  if (listening.get(place.port) === place) listening.delete(place.port)
}

const connect = (port: number): Socket => {
  const place = listening.get(port)
  const { time } = Universe.here()
  if (place === undefined) {
    const socket = new Socket(time.here)
    time.here.after(0, () => socket.destroy(new Error(`connect ECONNREFUSED 127.0.0.1:${port}`)))
    return socket
  }
  const [near, far] = Socket.pair(time.here, place.machine)
  place.sockets.add(far)
  far.once("close", () => place.sockets.delete(far))
  place.machine.after(0, () => place.server.emit("connection", far))
  return near
}

/** `fetch` over these sockets. */
const ask = (input: string, { method = "GET", headers = {}, body, signal }: RequestInit = {}): Promise<Response> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason)
    const { hostname, port, pathname, search } = new URL(input)
    const request = Http.request({
      ...{ createConnection: () => connect(Number(port)) as never },
      ...{ method, path: pathname + search, headers: { ...Object.fromEntries(new Headers(headers)), host: hostname } },
    })
    const abort = (): void => void request.destroy(signal?.reason)
    signal?.addEventListener("abort", abort)
    request.once("close", () => signal?.removeEventListener("abort", abort))
    request.once("error", reject)
    request.once("response", (response) => {
      const told = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as [string, string])
      const stream = Readable.toWeb(response) as ReadableStream<Uint8Array>
      resolve(new Response(stream, { status: response.statusCode ?? 0, headers: told }))
    })
    request.end(body)
  })
