/**
 * The close of an epoch by members that run the whole `Core`. They receive a DAG that calm rounds have decided, in
 * different orders and parts. All must close the epoch with the same commit after the same sequence, and continue
 * together with a committee in which one member was replaced. A member that has not closed yet, or hears of another
 * close, decides nothing in the next epoch.
 */
import { Core } from "../../../src/consensus/Core.js"
import type { OrderedCommit } from "../../../src/consensus/commit/Linearizer.js"
import { Committee } from "../../../src/consensus/dag/Committee.js"
import type { Opening } from "../../../src/consensus/output/Opening.js"
import type { Output } from "../../../src/consensus/output/Output.js"
import { freshEpoch } from "../../../src/consensus/output/StoredEpoch.js"
import * as Checkpoint from "../../../src/protocol/epoch/Checkpoint.js"
import type { EpochRecord } from "../../../src/protocol/epoch/EpochRecord.js"
import * as Hash from "../../../src/protocol/identity/Hash.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import * as Sats from "../../../src/protocol/numbers/Sats.js"
import type { Vertex } from "../../../src/protocol/vertex/Vertex.js"
import * as FakeKeys from "../FakeKeys.js"
import { keysOf, seedOf } from "../TestCommittee.js"
import { parentOf, VertexBuilder } from "../VertexBuilder.js"
import { GUILTY, HONEST, type State } from "./Growth.js"

/** A DAG with calm rounds at its end. */
export interface Calmed {
  readonly opening: Opening
  /** All vertices, including the calm rounds. */
  readonly rounds: State["rounds"]
  /** The leaders that the verdicts depend on, by round. */
  readonly leaders: ReadonlyMap<number, number>
  /** The round before the calm ones. */
  readonly lastStormy: number
  /** A vertex that a view may lack. */
  readonly late: Vertex | null
}

/** The epoch's nominal last rounds: its first commit closes it, or a later one, which can be an anchor. */
const LENGTHS: ReadonlyArray<number> = [1, 4]

const HOUR_MS = 3_600_000

/** Rounds of the next epoch, enough for the first leader to be committed. */
const NEXT_ROUNDS = 3

const seeds = new Map<string, Hash.Hash>()

/** A seed whose schedule has these leaders, and honest ones in the calm rounds. */
const seedWith = (record: EpochRecord, { leaders, lastStormy }: Calmed): Hash.Hash => {
  const name = JSON.stringify([lastStormy, ...leaders])
  const known = seeds.get(name)
  if (known !== undefined) return known
  for (let i = 0; ; i++) {
    const seed = seedOf(`schedule ${i}`)
    const committee = new Committee({ ...record, seed })
    const leaderOf = (round: number): number => committee.leaderOf(Natural.round(round))
    const isCalm = HONEST.every((_, more) => HONEST.includes(leaderOf(lastStormy + 1 + more)))
    if (!isCalm || ![...leaders].every(([round, leader]) => leaderOf(round) === leader)) continue
    seeds.set(name, seed)
    return seed
  }
}

const keyOfNewcomer = keysOf(5)[0]

/** The committee after the close: a newcomer replaces the guilty member or an honest one. */
const recordAfter = ({ record }: Opening, round: Natural.Round, leaving: number): EpochRecord => {
  if (keyOfNewcomer === undefined) throw new Error("no key for a newcomer")
  const members = record.members.map((member, seat) => (seat === leaving ? { ...member, ...keyOfNewcomer } : member))
  return {
    epoch: Natural.epoch(record.epoch + 1),
    firstRound: Natural.round(round + 1),
    seed: seedOf("next"),
    rules: { ...record.rules, epochRounds: 1_000 },
    members: members.sort((a, b) => (a.address < b.address ? -1 : 1)),
  }
}

/** The checkpoint of a closing commit. Any difference in the sequence changes the checkpoint. */
const checkpointOf = (
  opening: Opening,
  { commit, vertices }: OrderedCommit,
  leaving: number,
): Checkpoint.Checkpoint => {
  const sequence = new TextEncoder().encode(vertices.map(({ header }) => header.hash).join())
  return Checkpoint.make({
    epoch: commit.epoch,
    round: commit.leaderRound,
    commitIndex: commit.index,
    commitHash: commit.hash,
    effectsDigest: Hash.of("udg/effects", sequence),
    stateRoot: Hash.ZERO,
    totalSupply: Sats.make(1_000_000),
    nextEpoch: recordAfter(opening, commit.leaderRound, leaving),
    previous: opening.base,
  })
}

class Member {
  readonly #core: Core
  readonly #opening: Opening
  readonly #leaving: number
  #now = Natural.timestamp(HOUR_MS)
  /** The commits of the closing epoch and the next one. */
  readonly commits: Array<OrderedCommit> = []
  readonly next: Array<OrderedCommit> = []
  closing: Checkpoint.Checkpoint | null = null
  hasStarted = false

  constructor(opening: Opening, leaving: number) {
    this.#opening = opening
    this.#leaving = leaving
    const stored = { current: freshEpoch(opening), previous: null, signed: [], companions: [] }
    this.#core = new Core({ roundIntervalMs: 500, guard: null }, stored)
    this.#take(this.#core.start(this.#now))
  }

  receive(vertices: ReadonlyArray<Vertex>): this {
    for (const vertex of vertices) this.#take(this.#core.receive(vertex, this.#now))
    return this
  }

