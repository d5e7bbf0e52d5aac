/**
 * Faults in the commit rule, the order, admission and the close of an epoch that the search through all small DAGs must
 * find.
 */
import * as Planted from "../../simulation/Planted.js"
import type * as Planting from "../../support/Planting.js"

export interface Fault extends Planting.Fault {
  /** How many rounds a DAG needs to show the fault. */
  readonly rounds: number
  /** How many vertices per round a member must make to show it; 2 by default. */
  readonly copies?: number
  /** Whether only whole members that close their epoch show it. */
  readonly closes?: true
}

const COMMITTER = "src/consensus/commit/Committer.ts"
const EPOCH = "src/consensus/Epoch.ts"
const LINEARIZER = "src/consensus/commit/Linearizer.ts"

/** Faults that the simulator also finds, in some of its seeds. */
const SIMULATED: Readonly<Record<string, Pick<Fault, "rounds" | "closes">>> = {
  "commit-early": { rounds: 6 },
  "commit-with-2f": { rounds: 6 },
  "skip-with-a-third": { rounds: 3 },
  "skip-early": { rounds: 3 },
  "skip-unvoted": { rounds: 2 },
  "anchor-jumps": { rounds: 7 },
  "order-of-arrival": { rounds: 2, closes: true },
}

const stated: ReadonlyArray<Planting.Stated<Fault>> = [
  {
    name: "certificate-with-2f",
    rounds: 3,
    file: COMMITTER,
    of: "Committer.#certified",
    call: "committee.isQuorum",
    by: "(weight) => weight * 2 >= this.#dag.committee.totalWeight",
  },
  {
    name: "anchor-too-low",
    rounds: 3,
    file: COMMITTER,
    of: "Committer.#anchorOf",
    by: "(_, ofNextHigher) => ofNextHigher && original(ofNextHigher, ofNextHigher)",
  },
  {
    name: "anchor-never-skipped",
    rounds: 5,
    file: COMMITTER,
    of: "Committer.#anchorOf",
    by: "(threeAbove) => threeAbove",
  },
  {
    name: "anchor-without-history",
    rounds: 5,
    file: COMMITTER,
    of: "Committer.#decideByAnchors",
    call: "search.certifiedIn",
    by: "(round) => [...this.#slot(round).certificates.keys()][0] ?? null",
  },
  {
    name: "certificate-one-round-off",
    rounds: 3,
    file: "src/consensus/commit/CertificateSearch.ts",
    of: "CertificateSearch.certifiedIn",
    by: "(round) => original((round + 1) as Round)",
  },
  {
    name: "counted-by-vertex",
    rounds: 3,
    copies: 3,
    file: "src/consensus/dag/Tally.ts",
    of: "Tally.add",
    by: "(seat, weight) => { this.#seats.add(seat); this.#weight += weight }",
  },
  {
    name: "votes-for-the-slot",
    rounds: 3,
    file: COMMITTER,
    of: "Committer.#countVote",
    by: `(slot, node) => {
      original(slot, node)
      if (node.vote !== null) node.vote = this.#dag.first(slot.round, slot.leader)?.hash ?? null
    }`,
  },
  {
    name: "order-by-arrival",
    rounds: 4,
    file: LINEARIZER,
    of: "Linearizer.#sort",
    by: "(nodes) => { original(nodes); nodes.sort((a, b) => a.round - b.round || Number(b.isFirst) - Number(a.isFirst)) }",
  },
  {
    name: "ordered-twice",
    rounds: 2,
    file: LINEARIZER,
    of: "Linearizer.#unordered",
    by: `(leader) => {
      const found = original(leader)
      for (const node of found) node.isOrdered = false
      return found
    }`,
  },
  {
    name: "collected-at-the-leader",
    rounds: 2,
    file: LINEARIZER,
    of: "Linearizer.collectionRound",
    by: "() => this.#position.leaderRound",
  },
  {
    name: "named-second-kept-out",
    rounds: 2,
    file: "src/consensus/admission/Admission.ts",
    of: "Admission.#admitReady",
    call: "#admit",
    by: `(guest) => {
      if (this.#dag.first(guest.vertex.header.round, guest.seat) === undefined) this.#admit(guest)
    }`,
  },
  {
    name: "waits-for-parents-that-came",
    rounds: 3,
    file: "src/consensus/admission/WaitingRoom.ts",
    of: "WaitingRoom.satisfy",
    call: "#offer",
    by: "(guest) => { if (guest.isFirst) this.#offer(guest) }",
  },
  {
    name: "closes-by-highest-round",
    rounds: 2,
    closes: true,
    file: EPOCH,
    of: "Epoch.#commit",
    call: "#linearizer.closes",
    by: "() => this.#linearizer.closes(this.dag.highestRound)",
  },
  {
    name: "closes-one-round-late",
    rounds: 2,
    closes: true,
    file: LINEARIZER,
    of: "Linearizer.closes",
    by: "(round) => original(Natural.round(round - 1))",
  },
  {
    name: "close-signed-by-half",
    rounds: 2,
    closes: true,
    file: "src/consensus/CheckpointQuorum.ts",
    of: "CheckpointQuorum.#weigh",
    call: "committee.isQuorum",
    by: "(weight) => weight * 2 >= this.committee.totalWeight",
  },
  {
    name: "vertices-of-any-close",
    rounds: 2,
    closes: true,
    file: EPOCH,
    of: "Epoch.receive",
    call: "Validity.check",
    by: "(vertex, _, committee) => Validity.check(vertex, vertex.header.base, committee)",
  },
]

/** Faults that only this search finds. */
export const own: ReadonlyArray<Fault> = stated.map((fault) =>
  "changes" in fault ? fault : { ...fault, changes: [fault] },
)

export const faults: ReadonlyArray<Fault> = [
  ...Planted.faults.flatMap((fault) => {
    const shown = SIMULATED[fault.name]
    return shown === undefined ? [] : [{ ...fault, ...shown }]
  }),
  ...own,
]
