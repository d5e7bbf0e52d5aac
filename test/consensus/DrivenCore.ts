/** A node's core, driven step by step. */
import { Core, type Options, type Stored } from "../../src/consensus/Core.js"
import type { ExecutedCommit } from "../../src/consensus/commit/Rollback.js"
import { Epoch } from "../../src/consensus/Epoch.js"
import { openingOf as openingAfter } from "../../src/consensus/output/Opening.js"
import type { Output } from "../../src/consensus/output/Output.js"
import { freshEpoch, type StoredEpoch } from "../../src/consensus/output/StoredEpoch.js"
import { SigningGuard } from "../../src/consensus/SigningGuard.js"
import type * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { closingOf, grown, signatureOf } from "./Grown.js"
import { equalWeights, openingOf, recordOf, rules, seedOf, WITH_MEMORY } from "./TestCommittee.js"
import { VertexBuilder } from "./VertexBuilder.js"

export const INTERVAL_MS = 200

export const RETRY_MS = 400

export const NOW = 1_000_000

const EPOCH_ROUNDS = 30

/** The number of rounds until the close is decided. */
export const CLOSING_ROUNDS = EPOCH_ROUNDS + 2

export const record = recordOf(equalWeights(4), {
  rules: { ...rules, epochRounds: EPOCH_ROUNDS, collectionDepthRounds: 4 },
})

export const builder = new VertexBuilder(openingOf(record))

export const others = [1, 2, 3]

export const addressOf = (seat: number) => builder.committee.member(seat).address

export const at = Natural.timestamp

export const whole = grown(builder, CLOSING_ROUNDS)

export const upTo = (round: number) => whole.filter(({ header }) => header.round <= round)

export const vertexAt = (seat: number, round: number): Vertex => {
  const found = whole.find(({ header }) => header.round === round && header.author === addressOf(seat))
  if (found === undefined) throw new Error(`no vertex of seat ${seat} in round ${round}`)
  return found
}

/** What these vertices lead to in a separate epoch. */
export const playedIn = (on: VertexBuilder, vertices: ReadonlyArray<Vertex>) => {
  const outputs: Array<Output> = []
  const epoch = new Epoch(on.opening, null, (output) => outputs.push(output))
  for (const vertex of vertices) epoch.receive(vertex)
  const commits = outputs.flatMap((output) => (output._tag === "Committed" ? [output.commit] : []))
  const executed = commits.map((commit): ExecutedCommit => ({ commit, effectsDigest: seedOf("effects") }))
  return { epoch, executed }
}

export const { epoch: over, executed: commits } = playedIn(builder, whole)

export const closing = closingOf(over)

export const signed = (
  checkpoint: Checkpoint.Checkpoint,
  seats: ReadonlyArray<number>,
): Checkpoint.SignedCheckpoint => ({
  checkpoint,
  signatures: seats.map((seat) => signatureOf(builder.committee, checkpoint, seat)),
})

export const next = new VertexBuilder(openingAfter(closing, over.position.time))

/** A core in a seat, or without one. */
export class Driven {
  readonly core: Core
  readonly atStart: ReadonlyArray<Output>
  now = NOW

  /** Unmetered by default: a round then takes one interval, whatever preceded it. */
  constructor(
    given: Partial<Stored> = {},
    seat: number | null = 0,
    pace: Pick<Options, "pace" | "isAwaited"> = { pace: "at once" },
  ) {
    const stored = { current: freshEpoch(builder.opening), previous: null, signed: [], companions: [], ...given }
    const oldest = (stored.previous ?? stored.current).opening.record.epoch
    const own = [...stored.signed, ...(stored.previous?.vertices ?? []), ...stored.current.vertices]
      .map(({ header }) => header)
      .filter(({ author }) => seat !== null && author === addressOf(seat))
    const guard = seat === null ? null : new SigningGuard(addressOf(seat), INTERVAL_MS, oldest, own, WITH_MEMORY)
    this.core = new Core({ roundIntervalMs: INTERVAL_MS, guard, ...pace }, stored)
    this.atStart = this.core.start(at(NOW))
  }

  /** All others have answered that they know nothing, so it may sign. */
  answered(): this {
    this.answer()
    return this
  }

  answer(): ReadonlyArray<Output> {
    const { epoch } = this.core.epoch.opening.record
    return others.flatMap((seat) => this.core.answered(addressOf(seat), { epoch, header: null }, at(this.now)))
  }

  receive(...vertices: ReadonlyArray<Vertex>): ReadonlyArray<Output> {
    return vertices.flatMap((vertex) => this.core.receive(vertex, at(this.now)))
  }

  own(vertex: Vertex): ReadonlyArray<Output> {
    return this.core.own(vertex, at(this.now))
  }

  tickAt(now: number): ReadonlyArray<Output> {
    this.now = now
    return this.core.tick(at(now))
  }

  /** It has seen the whole epoch, executed its commits, and built its closing checkpoint. */
  closed(): this {
    this.receive(...whole)
    for (const executed of commits) this.core.executed(executed, at(this.now))
    this.core.built(closing, at(this.now))
    return this
  }

  sign(checkpoint: Checkpoint.Checkpoint, seats: ReadonlyArray<number>): ReadonlyArray<Output> {
    return this.core.checkpointsSigned(signed(checkpoint, seats), at(this.now))
  }
}

type Tag = Output["_tag"]

export const only = <T extends Tag>(outputs: ReadonlyArray<Output>, tag: T) =>
  outputs.filter((output): output is Extract<Output, { _tag: T }> => output._tag === tag)

export const tagsOf = (outputs: ReadonlyArray<Output>): ReadonlyArray<Tag> => outputs.map(({ _tag }) => _tag)

export const stored = (vertices: ReadonlyArray<Vertex>, given: Partial<StoredEpoch> = {}): StoredEpoch => ({
  ...freshEpoch(builder.opening),
  vertices,
  ...given,
})
