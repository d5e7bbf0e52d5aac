/** A stretch of the DAG for drawing: authors, rounds and parents of vertices, and each leader's outcome. */
import { Effect } from "effect"
import { Committee } from "../../consensus/dag/Committee.js"
import type { EpochRecord } from "../../protocol/epoch/EpochRecord.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Storage } from "../../storage/Storage.js"
import type { CommitRecord } from "../../storage/tables/Commits.js"
import type { StoredVertex } from "../../storage/tables/Vertices.js"
import type { Engine } from "../engine/Engine.js"
import * as Lookup from "./Lookup.js"

/** Thirty rounds of a hundred validators. Reading them blocks this thread for some tens of milliseconds. */
const MOST_VERTICES = 3_000
const COMMITTEES_KEPT = 8

/** The last few committees asked for, by epoch: computing leaders each time costs a hash per round. */
const committees = (engine: typeof Engine.Service, storage: typeof Storage.Service) => {
  const kept = new Map<Natural.Epoch, Committee>()

  const recordOf = (epoch: Natural.Epoch) =>
    Effect.gen(function* () {
      const { read } = engine.view
      const known = [read.epoch, read.previousEpoch].find((record) => record?.epoch === epoch)
      if (known !== undefined || epoch === 0) return known
      const [closing] = yield* storage.checkpoints.closing(Natural.epoch(epoch - 1), 1)
      const opened: EpochRecord | null | undefined = closing?.checkpoint.nextEpoch
      return opened?.epoch === epoch ? opened : undefined
    })

  return (epoch: Natural.Epoch) =>
    Effect.gen(function* () {
      const known = kept.get(epoch)
      if (known !== undefined) return known
      const record = yield* recordOf(epoch)
      if (record === undefined) return undefined
      const committee = new Committee(record)
      kept.set(epoch, committee)
      for (const oldest of kept.keys()) if (kept.size > COMMITTEES_KEPT) kept.delete(oldest)
      return committee
    })
}

/** Grouped by round, without the last round if it may be incomplete. */
const columnsOf = <A extends { readonly round: Natural.Round; readonly epoch: Natural.Epoch }>(
  vertices: ReadonlyArray<A>,
): ReadonlyArray<readonly [Natural.Round, ReadonlyArray<A>]> => {
  const rounds = new Map<Natural.Round, Array<A>>()
  for (const vertex of vertices) {
    const column = rounds.get(vertex.round)
    if (column === undefined) rounds.set(vertex.round, [vertex])
    else column.push(vertex)
  }
  const columns = [...rounds]
  return vertices.length === MOST_VERTICES && columns.length > 1 ? columns.slice(0, -1) : columns
}

/** The time of the last commit that ordered one of these; null if none did. */
const orderedAt = (
  vertices: ReadonlyArray<Pick<StoredVertex, "commitIndex">>,
  commits: ReadonlyMap<Natural.CommitIndex, CommitRecord>,
): Natural.Timestamp | null => {
  const times = vertices.flatMap(({ commitIndex }) =>
    commitIndex === null ? [] : (commits.get(commitIndex)?.time ?? []),
  )
  return times.length === 0 ? null : Natural.timestamp(Math.max(...times))
}

export const make = (engine: typeof Engine.Service, storage: typeof Storage.Service) => {
  const committeeOf = committees(engine, storage)

  /** The commits that ordered these vertices, including those of all committed leaders of their rounds. */
  const commitsOf = (indices: ReadonlyArray<Natural.CommitIndex>) => {
    if (indices.length === 0) return Effect.succeed<ReadonlyArray<CommitRecord>>([])
    const first = Math.min(...indices)
    return storage.commits.from(Natural.commitIndex(first), Math.max(...indices) - first + 1)
  }

  return (from: Natural.Round, to: Natural.Round, finalizedRound: Natural.Round) =>
    Effect.gen(function* () {
      const stored = columnsOf(yield* storage.vertices.heads(from, to, MOST_VERTICES))
      const indices = stored.flatMap(([, vertices]) => vertices.flatMap(({ commitIndex }) => commitIndex ?? []))
      const commits = yield* commitsOf(indices)
      const byIndex = new Map(commits.map((commit) => [commit.index, commit]))
      const ledBy = new Map(commits.map((commit) => [commit.leaderRound, commit]))
      return yield* Effect.forEach(stored, ([round, all]) =>
        Effect.gen(function* () {
          // Two epochs can meet in a round: the earlier one's vertices in it were dropped.
          const epoch = Natural.epoch(Math.max(...all.map((vertex) => vertex.epoch)))
          const vertices = yield* Effect.forEach(
            all.filter((vertex) => vertex.epoch === epoch),
            ({ bytes, commitIndex }) => Effect.map(Lookup.head(bytes), (head) => ({ ...head, commitIndex })),
          )
          const committee = yield* committeeOf(epoch)
          const verdict = round > finalizedRound ? "undecided" : ledBy.has(round) ? "committed" : "skipped"
          const leader = committee?.member(committee.leaderOf(round))
          return {
            round,
            epoch,
            isFinalized: round <= finalizedRound,
            finalizedAt: orderedAt(vertices, byIndex),
            /** Null if this node no longer knows the committee. */
            leader: leader === undefined ? null : ({ address: leader.address, verdict } as const),
            vertices,
          }
        }),
      )
    })
}
