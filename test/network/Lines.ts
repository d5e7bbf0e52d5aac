/**
 * The lines between nodes on one machine, all through this process: they can be slow, lose bytes that must be sent
 * again, or be cut. A cut line is silent, like a machine that lost its network: both ends believe that they still have
 * it.
 */
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { connect, createServer, type Server, type Socket } from "node:net"
import { join } from "node:path"

/** Options that make a node use these lines. */
export interface Way {
  readonly execArgv: ReadonlyArray<string>
  readonly environment: Readonly<Record<string, string>>
}

/** Bytes that are lost together, and how long TCP takes to send them again. */
const SEGMENT_BYTES = 1_460
const SENT_AGAIN_MS = 200

export class Lines {
  /** One direction. */
  delayMs = 0
  /** Between 0 and 1, of segments. */
  loss = 0
  #isCut: (from: string, to: string) => boolean = () => false
  #healed: () => void = () => {}
  #healing = Promise.resolve()
  readonly #server: Server
  readonly #names = new Map<number, string>()
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
    server.on("connection", (socket) => this.#accept(socket).catch(() => socket.destroy()))
  }

  static async open(): Promise<Lines> {
    const server = createServer({ noDelay: true })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return new Lines(server)
  }

  wayOf(name: string): Way {
    const { port } = this.#server.address() as AddressInfo
    return {
      execArgv: ["--import", join(import.meta.dirname, "viaLines.mjs")],
      environment: { UDG_TEST_LINES: String(port), UDG_TEST_NAME: name },
    }
  }

  /** Where this node listens. */
  leadsTo(name: string, p2p: string): void {
    this.#names.set(Number(p2p.split(":").at(-1)), name)
  }

  cut(isCut: (from: string, to: string) => boolean): void {
    this.#isCut = isCut
    this.#healing = new Promise((resolve) => {
      this.#healed = resolve
    })
  }

  heal(): void {
    this.#isCut = () => false
    this.#healed()
  }

  close(): void {
    this.heal()
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on("error", () => socket.destroy())
    socket.on("close", () => this.#sockets.delete(socket))
  }

  async #accept(dialler: Socket): Promise<void> {
    this.#keep(dialler)
    const [from, port, rest] = await greetingOf(dialler)
    const to = this.#names.get(port) ?? `port ${port}`
    const listener = connect({ host: "127.0.0.1", port, noDelay: true })
    this.#keep(listener)
    if (rest.length > 0) dialler.unshift(rest)
    await Promise.all([this.#carry(dialler, listener, from, to), this.#carry(listener, dialler, to, from)])
  }

  /** In order, as TCP delivers: a lost segment delays everything behind it. */
  async #carry(source: Socket, target: Socket, from: string, to: string): Promise<void> {
    let due = 0
    let last: Promise<void> = Promise.resolve()
    for await (const chunk of source) {
      const bytes: Buffer = chunk
      const segments = Math.ceil(bytes.length / SEGMENT_BYTES)
      const isLost = Math.random() < 1 - (1 - this.loss) ** segments
      due = Math.max(due, performance.now() + this.delayMs + (isLost ? SENT_AGAIN_MS : 0))
      const waitMs = due - performance.now()
      last = last.then(async () => {
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, due - performance.now()))
        while (this.#isCut(from, to)) await this.#healing
        if (!target.destroyed) target.write(bytes)
      })
      if (this.#isCut(from, to)) await last
    }
    await last
    target.end()
  }
}

const greetingOf = async (socket: Socket): Promise<readonly [name: string, port: number, rest: Buffer]> => {
  let said = Buffer.alloc(0)
  for (;;) {
    const end = said.indexOf("\n")
    if (end >= 0) {
      const [name = "", port = ""] = said.subarray(0, end).toString().split(" ")
      return [name, Number(port), said.subarray(end + 1)]
    }
    const [more]: [Buffer] = (await once(socket, "data")) as [Buffer]
    said = Buffer.concat([said, more])
    socket.pause()
  }
}
