/**
 * Fetches whole rounds, page by page from one peer. A peer is kept only while its pages bring missing rounds faster
 * than the network makes new ones; otherwise the next peer is asked. So a lying, stalling or dripping peer costs little
 * time, and everything it did bring is kept.
 */

import type { Output as CoreOutput } from "../../consensus/output/Output.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Epoch, Timestamp } from "../../protocol/numbers/Natural.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import { AnswerTime } from "../messages/AnswerTime.js"
import type { Answer, DiskQuestion } from "../messages/Message.js"
import type { PeerId } from "../messages/Peer.js"
import type { Peers } from "../messages/Peers.js"

export type RoundsQuestion = Extract<DiskQuestion, { _tag: "AskRounds" }>
type RoundsAnswer = Extract<Answer, { _tag: "Rounds" }>

type Wanted = Omit<Extract<CoreOutput, { _tag: "CatchUp" }>, "_tag">

export interface Asking {
  readonly to: PeerId
  readonly question: RoundsQuestion
}

/** Receives vertices: knows which are here, and up to which round they are no longer wanted. */
export interface Shelf {
  readonly has: (hash: Hash) => boolean
  readonly collectedRound: number
  readonly committee: { readonly size: number }
}

export interface Taking {
  readonly shelf: Shelf
  readonly receive: (vertex: Vertex) => void
  /** No more rounds of this epoch are wanted. */
  readonly isOver: boolean
}

export interface Judgement {
  readonly next: Asking | null
  /** Why no honest node would have sent it; null if one might have. */
  readonly lie: string | null
}

/** How many times as fast as the network a peer must bring rounds: at the network's pace, catching up would never end. */
const LEAST_SPEED = 2

/**
 * How long this node may check an answer before the next peer is asked. A liar's answer is refused sooner, and copies
 * from others would only take this node's time as well.
 */
const CHECKED_WITHIN_MS = 30_000

/** Limit of awaited answers from one peer, however many questions it left open. */
const MAX_AWAITED = 4

/** Open questions to a peer, oldest first; an answer does not say which of them it answers. */
interface Awaited {
  readonly epoch: Epoch
  readonly since: ReadonlyArray<Timestamp>
}

interface Session extends Asking {
  readonly askedAt: Timestamp
  /** When its answer arrived, which is being checked since; null before. */
  readonly arrivedAt: Timestamp | null
  /** When `moved` was last zero. The first answer after one patience must show enough progress. */
  readonly since: Timestamp
  /** Progress: vertices that arrived, or were already here and are skipped. */
  readonly moved: number
  readonly hasBrought: boolean
  readonly hasLeft: boolean
}

const NOTHING: Judgement = { next: null, lie: null }

export class CatchingUp {
  readonly #peers: Peers
  readonly #patienceMs: number
  readonly #roundIntervalMs: number
  #session: Session | null = null
  readonly #answerTime: AnswerTime
  /** Vertices that the session has shown: an honest peer shows each at most once. */
  #shown = new Set<Hash>()
  readonly #awaited = new Map<PeerId, Awaited>()

  constructor(peers: Peers, patienceMs: number, roundIntervalMs: number) {
    this.#peers = peers
    this.#patienceMs = patienceMs
    this.#answerTime = new AnswerTime(patienceMs)
    this.#roundIntervalMs = roundIntervalMs
  }

  /** The core lacks these rounds. Returns null while a peer is bringing them. */
  wanted({ epoch, fromRound, toRound }: Wanted, now: Timestamp): Asking | null {
    const session = this.#session
    if (session?.question.epoch === epoch) {
      if (!session.hasLeft && this.#isPatientWith(session, now)) return null
      this.#answerTime.silence()
    }
    if (session !== null) this.#lose(session.to, now)
    const to = this.#peers.next(now)
    if (to === undefined) return null
    this.#shown = new Set()
    const question = { _tag: "AskRounds", epoch, fromRound, toRound, after: null } as const
    return this.#ask({ to, question, since: now, moved: 0, hasBrought: false, hasLeft: false }, now)
  }

  #isPatientWith({ askedAt, arrivedAt }: Session, now: Timestamp): boolean {
    return arrivedAt === null ? now - askedAt < this.#answerTime.ms : now - arrivedAt < CHECKED_WITHIN_MS
  }

