/**
 * Connections of clients that are kept out after a flood. A liveness probe can come from the same address, for example
 * from a proxy or a container's host, so `/health` is still answered. No HTTP parser reads these connections: it would
 * read thousands of requests or chunks before it could be stopped.
 */
import type { Socket } from "node:net"
import { Places } from "../admission/Places.js"
import * as Reply from "./Reply.js"

export interface Options {
  /** The path that is answered. */
  readonly path: string
  /** Passes the answer to its argument. */
  readonly answer: (write: (reply: Reply.Reply) => void) => void
  readonly patienceMs?: number
}

/** Concurrent connections in total and of one client, whose oldest connection makes room for a newer one. */
const TOTAL = 64
const EACH = 16
const PATIENCE_MS = 1_000
/** A probe is smaller and comes in one piece. */
const BYTES = 2_048
const PIECES = 8

export class Probes {
  readonly #answer: Options["answer"]
  readonly #request: RegExp
  readonly #patienceMs: number
  readonly #places = new Places<Socket>({ total: TOTAL, each: EACH, evict: (socket) => socket.destroy() })

  constructor({ path, answer, patienceMs = PATIENCE_MS }: Options) {
    this.#answer = answer
    this.#request = new RegExp(`^GET ${path} HTTP/1\\.[01]\\r\\n`)
    this.#patienceMs = patienceMs
  }

  take(client: string, socket: Socket): void {
    socket.on("error", () => {})
    if (!this.#enter(client, socket)) {
      socket.destroy()
      return
    }
    const late = setTimeout(() => socket.destroy(), this.#patienceMs)
    socket.once("close", () => {
      clearTimeout(late)
      this.#places.leave(client, socket)
    })
    let text = ""
    let pieces = 0
    socket.on("data", (piece: Buffer) => {
      text += piece.toString("latin1")
      const isWhole = text.includes("\r\n\r\n")
      if (text.length > BYTES || ++pieces > PIECES || (isWhole && !this.#request.test(text))) socket.destroy()
      else if (isWhole) this.#reply(socket)
    })
  }

  closeAll(): void {
    for (const socket of this.#places.all) socket.destroy()
  }

  /** Stops reading. */
  #reply(socket: Socket): void {
    socket.removeAllListeners("data").pause()
    this.#answer((reply) => {
      if (!socket.destroyed) socket.end(Reply.toBytes(reply), () => socket.destroy())
    })
  }

  #enter(client: string, socket: Socket): boolean {
    const [oldest, ...others] = this.#places.of(client)
    if (oldest !== undefined && others.length + 1 >= EACH) {
      this.#places.leave(client, oldest)
      oldest.destroy()
    }
    return this.#places.enter(client, socket) === "taken"
  }
}
