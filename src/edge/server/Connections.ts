/**
 * The connections of a server. No client can take those of all, and one that floods a connection loses all that it has:
 * what it has sent on the others is not read. Those of a proxy belong to many clients, and are neither limited nor closed
 * for each other.
 */
import type { Socket } from "node:net"
import * as ClientAddress from "../admission/ClientAddress.js"
import { Floods } from "../admission/Floods.js"
import { type Entry, Places } from "../admission/Places.js"

export interface Options {
  readonly total: number
  readonly isProxy: (socket: Socket) => boolean
  /** Milliseconds of a clock that never runs backwards. */
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

  /** Gives a new connection a place, which it leaves when it closes. */
  enter(socket: Socket): Entry | "kept out" {
    if (this.#isProxy(socket)) return "taken"
    const client = ClientAddress.ofSocket(socket)
    if (this.#floods.keepsOut(client)) return "kept out"
    const entry = this.#places.enter(client, socket)
    if (entry === "taken") socket.once("close", () => this.#places.leave(client, socket))
    return entry
  }

  /** Closes this connection and all others of its client, and for a while its next ones. */
  expel(socket: Socket): void {
    if (!this.#isProxy(socket) && !socket.destroyed) {
      const client = ClientAddress.ofSocket(socket)
      this.#floods.note(client)
      for (const other of this.#places.of(client)) other.destroy()
    }
    socket.destroy()
  }
}
