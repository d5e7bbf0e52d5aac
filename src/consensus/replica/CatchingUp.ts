/** Asks for whole rounds, page after page from one peer, the next one when it falls silent. */
import type { Timestamp } from "../../protocol/Counter.js"
import type { Output as CoreOutput } from "../Output.js"
import type { Answer, DiskQuestion } from "./Message.js"
import type { PeerId } from "./Peer.js"
import type { Peers } from "./Peers.js"

export type RoundsQuestion = Extract<DiskQuestion, { _tag: "AskRounds" }>

type Wanted = Omit<Extract<CoreOutput, { _tag: "CatchUp" }>, "_tag">

export interface Asking {
  readonly to: PeerId
  readonly question: RoundsQuestion
}

export class CatchingUp {
  readonly #peers: Peers
  readonly #patienceMs: number
  #asked: (Asking & { readonly at: Timestamp }) | null = null

  constructor(peers: Peers, patienceMs: number) {
    this.#peers = peers
    this.#patienceMs = patienceMs
  }

  /** The core lacks these rounds; nothing while somebody is still answering. */
  wanted({ epoch, fromRound, toRound }: Wanted, now: Timestamp): Asking | null {
    const asked = this.#asked
    const isUnderWay = asked?.question.epoch === epoch && now >= asked.at && now - asked.at < this.#patienceMs
    const to = isUnderWay ? undefined : this.#peers.next()
    return to === undefined ? null : this.#ask(to, { _tag: "AskRounds", epoch, fromRound, toRound, after: null }, now)
  }

  #ask(to: PeerId, question: RoundsQuestion, now: Timestamp): Asking {
    this.#asked = { to, question, at: now }
    return { to, question }
  }

  /** What to ask next, if the answer leaves something to ask. */
  answered(from: PeerId, answer: Extract<Answer, { _tag: "Rounds" }>, now: Timestamp): Asking | null {
    const asked = this.#asked
    if (asked === null || asked.to !== from || asked.question.epoch !== answer.epoch) return null
    const last = answer.vertices.at(-1)
    this.#asked = null
    if (answer.isLast || last === undefined) return null
    return this.#ask(from, { ...asked.question, after: last.header.hash }, now)
  }
}
