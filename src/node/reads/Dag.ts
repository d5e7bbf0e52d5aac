/** Rounds and the vertices in them: those of the running epoch and, as far as they are kept, all finalized ones. */
import { Context, Data, Effect, Layer, Option } from "effect"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Round, Timestamp } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Header } from "../../protocol/vertex/Header.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import { Storage } from "../../storage/Storage.js"
import type { StoredVertex } from "../../storage/tables/Vertices.js"
import { Engine } from "../engine/Engine.js"
import { Home } from "../start/Home.js"
import * as DagStretch from "./DagStretch.js"
import type { Unreadable } from "./Lookup.js"
import * as Lookup from "./Lookup.js"

export interface Position {
  /** The highest round ever seen. */
  readonly round: Round
  /** The leader round of the last commit. */
  readonly finalizedRound: Round
  /** Vertices that the node holds. */
  readonly vertices: number
  /** When the highest round was first seen. */
  readonly advancedAt: Timestamp
}

export interface KnownVertex {
  readonly vertex: Vertex
  readonly isFinalized: boolean
}

/** The facts of a vertex that need no reading of its body, which may be a megabyte. */
export interface KnownHead {
  readonly header: Header
  readonly transactionCount: number
  readonly isFinalized: boolean
}

/** A part of the DAG as one would draw it. */
export interface Stretch {
  readonly newest: Round
  readonly finalizedRound: Round
  readonly columns: ReadonlyArray<DagStretch.Column>
}

export interface KnownRound {
  readonly round: Round
  readonly isFinalized: boolean
  /** The time of the commit that finalized it; null before, and for a round without vertices. */
  readonly finalizedAt: Timestamp | null
  readonly vertices: ReadonlyArray<KnownHead>
}

export class RoundNotFound extends Data.TaggedError("RoundNotFound")<{
  readonly round: Round
  readonly because: "not reached" | "pruned"
}> {}

export class VertexNotFound extends Data.TaggedError("VertexNotFound")<{ readonly hash: Hash }> {}

export class Dag extends Context.Tag("udg/Dag")<
  Dag,
  {
    readonly position: Effect.Effect<Position>
    readonly round: (round: Round) => Effect.Effect<KnownRound, RoundNotFound | Unreadable>
    /** `count` rounds from this one on, or the latest `count`; fewer if one answer has no room for all. */
    readonly stretch: (from: Option.Option<Round>, rounds: number) => Effect.Effect<Stretch, RoundNotFound | Unreadable>
    readonly vertex: (hash: Hash) => Effect.Effect<KnownVertex, VertexNotFound | Unreadable>
  }
>() {}

const make = Effect.gen(function* () {
  const engine = yield* Engine
  const storage = yield* Storage
  const { networkId } = (yield* Home).genesis

  const position = Effect.sync(() => ({
    ...engine.pulse(),
    finalizedRound: engine.view.read.head.leaderRound,
    vertices: engine.counters.counts.vertices,
  }))

  const known = (stored: StoredVertex) =>
    Effect.map(
      Lookup.vertex(networkId, stored.bytes),
      (vertex): KnownVertex => ({ vertex, isFinalized: stored.commitIndex !== null }),
    )

  const headOf = (stored: StoredVertex) =>
    Effect.map(Lookup.head(stored.bytes), (head): KnownHead => ({ ...head, isFinalized: stored.commitIndex !== null }))

  const requireKept = (round: Round) =>
    Effect.gen(function* () {
      if (round > (yield* position).round) return yield* new RoundNotFound({ round, because: "not reached" })
      const oldest = yield* storage.vertices.oldestRound
      if (Option.isSome(oldest) && round > 0 && round < oldest.value)
        return yield* new RoundNotFound({ round, because: "pruned" })
    })

  const finalizedAt = (stored: ReadonlyArray<StoredVertex>) =>
    Effect.gen(function* () {
      const last = stored.reduce((index, { commitIndex }) => Math.max(index, commitIndex ?? -1), -1)
      if (last < 0) return null
      const commit = yield* storage.commits.at(Natural.commitIndex(last))
      return Option.match(commit, { onNone: () => null, onSome: ({ time }) => time })
    })

  const stretchOf = DagStretch.make(engine, storage)

  /**
   * Vertices that an epoch had not ordered when it closed are dropped, and the next epoch may make their rounds again.
   */
  const notDropped = (round: Round) =>
    Effect.gen(function* () {
      // Read first: everything that an earlier epoch ordered is marked as ordered by now.
      const last = yield* storage.commits.last
      const epoch = Option.match(last, { onNone: () => 0, onSome: (commit) => commit.epoch })
      const stored = yield* storage.vertices.headsAt(round)
      return stored.filter((vertex) => vertex.commitIndex !== null || vertex.epoch >= epoch)
    })

  return Dag.of({
    position,
    stretch: (start, rounds) =>
      Effect.gen(function* () {
        const { round: newest } = yield* position
        // From the disk, like everything else here: a commit being written would look like a skipped leader.
        const last = yield* storage.commits.last
        const finalizedRound = Option.match(last, {
          onNone: () => Natural.round(0),
          onSome: ({ leaderRound }) => leaderRound,
        })
        const from = Option.getOrElse(start, () => Natural.round(Math.max(1, newest - rounds + 1)))
        const to = Natural.round(Math.min(newest, from + rounds - 1))
        if (to < newest) yield* requireKept(to)
        return { newest, finalizedRound, columns: yield* stretchOf(from, to, finalizedRound) }
      }),
    round: (round) =>
      Effect.gen(function* () {
        const stored = yield* notDropped(round)
        if (stored.length === 0) yield* requireKept(round)
        const { finalizedRound } = yield* position
        return {
          round,
          isFinalized: round <= finalizedRound,
          finalizedAt: yield* finalizedAt(stored),
          vertices: yield* Effect.forEach(stored, headOf),
        }
      }),
    vertex: (hash) =>
      Effect.gen(function* () {
        const stored = yield* storage.vertices.byHash(hash)
        if (Option.isNone(stored)) return yield* new VertexNotFound({ hash })
        return yield* known(stored.value)
      }),
  })
})

export const layer: Layer.Layer<Dag, never, Engine | Storage | Home> = Layer.effect(Dag, make)
