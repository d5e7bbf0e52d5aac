/** Rounds and their vertices: those of the running epoch and all finalized ones that are kept. */
import { Context, Data, Effect, Layer, Option } from "effect"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { NetworkId } from "../../protocol/identity/Network.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import { Storage } from "../../storage/Storage.js"
import type { StoredVertex } from "../../storage/tables/Vertices.js"
import { Engine } from "../engine/Engine.js"
import { Home } from "../start/Home.js"
import * as DagStretch from "./DagStretch.js"
import * as Lookup from "./Lookup.js"

/**
 * A transaction's outcome in a finalized vertex. If it failed, only its fee was taken; if it had no effect, nothing.
 */
export type Outcome = "applied" | "failed" | "no effect"

export interface KnownVertex {
  readonly vertex: Vertex
  /** One for each transaction; null until the vertex is finalized. */
  readonly outcomes: ReadonlyArray<Outcome> | null
}

export class RoundNotFound extends Data.TaggedError("RoundNotFound")<{
  readonly round: Round
  readonly because: "not reached" | "pruned"
}> {}

export class VertexNotFound extends Data.TaggedError("VertexNotFound")<{ readonly hash: Hash }> {}

type Stored = typeof Storage.Service

/** Recorded transactions are pruned only together with their vertices, so one without a record had no effect. */
const outcomesOf = (storage: Stored, { header, body }: Vertex, commitIndex: Natural.CommitIndex) =>
  Effect.map(storage.transactions.ofVertex(commitIndex, header.hash), (recorded): ReadonlyArray<Outcome> => {
    const outcomes = body.transactions.map((): Outcome => "no effect")
    for (const { position, isApplied } of recorded) outcomes[position] = isApplied ? "applied" : "failed"
    return outcomes
  })

const known = (storage: Stored, networkId: NetworkId, { bytes, commitIndex }: StoredVertex) =>
  Effect.gen(function* () {
    const vertex = yield* Lookup.vertex(networkId, bytes)
    const outcomes = commitIndex === null ? null : yield* outcomesOf(storage, vertex, commitIndex)
    const found: KnownVertex = { vertex, outcomes }
    return found
  })

/** The facts of a vertex that need no decoding of its body, which may be a megabyte. */
const headOf = (stored: StoredVertex) =>
  Effect.map(Lookup.head(stored.bytes), (head) => ({ ...head, isFinalized: stored.commitIndex !== null }))

/** The time of the last commit that ordered one of these; null if none did. */
const finalizedAt = (storage: Stored, vertices: ReadonlyArray<StoredVertex>) =>
  Effect.gen(function* () {
    const last = vertices.reduce((index, { commitIndex }) => Math.max(index, commitIndex ?? -1), -1)
    if (last < 0) return null
    const commit = yield* storage.commits.at(Natural.commitIndex(last))
    return Option.match(commit, { onNone: () => null, onSome: ({ time }) => time })
  })

/** Read from the disk like everything else here: a commit still being written would look like a skipped leader. */
const lastOrdered = (storage: Stored) =>
  Effect.map(
    storage.commits.last,
    Option.match({ onNone: () => Natural.round(0), onSome: ({ leaderRound }) => leaderRound }),
  )

/** An epoch's close drops whatever is unordered, and the next epoch may make those rounds again. */
const notDropped = (storage: Stored, round: Round) =>
  Effect.gen(function* () {
    // Read first: by then, everything that an earlier epoch ordered is marked as ordered.
    const last = yield* storage.commits.last
    const epoch = Option.match(last, { onNone: () => 0, onSome: (commit) => commit.epoch })
    const stored = yield* storage.vertices.headsAt(round)
    return stored.filter((vertex) => vertex.commitIndex !== null || vertex.epoch >= epoch)
  })

const requireKept = (storage: Stored, round: Round, newest: Round) =>
  Effect.gen(function* () {
    if (round > newest) return yield* new RoundNotFound({ round, because: "not reached" })
    const oldest = yield* storage.vertices.oldestRound
    if (Option.isSome(oldest) && round > 0 && round < oldest.value)
      return yield* new RoundNotFound({ round, because: "pruned" })
  })

const make = Effect.gen(function* () {
  const engine = yield* Engine
  const storage = yield* Storage
  const { networkId } = (yield* Home).genesis
  const stretchOf = DagStretch.make(engine, storage)
  const position = Effect.sync(() => ({
    ...engine.pulse(),
    finalizedRound: engine.view.read.head.leaderRound,
    vertices: engine.counters.counts.vertices,
  }))

  // Each read first flushes gathered writes, since recent rounds may not be in the files yet.
  return {
    position,
    /** Up to `rounds` rounds from the start, or the latest; fewer if the answer has no room for all. */
    stretch: (start: Option.Option<Round>, rounds: number) =>
      Effect.gen(function* () {
        yield* engine.gathered
        const { round: newest } = yield* position
        const finalizedRound = yield* lastOrdered(storage)
        const from = Option.getOrElse(start, () => Natural.round(Math.max(1, newest - rounds + 1)))
        const to = Natural.round(Math.min(newest, from + rounds - 1))
        if (to < newest) yield* requireKept(storage, to, (yield* position).round)
        return { newest, finalizedRound, columns: yield* stretchOf(from, to, finalizedRound) }
      }),
    round: (round: Round) =>
      Effect.gen(function* () {
        yield* engine.gathered
        const stored = yield* notDropped(storage, round)
        if (stored.length === 0) yield* requireKept(storage, round, (yield* position).round)
        const finalizedRound = yield* lastOrdered(storage)
        return {
          round,
          isFinalized: round <= finalizedRound,
          finalizedAt: yield* finalizedAt(storage, stored),
          vertices: yield* Effect.forEach(stored, headOf),
        }
      }),
    vertex: (hash: Hash) =>
      Effect.gen(function* () {
        yield* engine.gathered
        const stored = yield* storage.vertices.byHash(hash)
        if (Option.isNone(stored)) return yield* new VertexNotFound({ hash })
        return yield* known(storage, networkId, stored.value)
      }),
  }
})

export class Dag extends Context.Tag("udg/Dag")<Dag, Effect.Effect.Success<typeof make>>() {}

type Answer<Name extends "round" | "stretch"> = Effect.Effect.Success<ReturnType<(typeof Dag.Service)[Name]>>

export type KnownRound = Answer<"round">
export type Stretch = Answer<"stretch">

export const layer = Layer.effect(Dag, make)
