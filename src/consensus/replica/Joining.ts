/**
 * Fast sync onto a closing checkpoint, for a node whose epoch is so long over that nobody keeps its vertices: hears what
 * all peers have to offer, proves it from the committee this node knows, takes the newest, and fetches its state. Two
 * proven histories stop it: a machine cannot know which network its owner means.
 */
import { Either } from "effect"
import type { Ledger } from "../../ledger/Ledger.js"
import type { SignedCheckpoint } from "../../protocol/Checkpoint.js"
import type { Timestamp } from "../../protocol/Counter.js"
import * as Counter from "../../protocol/Counter.js"
import type { JoinedLedger, State } from "./JoinedLedger.js"
import type { Answer } from "./Message.js"
import type { Outbox } from "./Outbox.js"
import type { PeerId } from "./Peer.js"
import type { Peers } from "./Peers.js"
import { ProvenChain, type Trust } from "./ProvenChain.js"
import { StateDownload } from "./StateDownload.js"
import type { StoredJoin } from "./Stored.js"

type Closing = Extract<Answer, { _tag: "Closing" }>

export interface Surroundings {
  readonly peers: Peers
  readonly outbox: Outbox
  readonly patienceMs: number
  readonly ledgerOf: (state: State) => JoinedLedger
}

/** Where it has come to. */
export interface Joined extends State {
  readonly ledger: Ledger
  /** The closing checkpoints on the way there. */
  readonly proven: ReadonlyArray<SignedCheckpoint>
}

export class Joining {
  readonly #around: Surroundings
  readonly #trust: Trust
  readonly #chains = new Map<PeerId, ProvenChain>()
  /** Those that have nothing to offer, or nothing true. */
  readonly #others = new Set<PeerId>()
  #decidesAt: number
  #download: StateDownload | null = null
  /** One that was begun before: it goes on where it was if its state is offered again. */
  #begun: StateDownload | null
  #ledger: JoinedLedger | null = null
  #isStopped = false

  constructor(around: Surroundings, trust: Trust, kept: StoredJoin | null, now: Timestamp) {
    this.#around = around
    this.#trust = trust
    this.#begun = kept && new StateDownload(kept.target, around.patienceMs, kept.subtrees)
    this.#decidesAt = now + 2 * around.patienceMs
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  get target(): SignedCheckpoint | null {
    return this.#download?.target ?? null
  }

  get wakeAt(): number {
    return this.#download?.wakeAt ?? this.#decidesAt
  }

  /** Whether nobody who is there offers anything true. */
  get isPointless(): boolean {
    return this.#download === null && this.#chains.size === 0 && this.#haveAllSpoken()
  }

  /** What a peer has to offer; `closing.newest` may be no news. */
  offered(from: PeerId, { signed, newest }: Closing, now: Timestamp): void {
    if (this.#isStopped) return
    if (newest === null || newest.checkpoint.epoch <= this.#trust.record.epoch) this.#others.add(from)
    else {
      const chain = this.#chains.get(from) ?? new ProvenChain(this.#trust, newest)
      this.#chains.set(from, chain)
      this.#others.delete(from)
      chain.take(signed, newest)
      this.#follow(from, chain)
    }
    this.#compare()
    this.tick(now)
  }

  #follow(peer: PeerId, chain: ProvenChain): void {
    if (chain.isBroken) {
      this.#around.outbox.emit({
        _tag: "Misbehaved",
        peer,
        error: { _tag: "WrongState", reason: "unproven checkpoints" },
      })
      this.#chains.delete(peer)
      this.#others.add(peer)
      return
    }
    const from = chain.toAsk()
    if (from !== null) this.#askClosing(peer, from)
  }