  /** Waits until unnamed second vertices are admitted, and then the vertices that name them. */
  standStill(): this {
    for (let i = 0; i < HONEST.length; i++) {
      this.#now = Natural.timestamp(this.#now + HOUR_MS)
      this.#take(this.#core.tick(this.#now))
    }
    return this
  }

  /** Receives the signatures of these members of the closing epoch. */
  signed(checkpoint: Checkpoint.Checkpoint, seats: ReadonlyArray<number>): this {
    const signatures = seats.flatMap((seat) => {
      const member = this.#opening.record.members[seat]
      if (member === undefined) return []
      const signature = FakeKeys.signWith(member.publicKey)(Checkpoint.signedBytes(checkpoint))
      return [{ validator: member.address, signature }]
    })
    this.#take(this.#core.checkpointsSigned({ checkpoint, signatures }, this.#now))
    return this
  }

  #take(outputs: ReadonlyArray<Output>): void {
    for (const output of outputs) {
      if (output._tag === "FinalityRollback") throw new Error(`stops: ${output.rollback._tag}`)
      if (output._tag === "EpochStarted") this.hasStarted = true
      if (output._tag === "Committed") this.#execute(output)
    }
  }

  #execute(output: Extract<Output, { _tag: "Committed" }>): void {
    const { commit, closes } = output
    if (commit.epoch !== this.#opening.record.epoch) {
      this.next.push(output)
      return
    }
    this.commits.push(output)
    const checkpoint = checkpointOf(this.#opening, output, this.#leaving)
    this.#take(this.#core.executed({ commit, effectsDigest: checkpoint.effectsDigest }, this.#now))
    if (!closes) return
    if (this.closing !== null) throw new Error("closes twice")
    this.closing = checkpoint
    this.#take(this.#core.built(checkpoint, this.#now))
  }
}

/** Calm rounds of the next epoch after this close, by all members except the guilty one. */
const roundsAfter = (opening: Opening, closing: Checkpoint.Checkpoint): ReadonlyArray<Vertex> => {
  const { nextEpoch } = closing
  if (nextEpoch === null) throw new Error("closes nothing")
  const builder = new VertexBuilder({ base: closing.hash, record: nextEpoch, position: opening.position })
  const guilty = opening.record.members[GUILTY]?.address
  const seats = nextEpoch.members.flatMap(({ address }, seat) => (address === guilty ? [] : [seat]))
  const made: Array<ReadonlyArray<Vertex>> = []
  for (let i = 0; i < NEXT_ROUNDS; i++) {
    const parents = (made[i - 1] ?? []).map(parentOf)
    made.push(seats.map((seat) => builder.make(seat, nextEpoch.firstRound + i, parents)))
  }
  return made.flat()
}

const textOf = (commits: ReadonlyArray<OrderedCommit>): string =>
  commits
    .map(({ commit, vertices }) => [commit.hash, ...vertices.map(({ header }) => header.hash)].join(" "))
    .join("\n")

const check = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what)
}

const closeOf = (calmed: Calmed, length: number, leaving: number): void => {
  const { record } = calmed.opening
  const opening: Opening = {
    ...calmed.opening,
    record: { ...record, seed: seedWith(record, calmed), rules: { ...record.rules, epochRounds: length } },
  }
  const all = calmed.rounds.flat().map(({ vertex }) => vertex)
  const stormy = all.filter((vertex) => vertex.header.round <= calmed.lastStormy && vertex !== calmed.late)
  const open = (): Member => new Member(opening, leaving)

  const reference = open().receive(all).standStill()
  const { closing } = reference
  if (closing === null) throw new Error("does not close")
  const rounds = reference.commits.map(({ commit }) => commit.leaderRound)
  check(rounds.findIndex((round) => round >= length) === rounds.length - 1, "does not close with the first commit due")

  const another = Checkpoint.make({ ...closing, commitHash: seedOf("another close") })
  const [after, afterAnother] = [roundsAfter(opening, closing), roundsAfter(opening, another)]
  const view = open().receive(stormy).standStill()
  check(view.closing === null || view.closing.hash === closing.hash, "a view closes otherwise")
  check(textOf(reference.commits).startsWith(textOf(view.commits)), "a view orders otherwise")
  // Less than a quorum has signed another close: an honest member would have to have closed with it.
  view.signed(another, [GUILTY, 0]).receive(afterAnother)
  // A quorum has signed the close, which helps only members that have closed.
  view.receive(after).signed(closing, HONEST).receive(after)
  check(view.closing !== null || (!view.hasStarted && view.next.length === 0), "goes on without having closed")
  view
    .receive(calmed.late === null ? [] : [calmed.late])
    .receive(all)
    .standStill()
    .receive(after)

  const early = open()
    .receive([...all].reverse())
    .standStill()
    .receive(after)
    .signed(closing, [0, GUILTY])
  check(!early.hasStarted && early.next.length === 0, "goes on without a quorum")
  early.signed(closing, [1]).receive(afterAnother)
  reference.signed(another, [GUILTY, 0]).signed(closing, HONEST).receive(afterAnother).receive(after)
  for (const member of [reference, view, early]) {
    check(member.closing?.hash === closing.hash, "closes otherwise")
    check(textOf(member.commits) === textOf(reference.commits), "orders otherwise")
    check(member.hasStarted, "does not start the next epoch")
    check(textOf(member.next) === textOf(reference.next), "orders the next epoch otherwise")
  }
}

/** Throws if members disagree about the close of this DAG, whenever it is due and whoever leaves. */
export const judge = (calmed: Calmed): void => {
  for (const length of LENGTHS) for (const leaving of [0, GUILTY]) closeOf(calmed, length, leaving)
}
