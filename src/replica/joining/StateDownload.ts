/** Downloads a state piece by piece, from one peer at a time. Checked pieces are kept across restarts. */
import { Either } from "effect"
import { Assembly } from "../../ledger/trie/Assembly.js"
import * as Position from "../../ledger/trie/Position.js"
import type { Trie } from "../../ledger/trie/Trie.js"
import * as Binary from "../../protocol/encoding/Binary.js"
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import { AnswerTime } from "../messages/AnswerTime.js"
import type { Answer, Question } from "../messages/Message.js"
import type { PeerId } from "../messages/Peer.js"

type StateAnswer = Extract<Answer, { _tag: "State" }>

/** An honest peer's piece is about half of an answer's limit, unless it is the last of its part of the state. */
const MEAGRE_BYTES = 131_072

export type Received =
  /** `isMeagre`: a small part of the request, where an honest peer fills its answer. */
  | { readonly _tag: "Kept"; readonly subtree: Uint8Array; readonly isMeagre: boolean }
  | { readonly _tag: "Refused"; readonly reason: string }
  /** Nothing new, or unrequested. */
  | { readonly _tag: "Nothing" }

export class StateDownload {
  readonly target: SignedCheckpoint
  readonly #assembly: Assembly
  readonly #answerTime: AnswerTime
  /** Pieces from before a restart, to be checked again. */
  readonly #kept: Array<Uint8Array>
  #asked: { readonly peer: PeerId; readonly at: Timestamp } | null = null
  /** Peers that have not answered yet, the depth they were asked for, and when. Late pieces are accepted. */
  readonly #awaited = new Map<PeerId, { readonly depth: number; readonly at: Timestamp }>()
  #silent: Array<PeerId> = []
  /** Peers that lacked it or sent something else since the last piece. */
  readonly #failed = new Set<PeerId>()

  constructor(target: SignedCheckpoint, patienceMs: number, kept: Iterable<Uint8Array>) {
    this.target = target
    this.#answerTime = new AnswerTime(patienceMs)
    this.#assembly = new Assembly(target.checkpoint.stateRoot)
    this.#kept = [...kept].reverse()
  }

  get hasKept(): boolean {
    return this.#kept.length > 0
  }

  /** Takes them in while `mayContinue`. */
  restore(mayContinue: () => boolean): void {
    do {
      const subtree = this.#kept.pop()
      if (subtree === undefined) return
      this.#assembly.accept(subtree)
    } while (mayContinue())
  }

  /** Makes peers that failed eligible again. */
  resume(): void {
    this.#asked = null
    this.#failed.clear()
  }

  get heldRecords(): number {
    return this.#assembly.heldRecords
  }

  get records(): number | undefined {
    return this.#assembly.records
  }

  get trie(): Trie | undefined {
    return this.#assembly.trie
  }

  get #root() {
    return this.target.checkpoint.stateRoot
  }

  get wakeAt(): number | null {
    return this.#asked === null ? null : this.#asked.at + this.#answerTime.ms
  }

  /** The next question and the peer to ask; null while an answer may still arrive, or once every peer has failed. */
  next(peers: ReadonlyArray<PeerId>, now: Timestamp): { readonly to: PeerId; readonly question: Question } | null {
    if (this.hasKept) return null
    const asked = this.#asked
    if (asked !== null && now - asked.at < this.#answerTime.ms && peers.includes(asked.peer)) return null
    if (asked !== null) {
      if (peers.includes(asked.peer)) this.#answerTime.silence()
      this.#failed.add(asked.peer)
      this.#silent.push(asked.peer)
    }
    this.#asked = null
    const to = peers.find((peer) => !this.#failed.has(peer))
    const { value: missing } = this.#assembly.missing().next()
    if (to === undefined || missing === undefined) return null
    this.#asked = { peer: to, at: now }
    this.#awaited.set(to, { depth: missing.position.depth, at: now })
    const position = Binary.encode((writer) => Position.write(writer, missing.position))
    return { to, question: { _tag: "AskState", root: this.#root, position } }
  }

  takeSilent(): ReadonlyArray<PeerId> {
    const silent = this.#silent
    this.#silent = []
    return silent
  }

  /** Whether no connected peer can continue it. */
  isHopeless(peers: ReadonlyArray<PeerId>): boolean {
    return (
      !this.hasKept && this.#asked === null && this.trie === undefined && peers.every((peer) => this.#failed.has(peer))
    )
  }

  receive(from: PeerId, { root, subtree }: StateAnswer, now: Timestamp): Received {
    const awaited = this.#awaited.get(from)
    if (root !== this.#root || awaited === undefined) return { _tag: "Nothing" }
    this.#awaited.delete(from)
    if (this.#asked?.peer === from) this.#asked = null
    if (subtree === null) {
      this.#failed.add(from)
      return { _tag: "Nothing" }
    }
    const accepted = this.#assembly.accept(subtree)
    if (Either.isLeft(accepted)) {
      if (accepted.left._tag === "AlreadyHeld") return { _tag: "Nothing" }
      this.#failed.add(from)
      return { _tag: "Refused", reason: accepted.left.message }
    }
    this.#failed.clear()
    // It leaves out records that would have fitted.
    const leavesOut = accepted.right.siblings.slice(awaited.depth).some(({ records }) => records > 0)
    const isMeagre = subtree.length < MEAGRE_BYTES && leavesOut
    if (subtree.length >= MEAGRE_BYTES) this.#answerTime.took(now - awaited.at)
    return { _tag: "Kept", subtree, isMeagre }
  }
}
