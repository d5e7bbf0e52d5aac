/**
 * The answers this node is waiting for. Only requested answers are judged: an unrequested one costs its sender a few
 * bytes and would cost this node signature checks. Since authors also push vertices unrequested, an answer with
 * vertices is recognised by their hashes.
 */

import type { Hash } from "../../protocol/identity/Hash.js"
import type { Answer, DiskQuestion, Question } from "../../replica/messages/Message.js"
import type { PeerId } from "../../replica/messages/Peer.js"

type AnswerTag = Answer["_tag"]

const ANSWER_TO: { readonly [T in (Question | DiskQuestion)["_tag"]]: AnswerTag } = {
  AskVertices: "Vertices",
  AskRounds: "Rounds",
  AskClosing: "Closing",
  AskHighest: "Highest",
  AskState: "State",
}

/** Limit of open questions of one kind to one peer: unanswered ones must not add up. */
const MAX_OPEN = 64
/** Limit of open vertices per peer; the oldest are forgotten. */
const MAX_HASHES = 1_024

export class OpenQuestions {
  readonly #open = new Map<PeerId, Map<AnswerTag, number>>()
  /** The vertices requested from each peer; empty if none of its answers with vertices is open. */
  readonly #hashes = new Map<PeerId, Set<Hash>>()

  asks(to: PeerId, question: Question | DiskQuestion): void {
    const answer = ANSWER_TO[question._tag]
    const open = this.#open.get(to) ?? new Map<AnswerTag, number>()
    this.#open.set(to, open.set(answer, Math.min(MAX_OPEN, (open.get(answer) ?? 0) + 1)))
    if (question._tag === "AskVertices") this.#remember(to, question.hashes)
  }

  #remember(to: PeerId, asked: ReadonlyArray<Hash>): void {
    const hashes = this.#hashes.get(to) ?? new Set<Hash>()
    this.#hashes.set(to, hashes)
    for (const hash of asked) hashes.add(hash)
    for (const oldest of hashes) {
      if (hashes.size <= MAX_HASHES) return
      hashes.delete(oldest)
    }
  }

  isAwaited(from: PeerId, answer: string): boolean {
    const open: ReadonlyMap<string, number> | undefined = this.#open.get(from)
    return (open?.get(answer) ?? 0) > 0
  }

  /**
   * Vertices arrived; returns whether one was requested. A member's pushes leave its open answers open. Any other
   * peer's unrequested vertices use one up, since awaited vertices are judged before those of strangers.
   */
  answeredWith(from: PeerId, vertices: ReadonlyArray<Hash>, isMember: boolean): boolean {
    if (!this.isAwaited(from, "Vertices")) return false
    const hashes = this.#hashes.get(from)
    const isAsked = vertices.length === 0 || vertices.filter((hash) => hashes?.delete(hash)).length > 0
    if (isAsked || !isMember) this.answered(from, "Vertices")
    if (hashes?.size === 0) this.#open.get(from)?.set("Vertices", 0)
    if (!this.isAwaited(from, "Vertices")) this.#hashes.delete(from)
    return isAsked
  }

  /** An answer arrived; returns whether it was requested, and no longer awaits it. */
  answered(from: PeerId, answer: AnswerTag): boolean {
    const open = this.#open.get(from)
    const count = open?.get(answer) ?? 0
    if (open === undefined || count === 0) return false
    open.set(answer, count - 1)
    return true
  }

  /** Forgets all other peers. */
  keepOnly(peers: ReadonlySet<string>): void {
    for (const peer of this.#open.keys()) {
      if (peers.has(peer)) continue
      this.#open.delete(peer)
      this.#hashes.delete(peer)
    }
  }
}
