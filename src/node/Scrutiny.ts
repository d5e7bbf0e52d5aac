/**
 * What peers say waits here until it is known whether its signatures hold, which is found out in other threads. What one
 * peer says is handed on in the order in which it came; its transactions go by themselves, since a thousand of them must
 * not stand in the way of a vertex. It holds no more than what each peer may have waiting (`Received.settle`).
 */
import { Either } from "effect"
import type { Message } from "../consensus/replica/Message.js"
import type { PeerId } from "../consensus/replica/Peer.js"
import type { Replica } from "../consensus/replica/Replica.js"
import * as MessageCodec from "../network/MessageCodec.js"
import type { Received } from "../network/Network.js"
import type { NetworkId } from "../protocol/Network.js"
import { verificationKey } from "../protocol/Transaction.js"
import type { VerifiedTransactions } from "../protocol/Verification.js"
import { SecondOpinion } from "./SecondOpinion.js"
import type { Verifier } from "./Verifier.js"

export interface Judged {
  readonly from: PeerId
  readonly message: Message
  readonly settle: Received["settle"]
  /** Whether the signatures hold; of what is judged only in the moment it is taken in, nothing is known yet. */
  readonly holds: boolean
}

export interface Surroundings {
  readonly replica: Pick<Replica, "checksOf" | "isAwaited">
  readonly networkId: NetworkId
  readonly verified: VerifiedTransactions
  readonly verifier: Verifier
  /** This peer sent bytes that are no message. */
  readonly malformed: (from: PeerId, what: string) => void
  /** Called in the order of each peer's words. */
  readonly pass: (judged: Judged) => void
}

/** Who may say no: at the door the native verifier, of what stands in a vertex only ZIP-215 itself. */
type Rule = "door" | "vertex"

/**
 * By which rule, for what speaks for itself. Whose signatures under anything else count changes with the epoch, and they
 * are few: they are judged in the moment they are taken in.
 */
export const ruleFor = ({ _tag }: Message): Rule | null => {
  switch (_tag) {
    case "Vertices":
    case "Rounds":
      return "vertex"
    case "Transactions":
      return "door"
    default:
      return null
  }
}

interface Waiting {
  readonly judged: Omit<Judged, "holds">
  holds: boolean | null
}

export class Scrutiny {
  readonly #around: Surroundings
  readonly #secondOpinion = new SecondOpinion()
  /** In the order in which they came. */
  readonly #lanes = new Map<string, Array<Waiting>>()

  constructor(surroundings: Surroundings) {
    this.#around = surroundings
  }

  take(received: Received): void {
    const { from, settle } = received
    const decoded = MessageCodec.decode(this.#around.networkId, received.bytes)
    if (Either.isLeft(decoded)) {
      settle("refused")
      this.#around.malformed(from, decoded.left.message)
      return
    }
    const message = decoded.right
    if (!this.#around.replica.isAwaited(from, message)) {
      settle("known")
      return
    }
    const rule = ruleFor(message)
    const name = `${from} ${rule === "door"}`
    const lane = this.#lanes.get(name) ?? []
    this.#lanes.set(name, lane)
    const waiting: Waiting = { judged: { from, message, settle }, holds: rule === null ? true : null }
    lane.push(waiting)
    if (rule === null) this.#advance(name, lane)
    else {
      this.#judge(message, rule, (holds) => {
        waiting.holds = holds
        this.#advance(name, lane)
      })
    }
  }

  #judge(message: Message, rule: Rule, settle: (holds: boolean) => void): void {
    const { replica, networkId, verified, verifier } = this.#around
    const checks = replica.checksOf(message, (transaction) => verified.has(verificationKey(networkId, transaction)))
    const judged = (verdicts: Uint8Array): void => {
      const refused = checks.filter((_, i) => verdicts[i] !== 1)
      if (refused.length > 0 && rule === "vertex") {
        this.#secondOpinion.ask(refused, settle)
        return
      }
      // Each stands in a vertex soon. Few stand in two.
      if (refused.length === 0 && message._tag === "Transactions") {
        for (const transaction of message.transactions) verified.add(verificationKey(networkId, transaction))
      }
      settle(refused.length === 0)
    }
    verifier.judge(checks, judged, rule === "vertex")
  }

  #advance(name: string, lane: Array<Waiting>): void {
    for (let first = lane[0]; first !== undefined && first.holds !== null; first = lane[0]) {
      lane.shift()
      this.#around.pass({ ...first.judged, holds: first.holds })
    }
    if (lane.length === 0 && this.#lanes.get(name) === lane) this.#lanes.delete(name)
  }
}
