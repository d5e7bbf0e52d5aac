/** Faults that the simulator must find. */
import type * as Planting from "../support/Planting.js"
import type { FaultName } from "./Storm.js"

export interface Fault extends Planting.Fault {
  readonly story: string
  /**
   * A seed that found the fault. Other seeds are tried too, since a change of the program may hide it from this one.
   */
  readonly seed: number
  /** Faults of the world; by default each seed's own mixture. */
  readonly weather?: ReadonlyArray<FaultName>
  /** Validators, 7 by default. */
  readonly nodes?: number
  /** 150 by default. */
  readonly rounds?: number
  /** Whether the validators vote for the next version of the protocol. */
  readonly upgrades?: boolean
  /** Whether the validators also change their keys. */
  readonly rotations?: boolean
  readonly signers?: boolean
}

/** Short runs: an equivocator is slashed and loses its seat at the end of the first epoch. */
const CONSPIRACY: ReadonlyArray<FaultName> = ["network", "aimed", "partitions", "byzantine", "conspiracy"]

const stated: ReadonlyArray<Planting.Stated<Fault>> = [
  {
    name: "commit-early",
    story: "a leader is committed with a single certificate",
    weather: ["network", "aimed", "partitions", "byzantine"],
    seed: 7,
    file: "src/consensus/commit/Committer.ts",
    of: "Committer.#countCertificate",
    call: "#isQuorum",
    by: "({ weight }) => weight > 0",
  },
  {
    name: "skip-unvoted",
    story: "a leader is skipped when a quorum has come without a quorum of votes",
    seed: 1,
    file: "src/consensus/commit/Committer.ts",
    of: "Committer.#countVote",
    by: `(slot, node) => {
      original(slot, node)
      if (node.vote !== null) return
      const voted = [...slot.votes.values()].reduce((sum, votes) => sum + votes.weight, 0)
      const { committee } = this.#dag
      if (committee.isQuorum(slot.blames.weight + voted) && !committee.isQuorum(voted)) this.#decide(slot, SKIP)
    }`,
  },
  {
    name: "skip-early",
    story: "a leader is skipped with blames of more than a quarter of the weight",
    seed: 1,
    file: "src/consensus/commit/Committer.ts",
    of: "Committer.#countVote",
    call: "#isQuorum",
    by: "({ weight }) => weight * 4 > this.#dag.committee.totalWeight",
  },
  {
    name: "commit-with-2f",
    story: "a leader is committed with certificates of half of the weight, 2f of 3f + 1",
    weather: CONSPIRACY,
    nodes: 4,
    rounds: 60,
    seed: 5,
    file: "src/consensus/commit/Committer.ts",
    of: "Committer.#countCertificate",
    call: "#isQuorum",
    by: "({ weight }) => weight * 2 >= this.#dag.committee.totalWeight",
  },
  {
    name: "skip-with-a-third",
    story: "a leader is skipped with blames of a third of the weight",
    weather: CONSPIRACY,
    nodes: 4,
    rounds: 60,
    seed: 2,
    file: "src/consensus/commit/Committer.ts",
    of: "Committer.#countVote",
    call: "#isQuorum",
    by: "({ weight }) => weight * 3 >= this.#dag.committee.totalWeight",
  },
  {
    name: "anchor-jumps",
    story: "the anchor of a slot is the next committed one, past slots that are still undecided",
    weather: CONSPIRACY,
    nodes: 4,
    rounds: 60,
    seed: 9,
    file: "src/consensus/commit/Committer.ts",
    of: "Committer.#anchorOf",
    by: `(threeAbove, ofNextHigher) =>
      threeAbove?.verdict?._tag === "Commit" ? threeAbove : ofNextHigher`,
  },
  {
    name: "newcomers-by-close",
    story: "newcomers may weigh a third of what stays at each close, whatever came in at the close before",
    weather: ["newcomers"],
    rounds: 200,
    seed: 6,
    file: "src/ledger/rules/Committee.ts",
    of: "allowedTo",
    by: "(seats) => original(seats.map((seat) => ({ ...seat, established: seat.carried })))",
  },
  {
    name: "order-of-arrival",
    story: "a commit orders the vertices of a round by arrival, not by draw and hash",
    seed: 2,
    file: "src/consensus/Epoch.ts",
    of: "Epoch.#commit",
    call: "#linearizer.order",
    by: `(leader) => {
      const ordered = this.#linearizer.order(leader)
      const arrival = ({ header }: Vertex): number =>
        this.dag.at(header.round).findIndex(({ hash }) => hash === header.hash)
      const vertices = [...ordered.vertices].sort(
        (a, b) => a.header.round - b.header.round || arrival(a) - arrival(b),
      )
      return { ...ordered, vertices }
    }`,
  },
  {
    name: "own-header-forgotten",
    story: "a validator forgets the headers it has signed when it restarts",
    seed: 2,
    file: "src/consensus/SigningGuard.ts",
    of: "SigningGuard.constructor",
    call: "#know",
    by: "() => {}",
  },
  {
    name: "two-parents-of-one-slot",
    story: "a validator's vertex names every vertex of the previous round, including both of an equivocator's",
    seed: 2,
    file: "src/consensus/dag/Proposal.ts",
    of: "Proposer.parents",
    by: `(round) => {
      const second = this.#dag.at(Natural.round(round - 1)).filter((node) => !node.isFirst)
      return [...original(round), ...second.map(asParent)]
    }`,
  },
  {
    name: "closes-late",
    story: "the member in the first seat closes the epoch one commit late",
    seed: 1,
    file: "src/consensus/Epoch.ts",
    of: "Epoch.#commit",
    call: "#linearizer.closes",
    by: "(round) => this.#linearizer.closes(Natural.round(round - (this.seat === 0 ? 1 : 0)))",
  },
  {
    name: "quorum-of-heads",
    story: "a quorum counts heads instead of weight",
    nodes: 4,
    seed: 125,
    weather: ["newcomers", "joins", "byzantine", "conspiracy", "partitions"],
    changes: [
      {
        file: "src/consensus/dag/Committee.ts",
        of: "Committee.weightOf",
        by: "() => 1 as Sats",
      },
      {
        file: "src/consensus/dag/Committee.ts",
        of: "Committee.isQuorum",
        by: "(weight) => EpochRecord.isQuorum(weight, this.size as Sats)",
      },
      {
        file: "src/consensus/dag/Committee.ts",
        of: "Committee.coinbase",
        by: `(round, seat) =>
          EpochRecord.coinbase(this.record.rules, round, this.member(seat).weight, this.totalWeight)`,
      },
    ],
  },
  {
    name: "verified-by-id",
    story: "a verified transaction is remembered by its id, whatever its signature",
    seed: 2,
    file: "src/protocol/transaction/Transaction.ts",
    of: "isSameAuthorization",
    by: "() => true",
  },
  {
    name: "parameter-acts-at-once",
    story: "a new checkpoint interval takes effect inside the running epoch",
    seed: 14,
    file: "src/ledger/Ledger.ts",
    of: "Ledger.#execute",
    call: "EpochRecord.isCheckpointDue",
    by: `(record, from, to) => {
      const rules = { ...record.rules, ...this.#state.parameters }
      return EpochRecord.isCheckpointDue({ ...record, rules }, from, to)
    }`,
  },
  {
    name: "depth-of-highest-round",
    story: "the collection depth is counted from the highest round seen instead of the last commit",
    seed: 19,
    file: "src/consensus/Epoch.ts",
    of: "Epoch.#collect",
    by: `() => {
      const { firstRound, rules } = this.opening.record
      original(Natural.round(Math.max(firstRound - 1, this.dag.highestRound - rules.collectionDepthRounds)))
    }`,
  },
  {
    name: "parents-by-hash",
    story: "parents are looked up by hash alone, whatever slot they are named under",
    weather: ["byzantine"],
    seed: 3,
    file: "src/consensus/dag/Dag.ts",
    of: "Dag.named",
    by: "({ hash }) => this.#nodes.get(hash)",
  },
  {
    name: "nothing-collected",
    story: "vertices that a commit collects stay in memory",
    seed: 1,
    file: "src/consensus/Epoch.ts",
    of: "Epoch.#collect",
    by: "() => {}",
  },
  {
    name: "time-of-the-latest",
    story: "a commit takes the latest timestamp of the leader's parents, not the median",
    weather: ["clocks"],
    seed: 2,
    file: "src/consensus/commit/Linearizer.ts",
    of: "weightedMedian",
    by: `(stamps) =>
      stamps.reduce<Timestamp | null>(
        (latest, { timestamp }) => (latest === null || timestamp > latest ? timestamp : latest),
        null,
      )`,
  },
  {
    name: "silent-for-good",
    story: "a silence never ends",
    weather: ["wipes"],
    rounds: 60,
    seed: 1,
    file: "src/consensus/SigningGuard.ts",
    of: "SigningGuard.tick",
    by: `(now, hasQuorum) => {
      const wasSilent = this.#quietMsLeft !== null
      original(now, hasQuorum)
      if (wasSilent) this.#quietMsLeft ??= 1
    }`,
  },
  {
    name: "signs-after-a-loss",
    story: "a validator that has lost its disk signs above the highest vertex that anybody shows it",
    weather: ["losses"],
    nodes: 4,
    rounds: 60,
    seed: 1,
    changes: [
      {
        file: "src/consensus/KeyMemory.ts",
        of: "KeyMemory.isKnown",
        by: "() => true",
      },
      {
        file: "src/consensus/KeyMemory.ts",
        of: "KeyMemory.bound",
        by: "() => null",
      },
    ],
  },
  {
    name: "goes-on-after-a-pause",
    story: "a validator that was stopped goes on as if no time had passed",
    weather: ["pauses"],
    nodes: 4,
    rounds: 60,
    seed: 1,
    file: "src/consensus/Pauses.ts",
    of: "Pauses.look",
    by: "() => false",
  },
  {
    name: "unasked-after-a-pause",
    story: "a validator that was stopped does not ask again what its key has signed",
    weather: ["pauses"],
    nodes: 4,
    rounds: 60,
    seed: 1,
    file: "src/consensus/SigningGuard.ts",
    of: "SigningGuard.stoodStill",
    call: "#forgetAnswers",
    by: "() => {}",
  },
  {
    name: "shown-after-a-pause",
    story: "a validator that was stopped shows whoever asks what it had signed and not sent",
    weather: ["pauses"],
    nodes: 4,
    rounds: 60,
    seed: 5,
    file: "src/replica/Replica.ts",
    of: "Replica.isWithheld",
    by: "() => false",
  },
  {
    name: "sent-before-written",
    story: "a validator sends its vertex before writing it to disk",
    seed: 1,
    file: "src/replica/signing/Signing.ts",
    of: "Signing.propose",
    by: `(due, life, testimony) => {
      original(due, life, testimony)
      const vertices = this.#unsent.slice(-1).map(({ vertex }) => vertex)
      this.#outbox.broadcast({ _tag: "Vertices", vertices })
    }`,
  },
  {
    name: "quorum-of-half",
    story: "a quorum is more than half of the weight",
    weather: ["network", "aimed", "partitions", "byzantine"],
    nodes: 4,
    rounds: 100,
    seed: 51,
    file: "src/protocol/epoch/EpochRecord.ts",
    of: "isQuorum",
    by: "(weight, total) => weight * 2 > total",
  },
  {
    name: "relayed-without-end",
    story: "a node relays whatever a member signs under checkpoints",
    weather: ["byzantine"],
    seed: 2,
    file: "src/replica/asking/Relaying.ts",
    of: "Relaying.wantsSignature",
    by: "() => true",
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
        file: "src/consensus/StoredOwn.ts",
        of: "StoredOwn.open",
        by: `(running) => {
          original(running)
          this.#current = []
        }`,
      },
      { file: "src/replica/output/Companions.ts", of: "Companions.take", by: "() => []" },
      {
        file: "test/support/Stored.ts",
        of: "Stored.vertex",
        by: "(hash) => this.#vertices.get(hash)",
      },
      {
        file: "test/support/Stored.ts",
        of: "Stored.verticesOf",
        by: "(epoch) => original(epoch).filter(({ header }) => this.#vertices.has(header.hash))",
      },
    ],
  },
  {
    name: "named-unsynced",
    story: "a validator sends its vertex before the vertices it names are on disk",
    weather: ["crashes", "newcomers", "byzantine"],
    seed: 14,
    file: "src/replica/output/Companions.ts",
    of: "Companions.take",
    by: "() => []",
  },
  {
    name: "companions-unread",
    story: "a validator that starts after a power cut does not look for the vertices that its own ones name",
    weather: ["crashes", "newcomers", "byzantine"],
    seed: 12,
    file: "src/consensus/Core.ts",
    of: "Core.#returnCompanion",
    by: "() => {}",
  },
  {
    name: "signed-unsynced",
    story: "a validator sends its vertex before syncing it to disk",
    weather: ["crashes", "network"],
    seed: 2,
    changes: [
      {
        file: "src/replica/output/Write.ts",
        of: "fileOf",
        by: '({ _tag }) => (_tag === "ForeignOwnHeader" ? "signed" : "ledger")',
      },
      {
        file: "src/replica/output/Write.ts",
        of: "syncsLedger",
        by: '({ _tag }) => _tag === "EpochStarted" || _tag === "Joined"',
      },
    ],
  },
  {
    name: "epoch-unsynced",
    story: "an epoch begins before the close of the previous one is synced",
    weather: ["crashes", "joins"],
    nodes: 4,
    seed: 1,
    file: "src/replica/output/Write.ts",
    of: "syncsLedger",
    by: '(write) => write._tag !== "EpochStarted" && original(write)',
  },
  {
    name: "relayed-after-a-gap",
    story: "a transaction after a missing nonce is relayed",
    weather: ["byzantine"],
    seed: 1,
    file: "src/replica/asking/Relaying.ts",
    of: "worthTelling",
    call: "pool.isTold",
    by: "() => true",
  },
  {
    name: "unpaid-unlimited",
    story: "an account that pays nothing replaces its transactions as often as it likes",
    weather: ["byzantine"],
    seed: 1,
    file: "src/ledger/pending/Unpaid.ts",
    of: "Unpaid.waitMs",
    by: "() => 0",
  },
  {
    name: "join-unsynced",
    story: "a fast sync ends before the downloaded state is synced",
    weather: ["crashes", "joins"],
    nodes: 4,
    seed: 10,
    file: "src/replica/output/Write.ts",
    of: "syncsLedger",
    by: '(write) => write._tag !== "Joined" && original(write)',
  },
  {
    name: "jumps-unpaid",
    story: "a validator does not pay for rounds that it skips",
    seed: 3,
    file: "src/consensus/RoundBudget.ts",
    of: "pay",
    by: `(budget, round, now, price) =>
      budget.round !== null && round > budget.round + 1
        ? { round, paidUntil: budget.paidUntil }
        : original(budget, round, now, price)`,
  },
  {
    name: "credit-unbounded",
    story: "time not spent on rounds is credit for ever",
    seed: 1,
    file: "src/consensus/RoundBudget.ts",
    of: "pay",
    by: `(budget, round, now, price) => original(budget, round, now, { ...price, burstMs: 1_000 * price.burstMs })`,
  },
  {
    name: "starts-with-credit",
    story: "a validator that starts has all credit",
    seed: 1,
    file: "src/consensus/RoundBudget.ts",
    of: "pay",
    by: `(budget, round, now, price) =>
      budget.round === null
        ? { round, paidUntil: now - price.burstMs + price.costMs }
        : original(budget, round, now, price)`,
  },
  {
    name: "waits-for-its-leader",
    story: "a validator waits for a round's leader however long that takes",
    seed: 1,
    file: "src/consensus/RoundClock.ts",
    of: "plan",
    by: `(dag, committer, rate, own) => {
      const plan = original(dag, committer, rate, own)
      return plan !== null && !plan.isReady ? null : plan
    }`,
  },
  {
    name: "no-anchors",
    story: "a slot that its own votes do not decide stays undecided, and commits stop before it",
    weather: ["network", "aimed", "partitions"],
    seed: 1,
    file: "src/consensus/commit/Committer.ts",
    of: "Committer.#decideByAnchors",
    by: "() => {}",
  },
  {
    name: "anchors-within-the-depth",
    story: "slots further below than the collection depth stay undecided, and commits stop before them",
    weather: ["network", "aimed", "partitions"],
    seed: 1,
    file: "src/consensus/commit/Committer.ts",
    of: "Committer.#decideByAnchors",
    by: `() => {
      const { collectionDepthRounds } = this.#dag.committee.record.rules
      if (this.#dag.highestRound - this.#next <= collectionDepthRounds) original()
    }`,
  },
  {
    name: "follows-one",
    story: "a validator follows the first that makes the next round, instead of a third",
    weather: ["byzantine"],
    seed: 1,
    file: "src/consensus/OwnRounds.ts",
    of: "OwnRounds.#next",
    call: "RoundClock.plan",
    by: `(dag, committer, rate, own) =>
      RoundClock.plan(
        dag,
        committer,
        rate,
        own.round === running.ownRound ? { ...own, begun: { round: dag.highestRound, at: now } } : own,
      )`,
  },
  {
    name: "unknown-version",
    story: "a program goes on in an epoch whose protocol version it does not know",
    upgrades: true,
    seed: 1,
    file: "src/replica/Replica.ts",
    of: "Replica.#haltIn",
    by: "() => {}",
  },
  {
    name: "upgrade-by-half",
    story: "half of the stake decides on a protocol version",
    upgrades: true,
    seed: 1,
    file: "src/ledger/rules/Governance.ts",
    of: "isApproved",
    call: "isQuorum",
    by: "(weight, total) => weight * 2 > total",
  },
  {
    name: "upgrade-early",
    story: "the commit that closes an epoch goes by the rules of the next one",
    upgrades: true,
    seed: 1,
    file: "src/ledger/Ledger.ts",
    of: "Ledger.#execute",
    call: "rulesOf",
    by: "() => ProtocolVersion.rulesOf(this.#state.epoch.record.rules.protocolVersion)",
  },
  {
    name: "upgrade-late",
    story: "the first round of an epoch goes by the rules of the one before",
    upgrades: true,
    seed: 1,
    file: "src/ledger/Ledger.ts",
    of: "Ledger.#execute",
    call: "rulesOf",
    by: `(version) => {
      const { head, epoch } = this.#state
      return ProtocolVersion.rulesOf(head.leaderRound === epoch.record.firstRound ? version - 1 : version)
    }`,
  },
  {
    name: "upgrade-in-the-past",
    story: "an old epoch is executed by the newest rules",
    upgrades: true,
    seed: 1,
    file: "src/ledger/Ledger.ts",
    of: "Ledger.#execute",
    call: "rulesOf",
    by: "() => ProtocolVersion.rulesOf(ProtocolVersion.NEWEST)",
  },
  {
    name: "rotation-ignored",
    story: "no close changes a member's key",
    rotations: true,
    nodes: 5,
    rounds: 200,
    seed: 1,
    file: "src/ledger/rules/Committee.ts",
    of: "withChanges",
    by: "(seats) => seats",
  },
  {
    name: "rotation-forgives",
    story: "evidence counts only against the newest key of an account",
    rotations: true,
    nodes: 5,
    rounds: 200,
    weather: ["byzantine"],
    seed: 26,
    file: "src/ledger/rules/Slashing.ts",
    of: "isPunishable",
    by: `(state, evidence) => {
      const { author, epoch } = evidence.first
      const { publicKey } = state.extrasOf(state.accountOf(author))
      const held = state.epochOf(epoch)
      const member = held === undefined ? undefined : EpochRecord.memberOf(held.record, author)
      return original(state, evidence) && (publicKey === null || member?.publicKey === publicKey)
    }`,
  },
  {
    name: "old-key-kept",
    story: "a validator goes on with its old key after the close from which the new one counts",
    rotations: true,
    nodes: 5,
    rounds: 200,
    seed: 1,
    file: "src/replica/signing/KeyInForce.ts",
    of: "of",
    by: "(held) => held",
  },
  {
    name: "signer-forgets",
    story: "a signer signs a second vertex for a slot, when two nodes with its key ignore each other",
    signers: true,
    weather: ["copies"],
    nodes: 4,
    rounds: 100,
    seed: 6,
    changes: [
      { file: "src/consensus/SigningGuard.ts", of: "SigningGuard.maySign", by: "() => true" },
      { file: "src/consensus/SigningGuard.ts", of: "SigningGuard.mayShow", by: "() => true" },
      {
        file: "src/signer/Judge.ts",
        of: "ofVertex",
        by: `(memory, statement, digest) =>
          original({ ...memory, taken: memory.checkpointsTaken }, statement, digest)`,
      },
    ],
  },
]

export const faults: ReadonlyArray<Fault> = stated.map((fault) =>
  "changes" in fault ? fault : { ...fault, changes: [fault] },
)

export const named = (name: string): Fault | undefined => faults.find((fault) => fault.name === name)
