/** What one member holds and has decided: the production classes, combined as in `Epoch`. */
import { Admission } from "../../../src/consensus/admission/Admission.js"
import { Committer, type Verdict } from "../../../src/consensus/commit/Committer.js"
import { Linearizer, type OrderedCommit } from "../../../src/consensus/commit/Linearizer.js"
import type { Committee, Schedule } from "../../../src/consensus/dag/Committee.js"
import { Dag, type Node } from "../../../src/consensus/dag/Dag.js"
import type { Opening } from "../../../src/consensus/output/Opening.js"
import type { Hash } from "../../../src/protocol/identity/Hash.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../../src/protocol/vertex/Vertex.js"

/** The hash of the committed vertex, `skip`, or null while the slot is undecided. */
export type Outcome = Hash | "skip" | null

/** The decisions of a view at one moment. */
export interface Decided {
  /** For all released slots, from the first round on. */
  readonly released: ReadonlyArray<Outcome>
  /** For the slots above, up to the highest round. */
  readonly pending: ReadonlyArray<Outcome>
  readonly commits: ReadonlyArray<OrderedCommit>
}

const outcomeOf = (verdict: Verdict | null): Outcome =>
  verdict === null ? null : verdict._tag === "Commit" ? verdict.leader.hash : "skip"

export class View {
  readonly #committee: Committee
  readonly #dag: Dag
  readonly #admission: Admission
  readonly #committer: Committer
  readonly #linearizer: Linearizer
  readonly #released: Array<Outcome> = []
  readonly #commits: Array<OrderedCommit> = []
  #inserted = 0

  constructor({ position }: Opening, committee: Committee, schedule: Schedule) {
    this.#committee = committee
    this.#dag = new Dag(committee)
    this.#admission = new Admission(this.#dag, (node) => this.#insert(node))
    this.#committer = new Committer(this.#dag, schedule)
    this.#linearizer = new Linearizer(this.#dag, position)
  }

  #insert(node: Node): void {
    this.#inserted++
    this.#committer.add(node)
    const decisions = this.#committer.release()
    for (const { verdict } of decisions) {
      this.#released.push(outcomeOf(verdict))
      if (verdict._tag === "Commit") this.#commits.push(this.#linearizer.order(verdict.leader))
    }
    if (decisions.length === 0) return
    const { collectionRound } = this.#linearizer
    this.#dag.collect(collectionRound)
    this.#committer.collect(collectionRound)
  }

  /** Receives valid vertices in this order; children can come before parents. */
  receive(vertices: ReadonlyArray<Vertex>): void {
    for (const vertex of vertices) {
      const seat = this.#committee.seatOf(vertex.header.author)
      if (seat === undefined) throw new Error("not a member")
      this.#admission.receive(vertex, seat)
    }
  }

  /**
   * Simulates a standstill: second vertices of a slot are admitted unnamed, and a tick later the vertices that name
   * them.
   */
  standStill(): void {
    this.#admission.admitUnnamed(true)
    for (let waited = Number.POSITIVE_INFINITY; this.#admission.waiting < waited; ) {
      waited = this.#admission.waiting
      this.#admission.tick()
    }
  }

  /** The number of admitted and of waiting vertices. */
  get held(): { readonly inserted: number; readonly waiting: number } {
    return { inserted: this.#inserted, waiting: this.#admission.waiting }
  }

  get hasContradiction(): boolean {
    return this.#committer.contradiction !== null
  }

  get collectedRound(): number {
    return this.#dag.collectedRound
  }

  get decided(): Decided {
    const pending: Array<Outcome> = []
    for (let round = this.#committee.firstRound + this.#released.length; round <= this.#dag.highestRound; round++) {
      pending.push(outcomeOf(this.#committer.verdictOf(Natural.round(round))))
    }
    return { released: [...this.#released], pending, commits: [...this.#commits] }
  }
}
