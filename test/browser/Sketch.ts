/**
 * A simulated network of any size. Its rounds advance steadily, and leaders are drawn, skipped and committed as in a
 * real one, so that the explorer shows more validators than a test can run.
 */
import { Effect, Option, Stream } from "effect"
import type * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type * as Dag from "../../src/rpc/api/Dag.js"
import type * as Handlers from "../../src/rpc/handlers/Group.js"

export interface Settings {
  readonly validators: number
  readonly roundMs: number
  /** Rounds that exist when it begins. */
  readonly rounds: number
}

type Columns = typeof Dag.Columns.Type
type Column = Columns["columns"][number]

const FINALITY_LAG = 3

/** Pseudo-random numbers that are the same every time. */
const draw = (seed: number): number => {
  let x = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b)
  x ^= x >>> 13
  x = Math.imul(x, 0xc2b2ae35)
  return ((x ^ (x >>> 16)) >>> 0) / 4_294_967_296
}

const hashOf = (round: number, lane: number): Hash.Hash =>
  Hash.of("udg/vertex-id", new TextEncoder().encode(`${round}/${lane}`))

const addressOf = (lane: number): Address.Address => hashOf(0, lane).slice(0, 40) as Address.Address

/** Whether this validator made a vertex in this round. */
const isThere = (round: number, lane: number): boolean => draw(round * 7919 + lane * 104_729) > 0.04

const present = (round: number, validators: number): ReadonlyArray<number> =>
  Array.from({ length: validators }, (_, lane) => lane).filter((lane) => isThere(round, lane))

const columnOf = ({ validators, roundMs }: Settings, round: number, newest: number, startedAt: number): Column => {
  const leader = Math.floor(draw(round * 31) * validators)
  const isFinalized = round <= newest - FINALITY_LAG
  const isSkipped = !isThere(round, leader)
  const before = round === 1 ? [] : present(round - 1, validators)
  return {
    round: Natural.round(round),
    epoch: Natural.epoch(1 + Math.floor(round / 240)),
    timestamp: isFinalized ? Natural.timestamp(startedAt + round * roundMs) : null,
    finalized: isFinalized,
    leader: { validator: leader, verdict: !isFinalized ? "undecided" : isSkipped ? "skipped" : "committed" },
    vertices: present(round, validators).map((lane) => ({
      hash: hashOf(round, lane),
      validator: lane,
      tx_count: Math.floor(draw(round * 13 + lane) ** 4 * 40),
      commit_index: isFinalized ? Natural.commitIndex(round) : null,
      parents: before.filter((parent) => parent === lane || draw(round * lane + parent) < 0.8),
      older_parents:
        draw(round * 3 + lane) > 0.985 && round > 2 ? [{ round: Natural.round(round - 2), validator: lane }] : [],
    })),
  }
}

/** Handlers for the groups that a simulated network can answer. */
export const handlers = (settings: Settings) => {
  const startedAt = Date.now()
  const newest = (): number => settings.rounds + Math.floor((Date.now() - startedAt) / settings.roundMs)
  const columns = (from: Option.Option<number>, rounds: number): Columns => {
    const last = newest()
    const first = Option.getOrElse(from, () => Math.max(1, last - rounds + 1))
    const most = Math.max(1, Math.floor(3_000 / settings.validators))
    const length = Math.max(0, Math.min(rounds, most, last - first + 1))
    return {
      dag_round: Natural.round(last),
      finalized_round: Natural.round(last - FINALITY_LAG),
      validators: Array.from({ length: settings.validators }, (_, lane) => addressOf(lane)),
      columns: Array.from({ length }, (_, i) => columnOf(settings, first + i, last, startedAt)),
    }
  }
  const dag: Partial<Handlers.Of<"dag">> = {
    columns: ({ urlParams: { from, rounds = 60 } }) => Effect.sync(() => columns(Option.fromNullable(from), rounds)),
  }
  const events: Handlers.Of<"events"> = {
    stream: () =>
      Effect.succeed(
        Stream.repeatEffect(
          Effect.sync(() => ({
            id: newest(),
            event: {
              type: "round" as const,
              round: Natural.round(newest()),
              finalized_round: Natural.round(newest() - FINALITY_LAG),
            },
          })).pipe(Effect.delay(settings.roundMs)),
        ),
      ),
  }
  return { dag, events }
}
