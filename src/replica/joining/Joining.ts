/**
 * Fast sync to a closing checkpoint, for a node so far behind that no peer still has its epoch's vertices. It asks all
 * peers for their checkpoints, proves these from the committee it knows, compares them (`Histories`), picks the newest,
 * and fetches its state. Two histories stop it: a machine cannot know which network its owner means.
 */
import { Either } from "effect"
import { toHex } from "#crypto"
import type { Ledger } from "../../ledger/Ledger.js"
import type { SignedCheckpoint, SignedClosing } from "../../protocol/epoch/Checkpoint.js"
import type { EpochRecord } from "../../protocol/epoch/EpochRecord.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import { divideFloor } from "../../protocol/numbers/Sats.js"
import type { Check } from "../../protocol/transaction/Verification.js"
import type { StoredJoin } from "../disk/StoredState.js"
import type { Answer } from "../messages/Message.js"
import type { PeerId } from "../messages/Peer.js"
import type { Peers } from "../messages/Peers.js"
import type { Outbox } from "../output/Outbox.js"
import type { Fatal, Parting } from "../output/Output.js"
import { Histories } from "./Histories.js"
import type { Inquiry } from "./Inquiry.js"
import type { JoinedLedger, JoinedState } from "./JoinedLedger.js"
import type { Trust } from "./ProvenChain.js"
import { StateDownload } from "./StateDownload.js"

type Closing = Extract<Answer, { _tag: "Closing" }>

export interface Surroundings {
  readonly peers: Peers
  readonly outbox: Outbox
  readonly patienceMs: number
  readonly ledgerOf: (state: JoinedState) => JoinedLedger
  /** Why to halt before an epoch whose rules this program does not know, and whose state it may not be able to read. */
  readonly unknownIn: (record: EpochRecord) => Fatal | null
}

export interface Joined extends JoinedState {
  readonly target: SignedClosing
  readonly ledger: Ledger
  /** The closing checkpoints that lead to it. */
  readonly proven: ReadonlyArray<SignedCheckpoint>
}

/**
 * How long to wait for an answer, and to listen before following a claim, since other peers may still be connecting.
 */
const ANSWER_PATIENCES = 2
/** How long after the first proven claim the other peers have to prove theirs. */
const CLAIMS_PATIENCES = 30

/** Limit of cached verdicts: a signature sent by many peers is verified once. */
const REMEMBERED_VERDICTS = 16_384

const remembering = (isValid: Trust["isValid"]): Trust["isValid"] => {
  const verdicts = new Map<string, boolean>()
  return (check: Check): boolean => {
    const key = `${check.publicKey} ${check.signature} ${toHex(check.message)}`
    const known = verdicts.get(key)
    if (known !== undefined) return known
    const verdict = isValid(check)
    if (verdicts.size >= REMEMBERED_VERDICTS) verdicts.clear()
    verdicts.set(key, verdict)
    return verdict
  }
}

interface Asked {
  readonly from: number
  readonly at: Timestamp
  /** The inquiry it belongs to; null for the first question to a peer, which asks for its checkpoints. */
  readonly by: Inquiry | null
}

export class Joining {
  readonly #around: Surroundings
  readonly #trust: Trust
  #histories: Histories
  /** Peers with nothing to offer. */
  readonly #others = new Set<PeerId>()
  /** Peers that could not prove their offer or did not answer. */
  readonly #failed = new Set<PeerId>()
  readonly #asked = new Map<PeerId, Asked>()
  readonly #begunAt: Timestamp
  #provenAt: Timestamp | null = null
  #wakeAt: number
  #askAgainAt: number | null = null
  #download: StateDownload | null = null
  /** A download begun earlier; it resumes if its state is offered again. */
  #begun: StateDownload | null
  #making: JoinedLedger | null = null
  #ledger: Ledger | null = null
  /** The target, once it may replace everything here. */
  #landing: SignedClosing | null = null
  #isStopped = false

