/**
 * Which leader vertices are final: the commit rule of Mysticeti-C (Babel et al., arXiv 2310.14821) with one leader slot
 * a round.
 *
 * A vertex at r+1 votes for the vertex of slot r among its parents, or blames the slot if it has none. A vertex at r+2
 * with a quorum of votes among its parents is a certificate. A quorum of certificates commits, a quorum of blames
 * skips. If a slot reaches neither, its anchor decides: the first slot at r+3 or above that is not skipped. While the
 * anchor is undecided, so is the slot. Once the anchor is committed, a certificate in its history commits the slot;
 * otherwise the slot is skipped.
 *
 * While less than a third of the weight equivocates, every verdict is final the moment it is reached: votes, blames and
 * certificates are counted once, as vertices come in, and only undecided slots are looked at again.
 */

import type { Hash } from "../../protocol/identity/Hash.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Parent } from "../../protocol/vertex/Header.js"
import type { Schedule } from "../dag/Committee.js"
import type { Dag, Node } from "../dag/Dag.js"
import { Tally } from "../dag/Tally.js"
import { CertificateSearch } from "./CertificateSearch.js"

export type Verdict = { readonly _tag: "Commit"; readonly leader: Node } | { readonly _tag: "Skip" }

export interface Decision {
  readonly round: Round
  readonly verdict: Verdict
}

/** Impossible while less than a third of the weight is dishonest; a node that detects it must stop. */
export type Contradiction =
  | {
      readonly _tag: "TwoCertified"
      readonly round: Round
      readonly certified: readonly [Hash, Hash]
    }
  | { readonly _tag: "VerdictReversed"; readonly round: Round; readonly committed: Hash | null }

export interface Slot {
  readonly round: Round
  readonly leader: number
  /** By vertex of the slot. */
  readonly votes: Map<Hash, Tally>
  readonly certificates: Map<Hash, Tally>
  readonly blames: Tally
  verdict: Verdict | null
}

const SKIP: Verdict = { _tag: "Skip" }

const tallyOf = (tallies: Map<Hash, Tally>, hash: Hash): Tally => {
  let tally = tallies.get(hash)
  if (tally === undefined) {
    tally = new Tally()
    tallies.set(hash, tally)
  }
  return tally
}

/** Parents are in ascending order of rounds, so those of the previous round come last. */
const parentInSlot = (parents: ReadonlyArray<Parent>, round: Round, author: string): Hash | null =>
  parents.findLast((parent) => parent.round === round && parent.author === author)?.hash ?? null

/** Invariant: a slot's verdict, once set, never changes; `#next` is the lowest slot that has not been released. */
export class Committer {
  readonly #dag: Dag
  readonly #schedule: Schedule
  readonly #slots = new Map<Round, Slot>()
  #next: Round
  #hasNews = false
  #contradiction: Contradiction | null = null

  constructor(dag: Dag, schedule: Schedule = dag.committee) {
    this.#dag = dag
    this.#schedule = schedule
    this.#next = dag.committee.firstRound
  }

  /** The first contradiction found; never cleared. */
  get contradiction(): Contradiction | null {
    return this.#contradiction
  }

  get size(): number {
    return this.#slots.size
  }

  /** Null while the slot is undecided, and after it was collected. */
  verdictOf(round: Round): Verdict | null {
    return this.#slots.get(round)?.verdict ?? null
  }

  /** Whether the round after the slot holds a quorum of votes for one vertex of it, or a quorum of blames. */
  isVotedOn(round: Round): boolean {
    const slot = this.#slots.get(round)
    if (slot === undefined) return false
    if (this.#isQuorum(slot.blames)) return true
    for (const votes of slot.votes.values()) if (this.#isQuorum(votes)) return true
    return false
  }

  #isQuorum(tally: Tally): boolean {
    return this.#dag.committee.isQuorum(tally.weight)
  }

  #slot(round: Round): Slot {
    let slot = this.#slots.get(round)
    if (slot === undefined) {
      const leader = this.#schedule.leaderOf(round)
      slot = { round, leader, votes: new Map(), certificates: new Map(), blames: new Tally(), verdict: null }
      this.#slots.set(round, slot)
    }
    return slot
  }

  /**
   * Counts a new vertex's votes and certificates for the slots one and two rounds below, if those are of this epoch and
   * not collected.
   */
  add(node: Node): void {
    const { collectedRound } = this.#dag
    const [voted, certified] = [node.round - 1, node.round - 2]
    if (voted > collectedRound) this.#countVote(this.#slot(Natural.round(voted)), node)
    if (certified > collectedRound) this.#countCertificate(this.#slot(Natural.round(certified)), node)
  }

