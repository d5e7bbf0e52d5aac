/**
 * A node's connection to its signer. It reconnects indefinitely, tells where each key has signed, because the signer may
 * have been set back to an older disk meanwhile, and repeats statements that a broken connection left unanswered.
 */
import { connect, type Socket } from "node:net"
import { Either } from "effect"
import type { Clock } from "../network/peers/Clock.js"
import * as Handshake from "../network/tls/Handshake.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type * as Keys from "../protocol/identity/Keys.js"
import type { PeerId } from "../replica/messages/Peer.js"
import * as Judge from "./Judge.js"
import * as Line from "./Line.js"
import * as Statement from "./Statement.js"

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
  | { readonly _tag: "Ready"; readonly publicKeys: ReadonlyArray<Keys.PublicKey> }

export interface Refusal {
  /** In the signer's own words. */
  readonly reason: string
  readonly forMs: number
}

interface Waiting {
  readonly publicKey: Keys.PublicKey
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
  /** The highest place at which each key is known to have signed a vertex. */
  readonly #signedAt = new Map<Keys.PublicKey, Statement.Place>()
  #next = 1
  #send: ((said: Line.Ask | Line.Told) => void) | null = null
  #raw: Socket | null = null
  #state: State = { _tag: "Away", reason: "not dialled yet" }
  /** When it was last connected; null while it is. */
  #awaySince: number | null
  /** Why it refused the last connection or vertex; null if it refused neither. */
  #refusal: { readonly reason: string; readonly since: number } | null = null
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
   * How long the signer has been away or has left a statement unanswered. A paused process keeps its connection until
   * the statement times out, so the connection alone does not show it.
   */
  get quietMs(): number {
    const [oldest] = this.#waiting.values()
    const now = this.#options.clock.now()
    return now - Math.min(this.#awaySince ?? now, oldest?.askedAt ?? now)
  }

  get refusal(): Refusal | null {
    const refusal = this.#refusal
    return refusal && { reason: refusal.reason, forMs: this.#options.clock.now() - refusal.since }
  }

  #refuses(reason: string): void {
    this.#refusal = { reason, since: this.#refusal?.since ?? this.#options.clock.now() }
  }

  /**
   * Waits for the signature or refusal without limit. Ed25519 is deterministic, so a repeated request changes nothing.
   */
  sign(publicKey: Keys.PublicKey, bytes: Uint8Array): Promise<Either.Either<Keys.Signature, string>> {
    return new Promise((answered) => {
      const id = this.#next
      this.#next = (this.#next + 1) >>> 0 || 1
      this.#waiting.set(id, { publicKey, bytes, askedAt: this.#options.clock.now(), answered })
      this.#send?.({ id, publicKey, bytes })
    })
  }

  /** The key has signed a vertex here, as far as the node knows. The signer signs no other vertex up to this place. */
  tell(publicKey: Keys.PublicKey, place: Statement.Place): void {
    if (this.#learn(publicKey, place)) this.#send?.({ publicKey, place })
  }

  #learn(publicKey: Keys.PublicKey, place: Statement.Place): boolean {
    const before = this.#signedAt.get(publicKey)
    if (before !== undefined && !Judge.isAbove(place, before)) return false
    this.#signedAt.set(publicKey, place)
    return true
  }

  stop(): void {
    this.#isStopped = true
    this.#raw?.destroy()
  }

  #become(state: State): void {
    this.#state = state
    if (state._tag === "Ready" || state.reason !== this.#refusal?.reason) this.#refusal = null
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
          if (Either.isLeft(opened.right)) {
            this.#refuses(opened.right.left)
            return opened.right.left
          }
          this.#send = (said) => {
            socket.write(Line.frame(Line.said.encode(said)))
            if ("place" in said) return
            patience()
            patience = this.#patience(raw)
          }
          for (const [publicKey, place] of this.#signedAt) this.#send({ publicKey, place })
          this.#become({ _tag: "Ready", publicKeys: opened.right.right })
          for (const [id, { publicKey, bytes }] of this.#waiting) this.#send({ id, publicKey, bytes })
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
    if (waiting === undefined) return
    const statement = Statement.read(waiting.bytes)
    if (statement?._tag === "Vertex") {
      if (Either.isLeft(result)) this.#refuses(result.left)
      else {
        this.#refusal = null
        this.#learn(waiting.publicKey, { epoch: statement.epoch, round: statement.round })
      }
    }
    waiting.answered(result)
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
