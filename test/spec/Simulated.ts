/** Epochs of the simulator as a module of the model, which computes what must be committed there. */
import { Committee } from "../../src/consensus/dag/Committee.js"
import type { EpochRecord } from "../../src/protocol/epoch/EpochRecord.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { optionsOf, Simulation } from "../simulation/Simulation.js"
import type { FaultName } from "../simulation/Storm.js"

interface Commit {
  readonly leader: Hash
  readonly vertices: ReadonlyArray<Hash>
}

/** What entered any DAG in an epoch, and what was committed there. */
export interface Epoch {
  readonly record: EpochRecord
  readonly vertices: ReadonlyMap<Hash, Vertex>
  readonly commits: ReadonlyArray<Commit>
}

const FAULTS: ReadonlyArray<FaultName> = ["network", "aimed", "partitions", "byzantine"]

/** The first one was founded by the genesis. */
const EPOCH = 2

/** The model counts members, so any three must be a quorum, and no two. */
const isCountable = (record: EpochRecord): boolean => {
  const committee = new Committee(record)
  const [a = 0, b = 0, c = 0, d] = record.members.map(({ weight }) => weight).sort((x, y) => x - y)
  return d !== undefined && committee.isQuorum(a + b + c) && !committee.isQuorum(c + d)
}

/** The second epoch of four validators; null if the model cannot count its members. */
const epochOf = (seed: number): Epoch | null => {
  const vertices = new Map<Hash, Vertex>()
  const commits = new Map<number, Commit>()
  let record: EpochRecord | undefined
  const { failure } = new Simulation(optionsOf(seed, 4, 100, FAULTS), (_, write) => {
    if (write._tag === "Inserted") {
      const { header } = write.vertex
      if (header.epoch === EPOCH) vertices.set(header.hash, write.vertex)
    } else if (write._tag === "Executed") {
      const { commit, nextEpoch } = write.execution
      if (nextEpoch?.epoch === EPOCH) record = nextEpoch
      const hashes = write.vertices.map(({ header }) => header.hash)
      if (commit.epoch === EPOCH) commits.set(commit.index, { leader: commit.leaderHash, vertices: hashes })
    }
  }).run()
  if (failure !== null || record === undefined) throw new Error(failure?.message ?? `seed ${seed} is too short`)
  const inOrder = [...commits].sort(([a], [b]) => a - b).map(([, commit]) => commit)
  return isCountable(record) ? { record, vertices, commits: inOrder } : null
}

/** This many of them, from this seed on. Each run is synchronous, and others must have their turn. */
export const epochsFrom = async (seed: number, count: number): Promise<ReadonlyArray<Epoch>> => {
  const epochs: Array<Epoch> = []
  for (let next = seed; epochs.length < count; next++) {
    const epoch = epochOf(next)
    if (epoch !== null) epochs.push(epoch)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return epochs
}

/** The epoch as a record of the model, in which it begins with round 1. */
const written = ({ record, vertices, commits }: Epoch): string => {
  const committee = new Committee(record)
  const copies = new Map<string, number>()
  const numbers = new Map<Hash, number>()
  const inOrder = [...vertices.values()].sort(
    ({ header: a }, { header: b }) => a.round - b.round || (a.hash < b.hash ? -1 : 1),
  )
  for (const { header } of inOrder) {
    const seat = committee.seatOf(header.author)
    const slot = `${header.round} ${seat}`
    const copy = copies.get(slot) ?? 0
    if (seat === undefined || copy > 1) throw new Error(`the model has no place for ${slot}, copy ${copy}`)
    copies.set(slot, copy + 1)
    numbers.set(header.hash, 1_000 + (header.round - record.firstRound + 1) * 10 + seat * 2 + copy)
  }
  const setOf = (hashes: ReadonlyArray<Hash>): string => {
    const unknown = hashes.find((hash) => !numbers.has(hash))
    if (unknown !== undefined) throw new Error(`${unknown} never entered a DAG`)
    return `Set(${hashes.map((hash) => numbers.get(hash)).join(", ")})`
  }
  const made = inOrder.map(({ header: { hash, parents } }) => {
    return `(${numbers.get(hash)}, ${setOf(parents.map((parent) => parent.hash))})`
  })
  const rounds = Math.max(...inOrder.map(({ header }) => header.round)) - record.firstRound + 1
  const leaders = Array.from({ length: rounds }, (_, i) => {
    return `${i + 1} -> ${committee.leaderOf(Natural.round(record.firstRound + i))}`
  })
  const ordered = commits.map(({ leader, vertices: hashes }) => {
    return `{ leader: ${numbers.get(leader)}, vertices: ${setOf(hashes)} }`
  })
  const { epochRounds: length, collectionDepthRounds: depth } = record.rules
  return `{
    made: List(${made.join(", ")}),
    rules: { first: 1, length: ${length}, depth: ${depth}, leaders: Map(${leaders.join(", ")}) },
    committed: List(${ordered.join(", ")}),
  }`
}

/** The module "simulated", in which `agrees` holds if the model commits what the simulator did. */
export const moduleOf = (epochs: ReadonlyArray<Epoch>): string => `module simulated {
  import dag.* from "./dag"
  import commits.* from "./commits"
  type Epoch = { made: List[(Vertex, Set[Vertex])], rules: Rules, committed: List[Ordered] }
  pure val EPOCHS: List[Epoch] = List(${epochs.map(written).join(", ")})
  // A member that receives everything a round at a time.
  pure def committedIn(epoch: Epoch): List[Ordered] = {
    pure val full = epoch.made.foldl(EMPTY, (dag, v) => grown(dag, v._1, v._2))
    range(1, epoch.rules.leaders.keys().size() + 1).foldl(opened(epoch.rules), (progress, round) =>
      receive(full, epoch.rules, progress, full.parents.keys().inRound(round))).commits
  }
  val agrees = EPOCHS.indices().forall(i => committedIn(EPOCHS[i]) == EPOCHS[i].committed)
  var turn: int
  action init = turn' = 0
  action step = turn' = turn
}
`