  constructor(around: Surroundings, trust: Trust, kept: StoredJoin | null, now: Timestamp) {
    this.#around = around
    this.#trust = { ...trust, isValid: remembering(trust.isValid) }
    this.#histories = new Histories(this.#trust)
    this.#begun = kept && new StateDownload(kept.target, around.patienceMs, kept.subtrees)
    this.#begunAt = now
    this.#wakeAt = now
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  get target(): SignedCheckpoint | null {
    return this.#download?.target ?? null
  }

  get wakeAt(): number {
    return this.#wakeAt
  }

  /** Whether no connected peer offers a true claim. */
  get isPointless(): boolean {
    return this.#begun === null && this.#histories.size === 0 && this.#asked.size === 0
  }

  isAsked(peer: PeerId): boolean {
    return this.#asked.has(peer)
  }

  /** Takes a peer's offer. `closing.newest` may be nothing new. */
  offered(from: PeerId, { signed, newest }: Closing, now: Timestamp): void {
    const asked = this.#asked.get(from)
    // Otherwise it is a late answer to another question.
    const isAnswer = asked === undefined || signed.every(({ checkpoint }) => checkpoint.epoch >= asked.from)
    if (this.#isStopped || !isAnswer) return
    this.#asked.delete(from)
    if (asked !== undefined && asked.by !== null) asked.by.take(signed)
    else if (asked !== undefined || !this.#failed.has(from)) this.#hear(from, signed, newest)
    this.tick(now)
  }

  #hear(from: PeerId, signed: ReadonlyArray<SignedCheckpoint>, newest: SignedCheckpoint | null): void {
    if (this.#histories.has(from)) return
    if (newest === null || newest.checkpoint.epoch <= this.#trust.record.epoch) {
      this.#others.add(from)
      return
    }
    this.#others.delete(from)
    this.#histories.claim(from, newest).take(signed)
  }

  tick(now: Timestamp): void {
    if (this.#isStopped) return
    this.#wakeAt = now + Math.max(1, divideFloor(this.#around.patienceMs, 4))
    this.#expire(now)
    this.#judgeClaims(now)
    const parting = this.#connect(now)
    this.#askOn(now)
    const isSettled = this.#isSettled(now)
    if (parting !== null && isSettled) {
      this.#isStopped = true
      this.#around.outbox.emit({ _tag: "JoinStopped", problem: { _tag: "TwoChains", ...parting } })
      return
    }
    this.#followNewest(now, isSettled)
    this.#fetch(now)
  }

  get #answerMs(): number {
    return ANSWER_PATIENCES * this.#around.patienceMs
  }

  #hasListened(now: Timestamp): boolean {
    return now - this.#begunAt >= this.#answerMs
  }

  /** Drops peers that do not answer or never stop answering. */
  #expire(now: Timestamp): void {
    for (const [peer, { at, by }] of this.#asked) {
      const isGone = !this.#around.peers.has(peer)
      if (!isGone && now - at < this.#answerMs) continue
      this.#asked.delete(peer)
      by?.end()
      this.#drop(peer)
      if (!isGone) this.#around.peers.broughtNothing(peer, now)
    }
    if (this.#isClaimTimeOver(now)) for (const inquiry of this.#histories.open) inquiry.end()
  }

  #isClaimTimeOver(now: Timestamp): boolean {
    return this.#provenAt !== null && now - this.#provenAt >= CLAIMS_PATIENCES * this.#around.patienceMs
  }

  #drop(peer: PeerId): void {
    this.#histories.drop(peer)
    this.#failed.add(peer)
  }

  #blame(peer: PeerId): void {
    const error = { _tag: "WrongState", reason: "unproven checkpoints" } as const
    this.#around.outbox.emit({ _tag: "Misbehaved", peer, error })
  }

  #judgeClaims(now: Timestamp): void {
    for (const { peer, isLie } of this.#histories.failed()) {
      if (isLie) this.#blame(peer)
      this.#drop(peer)
    }
    if (this.#histories.newest.length > 0) this.#provenAt ??= now
  }

