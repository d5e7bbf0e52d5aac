/** Faults that the simulator must find. Each replaces lines of the source; the bundler fails if a line is gone. */
import type { Change } from "../support/Bundle.js"
import type { FaultName } from "./Storm.js"

export interface Fault {
  readonly name: string
  readonly story: string
  readonly changes: ReadonlyArray<Change>
  /** One that found it. After a change of the program another may, so the test goes on looking. */
  readonly seed: number
  /** Faults of the world; by default each seed's own mixture. */
  readonly weather?: ReadonlyArray<FaultName>
  /** Validators, 7 by default. */
  readonly nodes?: number
  /** 150 by default. */
  readonly rounds?: number
}

/** An equivocator is slashed, and out of the committee, when the first epoch ends: the runs are short. */
const CONSPIRACY: ReadonlyArray<FaultName> = ["network", "aimed", "partitions", "byzantine", "conspiracy"]

export const faults: ReadonlyArray<Fault> = [
  {
    name: "commit-early",
    story: "a leader is committed with a single certificate",
    weather: ["network", "aimed", "partitions", "byzantine"],
    seed: 7,
    changes: [
      {
        file: "consensus/commit/Committer.ts",
        line: "if (this.#isQuorum(certificates)) this.#decide",
        by: "if (certificates.weight > 0) this.#decide",
      },
    ],
  },
  {
    name: "skip-unvoted",
    story: "a leader is skipped when a quorum has come without a quorum of votes",
    seed: 1,
    changes: [
      {
        file: "consensus/commit/Committer.ts",
        line: "    slot.blames.add(node.seat, weight)",
        by:
          "    slot.blames.add(node.seat, weight)\n" +
          "    const voted = [...slot.votes.values()].reduce((sum, votes) => sum + votes.weight, 0)\n" +
          "    if (this.#dag.committee.isQuorum(slot.blames.weight + voted) && !this.#dag.committee.isQuorum(voted))\n" +
          "      this.#decide(slot, SKIP)",
      },
    ],
  },
  {
    name: "skip-early",
    story: "a leader is skipped with blames of more than a quarter of the weight",
    seed: 1,
    changes: [
      {
        file: "consensus/commit/Committer.ts",
        line: "if (this.#isQuorum(slot.blames)) this.#decide(slot, SKIP)",
        by: "if (slot.blames.weight * 4 > this.#dag.committee.totalWeight) this.#decide(slot, SKIP)",
      },
    ],
  },
  {
    name: "commit-with-2f",
    story: "a leader is committed with certificates of half of the weight, 2f of 3f + 1",
    weather: CONSPIRACY,
    nodes: 4,
    rounds: 60,
    seed: 5,
    changes: [
      {
        file: "consensus/commit/Committer.ts",
        line: "if (this.#isQuorum(certificates)) this.#decide",
        by: "if (certificates.weight * 2 >= this.#dag.committee.totalWeight) this.#decide",
      },
    ],
  },
  {
    name: "skip-with-a-third",
    story: "a leader is skipped with blames of a third of the weight",
    weather: CONSPIRACY,
    nodes: 4,
    rounds: 60,
    seed: 5,
    changes: [
      {
        file: "consensus/commit/Committer.ts",
        line: "if (this.#isQuorum(slot.blames)) this.#decide(slot, SKIP)",
        by: "if (slot.blames.weight * 3 >= this.#dag.committee.totalWeight) this.#decide(slot, SKIP)",
      },
    ],
  },
  {
    name: "anchor-jumps",
    story: "the anchor of a slot is the next committed one, past slots that are still undecided",
    weather: CONSPIRACY,
    nodes: 4,
    rounds: 60,
    seed: 7,
    changes: [
      {
        file: "consensus/commit/Committer.ts",
        line: 'return threeAbove?.verdict?._tag === "Skip" ? ofNextHigher : threeAbove',
        by: 'return threeAbove?.verdict?._tag === "Commit" ? threeAbove : ofNextHigher',
      },
    ],
  },
  {
    name: "newcomers-by-close",
    story: "newcomers may weigh a third of what stays at each close, whatever came in at the close before",
    weather: ["newcomers"],
    rounds: 200,
    seed: 6,
    changes: [
      {
        file: "ledger/rules/Committee.ts",
        line: "const established = Sats.sumBounded(seats.map((candidate) => candidate.established))",
        by: "const established = Sats.sumBounded(seats.map((candidate) => candidate.carried))",
      },
    ],
  },
  {
    name: "order-of-arrival",
    story: "a commit orders the vertices of a round by arrival, not by draw and hash",
    seed: 2,
    changes: [
      {
        file: "consensus/commit/Linearizer.ts",
        line: "readonly #committee: Committee",
        by: "dag; #committee: Committee",
      },
      {
        file: "consensus/commit/Linearizer.ts",
        line: "this.#committee = dag.committee",
        by: "this.dag = dag; this.#committee = dag.committee",
      },
      {
        file: "consensus/commit/Linearizer.ts",
        line: "this.#sort(nodes)",
        by: "nodes.sort((a, b) => a.round - b.round || this.dag.at(a.round).indexOf(a) - this.dag.at(b.round).indexOf(b))",
      },
    ],
  },
  {
    name: "own-header-forgotten",
    story: "a validator forgets the headers it has signed when it restarts",
    seed: 2,
    changes: [
      {
        file: "consensus/SigningGuard.ts",
        line: "for (const header of known) this.#know(header)",
        by: "for (const header of known) if (header.round < 0) this.#know(header)",
      },
    ],
  },
  {
    name: "two-parents-of-one-slot",
    story: "a validator's vertex names every vertex of the previous round, including both of an equivocator's",
    seed: 2,
    changes: [
      {
        file: "consensus/dag/Proposal.ts",
        line: "const chosen = this.#dag.at(before).filter((node) => node.isFirst)",
        by: "const chosen = [...this.#dag.at(before)]",
      },
    ],
  },
  {
    name: "closes-late",
    story: "the member in the first seat closes the epoch one commit late",
    seed: 4,
    changes: [
      {
        file: "consensus/Epoch.ts",
        line: "this.#isClosed = this.#linearizer.closes(leader.round)",
        by: "this.#isClosed = this.#linearizer.closes((leader.round - (this.seat === 0 ? 1 : 0)) as Round)",
      },
    ],
  },
  {
    name: "quorum-of-heads",
    story: "a quorum counts heads instead of weight",
    nodes: 4,
    seed: 125,
    weather: ["newcomers", "joins", "byzantine", "conspiracy", "partitions"],
    changes: [
      {
        file: "consensus/dag/Committee.ts",
        line: "return this.member(seat).weight",
        by: "return 1 as Sats",
      },
      {
        file: "consensus/dag/Committee.ts",
        line: "return EpochRecord.isQuorum(weight, this.totalWeight)",
        by: "return EpochRecord.isQuorum(weight, this.size as Sats)",
      },
      {
        file: "consensus/dag/Committee.ts",
        line: "return EpochRecord.coinbase(this.record.rules, round, this.weightOf(seat), this.totalWeight)",
        by: "return EpochRecord.coinbase(this.record.rules, round, this.member(seat).weight, this.totalWeight)",
      },
    ],
  },
  {
    name: "verified-by-id",
    story: "a verified transaction is remembered by its id, whatever its signature",
    seed: 2,
    changes: [
      {
        file: "protocol/transaction/Transaction.ts",
        line: 'Hash.of("udg/verified", domainOf(networkId), transaction.encoded)',
        by: "networkId === undefined ? Hash.ZERO : transaction.id",
      },
    ],
  },
  {
    name: "parameter-acts-at-once",
    story: "a new checkpoint interval takes effect inside the running epoch",
    seed: 14,
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
    seed: 14,
    changes: [
      {
        file: "consensus/Epoch.ts",
        line: "const round = this.#linearizer.collectionRound",
        by: "const round = Math.max(this.opening.record.firstRound - 1, this.dag.highestRound - this.opening.record.rules.collectionDepthRounds) as Round",
      },
    ],
  },
  {
    name: "parents-by-hash",
    story: "parents are looked up by hash alone, whatever slot they are named under",
    weather: ["byzantine"],
    seed: 3,
    changes: [
      {
        file: "consensus/dag/Dag.ts",
        line: "return node?.round === round && node.vertex.header.author === author ? node : undefined",
        by: "return round > 0 && author !== null ? node : undefined",
      },
    ],
  },
  {
    name: "nothing-collected",
    story: "vertices that a commit collects stay in memory",
    seed: 1,
    changes: [
      {
        file: "consensus/Epoch.ts",
        line: "if (this.#isClosed || round <= this.dag.collectedRound) return",
        by: "if (round > 0) return",
      },
    ],
  },
  {
    name: "time-of-the-latest",
    story: "a commit takes the latest timestamp of the leader's parents, not the median",
    weather: ["clocks"],
    seed: 2,
    changes: [
      {
        file: "consensus/commit/Linearizer.ts",
        line: "if (upTo * 2 >= total) return timestamp",
        by: "if (upTo >= total) return timestamp",
      },
    ],
  },
  {
    name: "silent-for-good",
    story: "a silence never ends",
    weather: ["wipes"],
    rounds: 60,
    seed: 1,
    changes: [
      {
        file: "consensus/SigningGuard.ts",
        line: "if (this.#quietMsLeft <= 0) this.#quietMsLeft = null",
        by: "if (this.#quietMsLeft <= 0) this.#quietMsLeft = 1",
      },
    ],
  },
  {
    name: "unasked-after-a-loss",
    story: "a validator signs before a quorum has said what its key has signed",
    weather: ["wipes"],
    seed: 1,
    changes: [
      {
        file: "consensus/SigningGuard.ts",
        line: "    this.#hasCommitteeAnswered = committee.isQuorum(weight)",
        by: "    this.#hasCommitteeAnswered = weight > 0",
      },
    ],
  },
  {
    name: "late-untold",
    story: "a vertex that comes after its round was collected is dropped, and its author is not told of it",
    weather: ["wipes"],
    nodes: 4,
    rounds: 300,
    seed: 58,
    changes: [
      {
        file: "consensus/Core.ts",
        line: "    if (isLate && header.base",
        by: "    if (isLate && header.round < 0 && header.base",
      },
    ],
  },
  {
    name: "sent-before-written",
    story: "a validator sends its vertex before writing it to disk",
    seed: 1,
    changes: [
      {
        file: "replica/signing/Signing.ts",
        line: "    this.#unwritten = [...this.#unwritten, { writeId, vertex }]",
        by: '    this.#outbox.broadcast({ _tag: "Vertices", vertices: [vertex] })\n    this.#unwritten = [...this.#unwritten, { writeId, vertex }]',
      },
    ],
  },
  {
    name: "quorum-of-half",
    story: "a quorum is more than half of the weight",
    weather: ["network", "aimed", "partitions", "byzantine"],
    nodes: 4,
    rounds: 100,
    seed: 45,
    changes: [{ file: "protocol/epoch/EpochRecord.ts", line: "weight * 3 > total * 2", by: "weight * 2 > total" }],
  },
  {
    name: "recovered-forgotten",
    story:
      "the vertices a validator builds on are not synced, and its own vertex is dropped when a power cut takes them",
    weather: ["crashes"],
    nodes: 4,
    seed: 2,
    changes: [
      {
        file: "consensus/Core.ts",
        line: "this.#recovered = own.filter(({ header }) => header.round > dag.collectedRound && !dag.has(header.hash))",
        by: "this.#recovered = own.slice(own.length)",
      },
      {
        file: "replica/output/Write.ts",
        line: 'new Set(["OwnVertex", "EpochStarted", "Joined"])',
        by: 'new Set(["EpochStarted", "Joined"])',
      },
      {
        file: "replica/disk/Stored.ts",
        line: "return this.#vertices.get(hash) ?? this.#own.get(hash)",
        by: "return this.#vertices.get(hash)",
      },
      {
        file: "replica/disk/Stored.ts",
        line: "return others.length === 0 ? inserted",
        by: "return others.length >= 0 ? inserted",
      },
    ],
  },
  {
    name: "named-unsynced",
    story: "a validator sends its vertex before the vertices it names are on disk",
    weather: ["crashes", "newcomers", "byzantine"],
    seed: 18,
    changes: [
      {
        file: "replica/output/Write.ts",
        line: 'new Set(["OwnVertex", "EpochStarted", "Joined"])',
        by: 'new Set(["EpochStarted", "Joined"])',
      },
    ],
  },
  {
    name: "signed-unsynced",
    story: "a validator sends its vertex before syncing it to disk",
    weather: ["crashes", "network"],
    seed: 2,
    changes: [
      {
        file: "replica/output/Write.ts",
        line: '_tag === "OwnVertex" || _tag === "ForeignOwnHeader" ? "signed" : "ledger"',
        by: '_tag === "ForeignOwnHeader" ? "signed" : "ledger"',
      },
      {
        file: "replica/output/Write.ts",
        line: 'new Set(["OwnVertex", "EpochStarted", "Joined"])',
        by: 'new Set(["EpochStarted", "Joined"])',
      },
    ],
  },
  {
    name: "epoch-unsynced",
    story: "an epoch begins before the close of the previous one is synced",
    weather: ["crashes", "joins"],
    nodes: 4,
    seed: 1,
    changes: [
      {
        file: "replica/output/Write.ts",
        line: 'new Set(["OwnVertex", "EpochStarted", "Joined"])',
        by: 'new Set(["OwnVertex", "Joined"])',
      },
    ],
  },
  {
    name: "join-unsynced",
    story: "a fast sync ends before the downloaded state is synced",
    weather: ["crashes", "joins"],
    nodes: 4,
    seed: 45,
    changes: [
      {
        file: "replica/output/Write.ts",
        line: 'new Set(["OwnVertex", "EpochStarted", "Joined"])',
        by: 'new Set(["OwnVertex", "EpochStarted"])',
      },
    ],
  },
]

export const named = (name: string): Fault | undefined => faults.find((fault) => fault.name === name)
