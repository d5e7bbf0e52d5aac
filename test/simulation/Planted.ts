/**
 * Faults the simulator must be able to find: lines of the source and what a bad day would have made of them. A bundle
 * replaces them (`Bundle.ts`) and fails when a line is no longer there.
 */

interface Change {
  /** Below src/. */
  readonly file: string
  /** Stands there exactly once. */
  readonly line: string
  readonly by: string
}

export interface Fault {
  readonly name: string
  readonly story: string
  readonly changes: ReadonlyArray<Change>
}

export const faults: ReadonlyArray<Fault> = [
  {
    name: "commit-early",
    story: "a leader is committed with certificates of a third of the weight instead of more than two thirds",
    changes: [
      {
        file: "consensus/Committer.ts",
        line: "if (this.#isQuorum(certificates)) this.#decide",
        by: "if (certificates.weight * 3 >= this.#dag.committee.totalWeight) this.#decide",
      },
    ],
  },
  {
    name: "skip-early",
    story: "a leader is skipped with blames of half of the weight",
    changes: [
      {
        file: "consensus/Committer.ts",
        line: "if (this.#isQuorum(slot.blames)) this.#decide(slot, SKIP)",
        by: "if (slot.blames.weight * 2 > this.#dag.committee.totalWeight) this.#decide(slot, SKIP)",
      },
    ],
  },
  {
    name: "anchor-jumps",
    story: "the anchor jumps over a slot that is still undecided",
    changes: [
      {
        file: "consensus/Committer.ts",
        line: 'if (above?.verdict?._tag !== "Skip") anchor = above',
        by: 'if (above?.verdict?._tag === "Commit") anchor = above',
      },
    ],
  },
  {
    name: "order-of-arrival",
    story: "a commit orders its vertices as they were found, not by round, draw and hash",
    changes: [{ file: "consensus/Linearizer.ts", line: "    this.#sort(nodes)\n", by: "" }],
  },
  {
    name: "own-header-forgotten",
    story: "after a restart the own signed headers are unknown",
    changes: [
      {
        file: "consensus/SigningGuard.ts",
        line: "for (const header of stored) this.#know(header)",
        by: "for (const header of stored) if (header.round < 0) this.#know(header)",
      },
    ],
  },
  {
    name: "two-parents-of-one-slot",
    story: "an own vertex names every vertex of the round before, both of an equivocator among them",
    changes: [
      {
        file: "consensus/Proposal.ts",
        line: "const chosen = this.#dag.at(before).filter((node) => node.isFirst)",
        by: "const chosen = [...this.#dag.at(before)]",
      },
    ],
  },
  {
    name: "closes-late",
    story: "the member of the first seat closes the epoch one commit late",
    changes: [
      {
        file: "consensus/Epoch.ts",
        line: "this.#isClosed = leader.round >= EpochRecord.lastRound(this.opening.record)",
        by: "this.#isClosed = leader.round >= EpochRecord.lastRound(this.opening.record) + (this.seat === 0 ? 1 : 0)",
      },
    ],
  },
  {
    name: "quorum-of-heads",
    story: "a quorum counts heads instead of weight",
    changes: [
      {
        file: "consensus/Committee.ts",
        line: "return this.member(seat).weight",
        by: "return 1 as Sats",
      },
      {
        file: "consensus/Committee.ts",
        line: "return EpochRecord.isQuorum(weight, this.totalWeight)",
        by: "return EpochRecord.isQuorum(weight, this.size as Sats)",
      },
      {
        file: "consensus/Committee.ts",
        line: "return EpochRecord.coinbase(this.record.rules, round, this.weightOf(seat), this.totalWeight)",
        by: "return EpochRecord.coinbase(this.record.rules, round, this.member(seat).weight, this.totalWeight)",
      },
    ],
  },
  {
    name: "verified-by-id",
    story: "what was verified is remembered by the transaction's id, whatever signature it bears",
    changes: [
      {
        file: "protocol/Transaction.ts",
        line: 'Hash.of("udg/verified", domainOf(networkId), transaction.encoded)',
        by: "networkId === undefined ? Hash.ZERO : transaction.id",
      },
    ],
  },
  {
    name: "parameter-acts-at-once",
    story: "a changed checkpoint interval acts inside the running epoch",
    changes: [
      {
        file: "ledger/Ledger.ts",
        line: "isCheckpointDue: closes || crossesInterval(record, previous.leaderRound, leaderRound)",
        by: "isCheckpointDue: closes || crossesInterval({ ...record, rules: { ...record.rules, ...state.parameters } }, previous.leaderRound, leaderRound)",
      },
    ],
  },
  {
    name: "depth-of-highest-round",
    story: "the collection depth is counted from the highest round seen instead of the last commit",
    changes: [
      {
        file: "consensus/Epoch.ts",
        line: "const round = this.#linearizer.collectionRound",
        by: "const round = Math.max(this.opening.record.firstRound - 1, this.dag.highestRound - this.opening.record.rules.collectionDepthRounds) as Round",
      },
    ],
  },
]

export const named = (name: string): Fault | undefined => faults.find((fault) => fault.name === name)