  /** Where two claims part, once no peer can connect them. */
  #connect(now: Timestamp): Parting | null {
    for (;;) {
      const { liars, parting } = this.#histories.connect(this.#around.peers.ranked(now))
      for (const peer of liars) {
        this.#blame(peer)
        this.#drop(peer)
      }
      if (liars.length === 0) return parting
    }
  }

  #askOn(now: Timestamp): void {
    const { peers } = this.#around
    for (const inquiry of this.#histories.open) {
      const { peer, question } = inquiry
      if (question === null || this.#asked.has(peer)) continue
      if (peers.has(peer)) this.#ask(peer, question, inquiry, now)
      else {
        inquiry.end()
        this.#drop(peer)
      }
    }
    // One bogus offer must not make the node ask every peer.
    if (this.#provenAt === null) return
    for (const peer of peers.all) {
      const hasSpoken = this.#others.has(peer) || this.#failed.has(peer) || this.#histories.has(peer)
      if (!hasSpoken && !this.#asked.has(peer)) this.#ask(peer, this.#trust.record.epoch, null, now)
    }
  }

  #ask(peer: PeerId, from: number, by: Inquiry | null, now: Timestamp): void {
    this.#asked.set(peer, { from, at: now, by })
    this.#around.outbox.send(peer, { _tag: "AskClosing", from: Natural.epoch(from) })
  }

  /** Whether every peer has made its case or has had time to. */
  #isSettled(now: Timestamp): boolean {
    if (this.#provenAt === null || !this.#hasListened(now)) return false
    return this.#isClaimTimeOver(now) || (this.#asked.size === 0 && this.#histories.open.length === 0)
  }

  #followNewest(now: Timestamp, isSettled: boolean): void {
    const { newest } = this.#histories
    const target = this.target?.checkpoint.hash
    const claimed = newest.find(({ checkpoint }) => checkpoint.hash === target) ?? null
    if (claimed === null) this.#leave()
    this.#landing = isSettled && this.#histories.isConnected ? claimed : null
    if (this.#download !== null) return
    const best = newest.at(-1)
    if (best !== undefined) {
      const unknown = this.#around.unknownIn(best.checkpoint.nextEpoch)
      if (unknown !== null && isSettled) this.#around.outbox.halt(unknown)
      if (unknown !== null) return
      if (isSettled || this.#hasListened(now) || this.#asked.size === 0) this.#begin(best)
    } else if (!this.isPointless && this.#asked.size === 0 && this.#histories.size === 0) this.#askAgain(now)
  }

  #leave(): void {
    this.#download = null
    this.#making = null
    this.#ledger = null
    this.#landing = null
  }

  #begin(best: SignedCheckpoint): void {
    if (this.#begun?.target.checkpoint.hash !== best.checkpoint.hash) {
      this.#around.outbox.write({ _tag: "JoinBegun", target: best })
      this.#begun = new StateDownload(best, this.#around.patienceMs, [])
    }
    this.#begun.resume()
    this.#download = this.#begun
  }

  #askAgain(now: Timestamp): void {
    this.#askAgainAt ??= now + this.#answerMs
    if (now < this.#askAgainAt) return
    this.#askAgainAt = null
    this.#others.clear()
    this.#failed.clear()
    for (const peer of this.#around.peers.all) this.#ask(peer, this.#trust.record.epoch, null, now)
  }

  #fetch(now: Timestamp): void {
    const { peers, outbox } = this.#around
    const asking = this.#download?.next(peers.ranked(now), now) ?? null
    if (asking !== null) {
      peers.asked(asking.to)
      outbox.send(asking.to, asking.question)
    }
    for (const peer of this.#download?.takeSilent() ?? []) peers.broughtNothing(peer, now)
    if (asking !== null || this.#download?.isHopeless(peers.all) !== true) return
    // The network has closed more epochs meanwhile, or there is no peer to ask.
    this.#leave()
    this.#histories = new Histories(this.#trust)
    this.#provenAt = null
  }

  received(from: PeerId, answer: Extract<Answer, { _tag: "State" }>, now: Timestamp): void {
    const download = this.#download
    if (download === null || this.#isStopped) return
    const { peers, outbox } = this.#around
    const received = download.receive(from, answer, now)
    if (received._tag === "Refused") {
      const { reason } = received
      peers.broughtNothing(from, now)
      outbox.emit({ _tag: "Misbehaved", peer: from, error: { _tag: "WrongState", reason } })
    }
    if (received._tag === "Kept") {
      if (received.isMeagre) peers.broughtNothing(from, now)
      else peers.brought(from)
      outbox.write({ _tag: "JoinSubtree", subtree: received.subtree })
      const { heldRecords, records, target } = download
      outbox.emit({ _tag: "Joining", progress: { epoch: target.checkpoint.epoch, heldRecords, records } })
    }
    this.#fetch(now)
  }

  /** Whether there are claims to prove, stored pieces to restore, or a ledger to build. */
  get hasWork(): boolean {
    if (this.#isStopped) return false
    const download = this.#download
    const isLedgerDue = download?.trie !== undefined && (this.#ledger === null || this.#landing !== null)
    return isLedgerDue || download?.hasKept === true || this.#histories.open.some(({ hasWork }) => hasWork)
  }

  /** Does that work while `mayContinue`. */
  work(mayContinue: () => boolean, now: Timestamp): Joined | undefined {
    if (this.#isStopped) return undefined
    const inquiry = this.#nextInquiry(now)
    if (inquiry !== undefined) {
      do inquiry.step()
      while (inquiry.hasWork && mayContinue())
      this.tick(now)
      return undefined
    }
    const download = this.#download
    if (download === null) return undefined
    if (download.hasKept) {
      download.restore(mayContinue)
      this.#fetch(now)
      return undefined
    }
    const { trie, target } = download
    return trie && this.#make({ trie, target }, mayContinue)
  }

  /** Members' inquiries come first: many strangers' claims must not use up the time for proving. */
  #nextInquiry(now: Timestamp): Inquiry | undefined {
    const open = this.#histories.open.filter(({ hasWork }) => hasWork)
    if (open.length < 2) return open[0]
    const places = new Map(this.#around.peers.ranked(now, "Members").map((peer, place) => [peer, place]))
    const placeOf = ({ peer }: Inquiry): number => places.get(peer) ?? places.size
    return open.reduce((first, each) => (placeOf(each) < placeOf(first) ? each : first))
  }

  #make(state: JoinedState, mayContinue: () => boolean): Joined | undefined {
    this.#ledger ??= this.#makeLedger(state, mayContinue)
    if (this.#ledger === null || this.#landing === null) return undefined
    return { ...state, target: this.#landing, ledger: this.#ledger, proven: this.#histories.wayTo(this.#landing) }
  }

  #makeLedger(state: JoinedState, mayContinue: () => boolean): Ledger | null {
    this.#making ??= this.#around.ledgerOf(state)
    const made = this.#making.work(mayContinue)
    if (made === undefined) return null
    if (Either.isRight(made)) return made.right
    this.stop(made.left)
    return null
  }

  /** The state is unreadable although a quorum signed its root. */
  stop(reason: string): void {
    this.#isStopped = true
    const epoch = this.target?.checkpoint.epoch ?? this.#trust.record.epoch
    this.#around.outbox.emit({ _tag: "JoinStopped", problem: { _tag: "UnreadableState", epoch, reason } })
  }
}
