/**
 * Which answers this node waits for. Only an answer that was asked of its sender is judged: what nobody asked for costs
 * its sender a few bytes and would cost this node signatures.
 */
import type { Answer, DiskQuestion, Question } from "../consensus/replica/Message.js"
import type { PeerId } from "../consensus/replica/Peer.js"

type AnswerTag = Answer["_tag"]

const ANSWER_TO: { readonly [T in (Question | DiskQuestion)["_tag"]]: AnswerTag } = {
  AskVertices: "Vertices",
  AskRounds: "Rounds",
  AskClosing: "Closing",
  AskHighest: "Highest",
  AskState: "State",
}

/** Questions of one kind to one peer that may be open; one that is never answered must not add up. */
const MAX_OPEN = 64

export class OpenQuestions {
  readonly #open = new Map<PeerId, Map<AnswerTag, number>>()

  asks(to: PeerId, { _tag }: Question | DiskQuestion): void {
    const answer = ANSWER_TO[_tag]
    const open = this.#open.get(to) ?? new Map<AnswerTag, number>()
    this.#open.set(to, open.set(answer, Math.min(MAX_OPEN, (open.get(answer) ?? 0) + 1)))
  }

  isAwaited(from: PeerId, answer: string): boolean {
    const open: ReadonlyMap<string, number> | undefined = this.#open.get(from)
    return (open?.get(answer) ?? 0) > 0
  }

  /** An answer has come. Whether it was asked for; it is no longer awaited then. */
  answered(from: PeerId, answer: AnswerTag): boolean {
    const open = this.#open.get(from)
    const count = open?.get(answer) ?? 0
    if (open === undefined || count === 0) return false
    open.set(answer, count - 1)
    return true
  }

  /** Nobody else is connected. */
  keepOnly(peers: ReadonlySet<string>): void {
    for (const peer of this.#open.keys()) if (!peers.has(peer)) this.#open.delete(peer)
  }
}
