/**
 * A node's connection to its signer. It reconnects indefinitely and repeats statements that a broken connection left
 * unanswered.
 */
import { connect, type Socket } from "node:net"
import { Either } from "effect"
import type { Clock } from "../network/peers/Clock.js"
import * as Handshake from "../network/tls/Handshake.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type * as Keys from "../protocol/identity/Keys.js"
import type { PeerId } from "../replica/messages/Peer.js"
import * as Line from "./Line.js"

export interface Options {
  /** The node's own key, which is on the signer's list. */
  readonly nodeKey: Keys.Signer
  readonly genesisHash: Hash
  readonly signer: { readonly host: string; readonly port: number; readonly key: PeerId }
  readonly clock: Clock
  readonly changed: (state: State) => void
}

export type State =
  | { readonly _tag: "Away"; readonly reason: string }
  | { readonly _tag: "Ready"; readonly publicKey: Keys.PublicKey }

interface Waiting {
  readonly bytes: Uint8Array
  readonly askedAt: number
  readonly answered: (result: Either.Either<Keys.Signature, string>) => void
}

const AGAIN_MS = 250
/** A connection is replaced if a statement stays unanswered for this long. */
const PATIENCE_MS = 5_000

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export class Connection {
  readonly #options: Options
  readonly #waiting = new Map<number, Waiting>()
  #next = 1
  #send: ((id: number, bytes: Uint8Array) => void) | null = null
  #raw: Socket | null = null
  #state: State = { _tag: "Away", reason: "not dialled yet" }
  /** When it was last connected; null while it is. */
  #awaySince: number | null
  #isStopped = false

  constructor(options: Options) {
    this.#options = options
    this.#awaySince = options.clock.now()
    void this.#run()
  }

  get state(): State {
    return this.#state
  }

  /** The number of unanswered statements. */
  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * How long the signer has been away or has left a statement unanswered. A process that stands still keeps its connection
   * until the statement is given up, so the connection alone does not tell.
   */
  get quietMs(): number {
    const [oldest] = this.#waiting.values()
    const now = this.#options.clock.now()
    return now - Math.min(this.#awaySince ?? now, oldest?.askedAt ?? now)
  }

  /**
   * Waits for the signature or refusal without limit. Ed25519 is deterministic, so a repeated request changes nothing.
   */
  sign(bytes: Uint8Array): Promise<Either.Either<Keys.Signature, string>> {
    return new Promise((answered) => {
      const id = this.#next
      this.#next = (this.#next + 1) >>> 0
      this.#waiting.set(id, { bytes, askedAt: this.#options.clock.now(), answered })
      this.#send?.(id, bytes)
    })
  }

  stop(): void {
    this.#isStopped = true
    this.#raw?.destroy()
  }

  #become(state: State): void {
    this.#state = state
    this.#awaySince = state._tag === "Ready" ? null : (this.#awaySince ?? this.#options.clock.now())
    this.#options.changed(state)
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const reason = await this.#converse().catch(messageOf)
      this.#send = null
      if (this.#isStopped) return
      this.#become({ _tag: "Away", reason })
      await this.#options.clock.wait(AGAIN_MS)
    }
  }

  /** Returns why the connection ended. */
  async #converse(): Promise<string> {
    const { signer, nodeKey, genesisHash } = this.#options
    const raw = await dial(signer)
    this.#raw = raw
    try {
      const { peer, socket, rest } = await Handshake.shake(raw, "dialler", nodeKey, PATIENCE_MS)
      if (peer !== signer.key) return `a signer with another key answers, ${peer}`
      if (rest.length > 0) socket.unshift(rest)
      socket.write(Line.frame(Line.open.encode({ version: Line.VERSION, genesisHash })))
      let patience = this.#patience(raw)
      for await (const frame of Line.framesOf(socket)) {
        patience()
        if (this.#send === null) {
          const opened = Line.opened.decode(frame)
          if (Either.isLeft(opened)) return opened.left.message
          if (Either.isLeft(opened.right)) return opened.right.left
          this.#send = (id, bytes) => {
            patience()
            patience = this.#patience(raw)
            socket.write(Line.frame(Line.ask.encode({ id, bytes })))
          }
          this.#become({ _tag: "Ready", publicKey: opened.right.right })
          for (const [id, { bytes }] of this.#waiting) this.#send(id, bytes)
          continue
        }
        const answer = Line.answer.decode(frame)
        if (Either.isLeft(answer)) return answer.left.message
        this.#answered(answer.right)
        if (this.#waiting.size > 0) patience = this.#patience(raw)
      }
      return "the signer closed the connection"
    } finally {
      raw.destroy()
    }
  }

  #answered({ id, result }: Line.Answer): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    waiting?.answered(result)
  }

  #patience(raw: Socket): () => void {
    return this.#options.clock.after(PATIENCE_MS, () => raw.destroy(new Error("the signer does not answer")))
  }
}

const dial = ({ host, port }: Options["signer"]): Promise<Socket> => {
  const socket = connect({ host, port, noDelay: true, keepAlive: true })
  const timer = setTimeout(() => socket.destroy(new Error("nobody answers")), PATIENCE_MS).unref()
  return new Promise<Socket>((resolve, reject) => {
    socket.once("connect", () => resolve(socket)).once("error", reject)
  }).finally(() => clearTimeout(timer))
}