  #countVote(slot: Slot, node: Node): void {
    const author = this.#dag.committee.member(slot.leader).address
    const weight = this.#dag.committee.weightOf(node.seat)
    node.vote = parentInSlot(node.vertex.header.parents, slot.round, author)
    if (node.vote !== null) {
      tallyOf(slot.votes, node.vote).add(node.seat, weight)
      return
    }
    slot.blames.add(node.seat, weight)
    if (this.#isQuorum(slot.blames)) this.#decide(slot, SKIP)
  }

  #countCertificate(slot: Slot, node: Node): void {
    node.certifies = this.#certified(slot, node)
    if (node.certifies === null) return
    const certificates = tallyOf(slot.certificates, node.certifies)
    certificates.add(node.seat, this.#dag.committee.weightOf(node.seat))
    for (const other of slot.certificates.keys()) {
      if (other === node.certifies) continue
      this.#contradiction ??= { _tag: "TwoCertified", round: slot.round, certified: [other, node.certifies] }
    }
    if (this.#isQuorum(certificates)) this.#decide(slot, this.#commit(node.certifies))
  }

  /** The vertex of the slot that a quorum of this vertex's parents votes for; null also if a quorum blames the slot. */
  #certified(slot: Slot, node: Node): Hash | null {
    const weights = new Map<Hash | null, number>()
    const votingRound = slot.round + 1
    for (const parent of node.parents) {
      // A vertex names at most one parent of a slot, so no author is counted twice.
      if (parent.round !== votingRound) continue
      const weight = (weights.get(parent.vote) ?? 0) + this.#dag.committee.weightOf(parent.seat)
      if (this.#dag.committee.isQuorum(weight)) return parent.vote
      weights.set(parent.vote, weight)
    }
    return null
  }

  /**
   * No message can make it throw: a vote is the hash of a parent in the slot, and a vertex enters the DAG only after
   * its parents, each of which matches its reference. Slots collected with their vertices are not counted.
   */
  #commit(leader: Hash): Verdict {
    const node = this.#dag.get(leader)
    if (node === undefined) throw new Error(`leader ${leader} is certified but not in the DAG`)
    return { _tag: "Commit", leader: node }
  }

  #decide(slot: Slot, verdict: Verdict): void {
    if (slot.verdict === null) {
      slot.verdict = verdict
      this.#hasNews = true
      return
    }
    const before = slot.verdict._tag === "Commit" ? slot.verdict.leader : null
    const now = verdict._tag === "Commit" ? verdict.leader : null
    if (before !== now) {
      this.#contradiction ??= { _tag: "VerdictReversed", round: slot.round, committed: now?.hash ?? null }
    }
  }

  /** The slots decided since the last call, in order and without a gap. */
  release(): ReadonlyArray<Decision> {
    if (!this.#hasNews) return []
    this.#hasNews = false
    this.#decideByAnchors()
    const released: Array<Decision> = []
    for (let verdict = this.verdictOf(this.#next); verdict !== null; verdict = this.verdictOf(this.#next)) {
      released.push({ round: this.#next, verdict })
      this.#next = Natural.round(this.#next + 1)
    }
    return released
  }

  /** From the highest round down, because a lower slot may wait for the verdict of a higher one. */
  #decideByAnchors(): void {
    const searches = new Map<Node, CertificateSearch>()
    // Slots above the highest round are undecided too, never skipped.
    let anchor: Slot | undefined
    for (let round = this.#dag.highestRound - 3; round >= this.#next; round--) {
      anchor = this.#anchorOf(this.#slot(Natural.round(round + 3)), anchor)
      const slot = this.#slot(Natural.round(round))
      if (slot.verdict !== null || anchor?.verdict?._tag !== "Commit") continue
      const { leader } = anchor.verdict
      let search = searches.get(leader)
      if (search === undefined) {
        search = new CertificateSearch(leader)
        searches.set(leader, search)
      }
      const certified = search.certifiedIn(slot.round)
      slot.verdict = certified === null ? SKIP : this.#commit(certified)
    }
  }

  /** The anchor of a slot: the slot three rounds above it or, if that is skipped, the anchor of the slot one higher. */
  #anchorOf(threeAbove: Slot, ofNextHigher: Slot | undefined): Slot | undefined {
    return threeAbove.verdict?._tag === "Skip" ? ofNextHigher : threeAbove
  }

  /** Forgets the slots up to and including `round`, all of them released. */
  collect(round: Round): void {
    if (round >= this.#next) throw new Error(`cannot forget slots up to ${round}: ${this.#next} is undecided`)
    for (const known of this.#slots.keys()) if (known <= round) this.#slots.delete(known)
  }
}