  #ask(session: Omit<Session, "askedAt" | "arrivedAt">, now: Timestamp): Asking {
    const { to, question } = session
    this.#session = { ...session, askedAt: now, arrivedAt: null }
    this.#await(to, question, now)
    return { to, question }
  }

  #await(to: PeerId, { epoch }: RoundsQuestion, now: Timestamp): void {
    const before = this.#awaited.get(to)
    const since = before?.epoch === epoch ? before.since : []
    this.#awaited.set(to, { epoch, since: [...since, now].slice(-MAX_AWAITED) })
  }

  #lose(peer: PeerId, now: Timestamp): void {
    this.#peers.broughtNothing(peer, now)
    if (this.#session?.to === peer) this.#session = null
  }

  /** Whether this answers a question. Each question has one answer, which can be late. */
  isAwaited(from: PeerId, { epoch }: Pick<RoundsAnswer, "epoch">): boolean {
    return this.#awaited.get(from)?.epoch === epoch
  }

  /** An awaited answer is being checked. */
  arrived(from: PeerId, now: Timestamp): void {
    const session = this.#session
    if (session?.to === from) this.#session = { ...session, arrivedAt: session.arrivedAt ?? now }
  }

  /** The answer was malformed, or had an invalid signature. */
  refused(from: PeerId, now: Timestamp): void {
    if (this.#session?.to === from) this.#lose(from, now)
  }

  /** Drops expectations of peers that are gone. */
  connected(): void {
    const session = this.#session
    // It has failed, also if it comes back at once.
    if (session !== null && !this.#peers.has(session.to)) this.#session = { ...session, hasLeft: true }
    for (const peer of this.#awaited.keys()) if (!this.#peers.has(peer)) this.#awaited.delete(peer)
  }

  /** Hands over an answer's vertices one by one and returns the next question, if any. */
  take(from: PeerId, answer: RoundsAnswer, { shelf, receive, isOver }: Taking, now: Timestamp): Judgement {
    const awaited = this.#awaited.get(from)
    if (awaited?.epoch !== answer.epoch) return NOTHING
    const [askedAt = now, ...since] = awaited.since
    if (since.length > 0) this.#awaited.set(from, { ...awaited, since })
    else this.#awaited.delete(from)
    const lie = lieIn(answer)
    if (lie !== null) {
      this.#lose(from, now)
      return { next: null, lie }
    }
    const before = shelf.collectedRound
    const unknown = answer.vertices.filter(({ header }) => !shelf.has(header.hash))
    const passed = answer.vertices.filter(({ header }) => shelf.has(header.hash) && !this.#shown.has(header.hash))
    for (const vertex of answer.vertices) receive(vertex)
    const entered = unknown.filter(
      ({ header: { hash, round } }) => round > before && (shelf.has(hash) || round <= shelf.collectedRound),
    )
    if (entered.length > 0) this.#peers.brought(from)
    // Less than a round tells nothing about large answers.
    if (entered.length >= shelf.committee.size) this.#answerTime.took(now - askedAt)
    const session = this.#session
    if (session?.to !== from) return NOTHING
    for (const { header } of [...entered, ...passed]) this.#shown.add(header.hash)
    const moved = session.moved + entered.length + passed.length
    const hasBrought = session.hasBrought || entered.length > 0
    const hasMoved = moved > session.moved
    if (isOver) {
      this.#session = null
      return NOTHING
    }
    // A copy of an earlier page: the answer to the session's question is still to come.
    if (!hasMoved && since.length > 0) {
      this.#session = { ...session, arrivedAt: null }
      return NOTHING
    }
    return { next: this.#goOn({ ...session, moved, hasBrought }, answer, hasMoved, shelf, now), lie: null }
  }

  #goOn(session: Session, { vertices, isLast }: RoundsAnswer, hasMoved: boolean, shelf: Shelf, now: Timestamp) {
    const last = vertices.at(-1)
    if (isLast || !hasMoved || last === undefined) {
      if (!isLast || !session.hasBrought) this.#lose(session.to, now)
      this.#session = null
      return null
    }
    const next = { ...session, question: { ...session.question, after: last.header.hash } }
    const { since, moved } = session
    if (now - since < this.#patienceMs) return this.#ask(next, now)
    const isFastEnough = moved * this.#roundIntervalMs >= LEAST_SPEED * shelf.committee.size * (now - since)
    if (isFastEnough) return this.#ask({ ...next, since: now, moved: 0 }, now)
    this.#lose(session.to, now)
    return null
  }
}

/**
 * Finds contents that no honest node sends. Unrequested rounds are not a lie: they may be a late answer to an earlier
 * question.
 */
const lieIn = ({ epoch, vertices }: RoundsAnswer): string | null => {
  const hashes = new Set(vertices.map(({ header }) => header.hash))
  if (hashes.size < vertices.length) return "it contains a vertex twice"
  return vertices.every(({ header }) => header.epoch === epoch) ? null : `a vertex is not of epoch ${epoch}`
}