  #askClosing(to: PeerId, from: number): void {
    this.#around.outbox.send(to, { _tag: "AskClosing", from: Counter.epoch(from) })
  }

  #compare(): void {
    const chains = [...this.#chains.values()]
    for (const [i, chain] of chains.entries()) {
      for (const other of chains.slice(i + 1)) {
        const conflict = chain.conflictWith(other)
        if (conflict === undefined || this.#isStopped) continue
        const [first, second] = conflict
        this.#isStopped = true
        this.#around.outbox.emit({
          _tag: "JoinStopped",
          problem: { _tag: "TwoChains", epoch: first.checkpoint.epoch, first, second },
        })
      }
    }
  }

  tick(now: Timestamp): void {
    if (this.#isStopped) return
    if (this.#download === null && (this.#haveAllSpoken() || now >= this.#decidesAt)) this.#begin(now)
    this.#fetch(now)
  }

  #haveAllSpoken(): boolean {
    return this.#around.peers.all.every((peer) => this.#others.has(peer) || this.#chains.get(peer)?.isProven === true)
  }

  #begin(now: Timestamp): void {
    let best: SignedCheckpoint | undefined
    for (const chain of this.#chains.values()) {
      if (chain.isProven && chain.newest.checkpoint.epoch > (best?.checkpoint.epoch ?? 0)) best = chain.newest
    }
    if (best === undefined) {
      this.#askAgain(now)
      return
    }
    if (this.#begun?.target.checkpoint.hash !== best.checkpoint.hash) {
      this.#around.outbox.write({ _tag: "JoinBegun", target: best })
      this.#begun = new StateDownload(best, this.#around.patienceMs, [])
    }
    this.#begun.resume()
    this.#download = this.#begun
    for (const [peer, chain] of this.#chains) {
      // Whoever offered something else tells what it has of that epoch.
      if (chain.at(best.checkpoint.epoch) === undefined) this.#askClosing(peer, best.checkpoint.epoch)
    }
  }

  #askAgain(now: Timestamp): void {
    this.#decidesAt = now + 2 * this.#around.patienceMs
    this.#others.clear()
    for (const peer of this.#around.peers.all) this.#askClosing(peer, this.#trust.record.epoch)
  }

  #fetch(now: Timestamp): void {
    const { peers, outbox } = this.#around
    const asking = this.#download?.next(peers.all, now) ?? null
    if (asking !== null) outbox.send(asking.to, asking.question)
    if (asking !== null || this.#download?.isHopeless(peers.all) !== true) return
    // The network has closed further epochs meanwhile, or there is nobody to ask.
    this.#download = null
    this.#askAgain(now)
  }

  /** A piece of the state; gives the whole once it is there. */
  received(from: PeerId, answer: Extract<Answer, { _tag: "State" }>, now: Timestamp): void {
    const download = this.#download
    if (download === null || this.#isStopped) return
    const received = download.receive(from, answer)
    if (received._tag === "Refused") {
      const { reason } = received
      this.#around.outbox.emit({ _tag: "Misbehaved", peer: from, error: { _tag: "WrongState", reason } })
    }
    if (received._tag === "Kept") {
      this.#around.outbox.write({ _tag: "JoinSubtree", subtree: received.subtree })
      const { heldRecords, records, target } = download
      this.#around.outbox.emit({ _tag: "Joining", progress: { epoch: target.checkpoint.epoch, heldRecords, records } })
    }
    this.#fetch(now)
  }

  /** Whether pieces from before a restart are to be taken in, or the fetched state to be made a ledger. */
  get hasWork(): boolean {
    return !this.#isStopped && (this.#download?.hasKept === true || this.#download?.trie !== undefined)
  }

  /** Works on that while it may. */
  work(mayContinue: () => boolean, now: Timestamp): Joined | undefined {
    const download = this.#download
    if (download === null || this.#isStopped) return undefined
    if (download.hasKept) {
      download.restore(mayContinue)
      this.#fetch(now)
      return undefined
    }
    const { trie, target } = download
    return trie && this.#make({ trie, target }, mayContinue)
  }

  #make(state: State, mayContinue: () => boolean): Joined | undefined {
    this.#ledger ??= this.#around.ledgerOf(state)
    const made = this.#ledger.work(mayContinue)
    if (made === undefined) return undefined
    if (Either.isLeft(made)) {
      this.stop(made.left)
      return undefined
    }
    const chain = [...this.#chains.values()].find((each) => each.at(state.target.checkpoint.epoch) !== undefined)
    return { ...state, ledger: made.right, proven: chain?.proven ?? [] }
  }

  /** The state cannot be read, though a quorum signed its root. */
  stop(reason: string): void {
    this.#isStopped = true
    const epoch = this.target?.checkpoint.epoch ?? this.#trust.record.epoch
    this.#around.outbox.emit({ _tag: "JoinStopped", problem: { _tag: "UnreadableState", epoch, reason } })
  }
}
