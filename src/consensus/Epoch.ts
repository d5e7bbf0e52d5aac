/** One epoch, from its opening to the commit that closes it: vertices go in, commits come out. */
import type { Address } from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type { Round } from "../protocol/numbers/Natural.js"
import * as Natural from "../protocol/numbers/Natural.js"
import type { Header } from "../protocol/vertex/Header.js"
import type { Vertex } from "../protocol/vertex/Vertex.js"
import { Admission } from "./admission/Admission.js"
import { Committer } from "./commit/Committer.js"
import { Linearizer, type Position } from "./commit/Linearizer.js"
import * as Rollback from "./commit/Rollback.js"
import { Committee } from "./dag/Committee.js"
import { Dag, type Node } from "./dag/Dag.js"
import { Equivocations } from "./dag/Equivocation.js"
import { Proposer } from "./dag/Proposal.js"
import { QuorumProgress } from "./dag/QuorumProgress.js"
import * as Validity from "./dag/Validity.js"
import type { Opening } from "./output/Opening.js"
import type { Output } from "./output/Output.js"

/** Number of its last vertices that a validator resends at the epoch's end. */
const RESENT_VERTICES = 3

export class Epoch {
  readonly opening: Opening
  readonly committee: Committee
  readonly dag: Dag
  readonly admission: Admission
  readonly committer: Committer
  /** This node's seat; undefined outside the committee. */
  readonly seat: number | undefined
  readonly #linearizer: Linearizer
  /** Null for a node outside the committee. */
  readonly proposer: Proposer | null
  readonly #equivocations = new Equivocations()
  readonly #reached: QuorumProgress
  readonly #emit: (output: Output) => void
  /** The last few, oldest first. */
  readonly #ownVertices: Array<Vertex> = []
  #isClosed = false

  constructor(opening: Opening, self: Address | null, emit: (output: Output) => void) {
    this.opening = opening
    this.committee = new Committee(opening.record)
    this.dag = new Dag(this.committee)
    this.admission = new Admission(this.dag, (node) => this.#inserted(node))
    this.committer = new Committer(this.dag)
    this.seat = self === null ? undefined : this.committee.seatOf(self)
    this.#linearizer = new Linearizer(this.dag, opening.position)
    this.proposer = this.seat === undefined ? null : new Proposer(this.dag, this.seat)
    this.#reached = new QuorumProgress(this.committee)
    this.#emit = emit
  }

  /** Whether the closing commit is decided. No more vertices are inserted. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  get position(): Position {
    return this.#linearizer.position
  }

  /** The highest round that members of a quorum are known to have reached. */
  get reachedRound(): Round {
    return this.#reached.round
  }

  /** This node's vertices to resend when messages seem lost, oldest first. */
  get ownVertices(): ReadonlyArray<Vertex> {
    return this.#ownVertices
  }

  keepOwn(vertex: Vertex): void {
    if (this.seat === undefined || this.committee.seatOf(vertex.header.author) !== this.seat) return
    this.#ownVertices.push(vertex)
    this.#ownVertices.sort((a, b) => a.header.round - b.header.round)
    if (this.#ownVertices.length > RESENT_VERTICES) this.#ownVertices.shift()
  }

  /** Adds a vertex of this epoch with valid signatures. Returns whether it is new and breaks no rule. */
  receive(vertex: Vertex): boolean {
    if (this.#isClosed || this.admission.isHereOrOld(vertex)) return false
    const { header } = vertex
    const checked = Validity.check(vertex, this.opening.base, this.committee)
    const seat = this.committee.seatOf(header.author)
    if (checked._tag === "Left" || seat === undefined) {
      if (checked._tag === "Left") this.#emit({ _tag: "Invalid", vertex, error: checked.left })
      return false
    }
    this.#reached.add(seat, header.round)
    this.#lookForEquivocation(header, seat)
    this.admission.receive(vertex, seat)
    return true
  }

  /** Restores a vertex from before a restart. Call it in the order of insertion. */
  restore(vertex: Vertex): void {
    const seat = this.committee.seatOf(vertex.header.author)
    if (seat === undefined || this.#isClosed) return
    this.#reached.add(seat, vertex.header.round)
    this.#lookForEquivocation(vertex.header, seat)
    this.admission.restore(vertex)
  }

  #lookForEquivocation(header: Header, seat: number): void {
    if (seat === this.seat || this.#equivocations.isProven(header.author) || !this.#mayEquivocate(header, seat)) return
    const inserted = this.dag.ofSlot(header.round, seat).map(({ vertex }) => vertex.header)
    const waiting = this.admission.ofSeat(seat).map((vertex) => vertex.header)
    const evidence = this.#equivocations.find(header, [...inserted, ...waiting])
    if (evidence !== undefined) this.#emit({ _tag: "EvidenceFound", evidence })
  }

  /** False for almost every vertex: it is the first of its slot, by an author without waiting vertices. */
  #mayEquivocate({ round }: Header, seat: number): boolean {
    return this.dag.first(round, seat) !== undefined || this.admission.hasWaiting(seat)
  }

  vertex(hash: Hash): Vertex | undefined {
    return this.dag.get(hash)?.vertex ?? this.admission.get(hash)
  }

  #inserted(node: Node): void {
    this.#emit({ _tag: "Inserted", vertex: node.vertex })
    if (node.seat === this.seat) this.keepOwn(node.vertex)
    this.proposer?.add(node)
    this.committer.add(node)
    this.#commitWhatIsDecided()
  }

  #commitWhatIsDecided(): void {
    const decisions = this.committer.release()
    if (this.committer.contradiction !== null) {
      this.#emit({ _tag: "FinalityRollback", rollback: this.committer.contradiction })
    }
    for (const { verdict } of decisions) {
      // Vertices and decided leaders that the epoch has not ordered when it closes are dropped.
      if (verdict._tag === "Commit" && !this.#isClosed) this.#commit(verdict.leader)
    }
    if (decisions.length > 0) this.#collect(this.#linearizer.collectionRound)
  }

  #commit(leader: Node): void {
    const last = this.#linearizer.position
    const ordered = this.#linearizer.order(leader)
    const rollback = Rollback.judgeCommit(last, ordered.commit)
    if (rollback !== null) this.#emit({ _tag: "FinalityRollback", rollback })
    this.#isClosed = this.#linearizer.closes(leader.round)
    this.#emit({ _tag: "Committed", closes: this.#isClosed, ...ordered })
    if (this.#isClosed) this.#close()
  }

  #collect(round: Round): void {
    if (this.#isClosed || round <= this.dag.collectedRound) return
    const collected = this.dag.collect(round)
    this.committer.collect(round)
    this.proposer?.collect(collected)
    this.#return(collected)
  }

  #close(): void {
    this.admission.close()
    if (this.seat !== undefined) this.#return(this.dag.ofAuthor(this.seat))
  }

  #return(nodes: ReadonlyArray<Node>): void {
    const vertices = nodes.filter((node) => node.seat === this.seat && !node.isOrdered).map(({ vertex }) => vertex)
    if (vertices.length > 0) this.#emit({ _tag: "Returned", vertices })
  }

  /** The highest round of this node's vertices, or the round before the epoch's first. */
  get ownRound(): Round {
    const own = this.seat === undefined ? undefined : this.dag.latestOf(this.seat)
    return own?.round ?? Natural.round(this.committee.firstRound - 1)
  }
}
