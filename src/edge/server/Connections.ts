/**
 * A server's connections. No client can take all of them, and a client that floods one connection loses all of its
 * connections, unread. A trusted proxy's connections belong to many clients, so they are neither limited nor closed for
 * each other.
 */
import type { Socket } from "node:net"
import * as ClientAddress from "../admission/ClientAddress.js"
import { Floods } from "../admission/Floods.js"
import { type Entry, Places } from "../admission/Places.js"

export interface Options {
  readonly total: number
  readonly isProxy: (socket: Socket) => boolean
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

export class Connections {
  readonly #isProxy: Options["isProxy"]
  readonly #places: Places<Socket>
  readonly #floods: Floods

  constructor({ total, isProxy, now }: Options) {
    this.#isProxy = isProxy
    this.#places = new Places({ total, each: total, evict: (socket) => socket.destroy() })
    this.#floods = new Floods(now)
  }

  /** Gives a new connection a place until it closes. */
  enter(socket: Socket): Entry | "kept out" {
    if (this.#isProxy(socket)) return "taken"
    const client = ClientAddress.ofSocket(socket)
    if (this.#floods.keepsOut(client)) return "kept out"
    const entry = this.#places.enter(client, socket)
    if (entry === "taken") socket.once("close", () => this.#places.leave(client, socket))
    return entry
  }

  /** Closes this connection and all others of its client, and refuses its new ones for a while. */
  expel(socket: Socket): void {
    if (!this.#isProxy(socket) && !socket.destroyed) {
      const client = ClientAddress.ofSocket(socket)
      this.#floods.note(client)
      for (const other of this.#places.of(client)) other.destroy()
    }
    socket.destroy()
  }
}
