/**
 * Replays traces of the model in docs/spec/network.qnt with the production `Core`: each member of the model is a core
 * that receives the same vertices and signatures. After every step it must have committed the same.
 */
import { Core } from "../../src/consensus/Core.js"
import type { OrderedCommit } from "../../src/consensus/commit/Linearizer.js"
import { type Opening, openingOf as openingAfter } from "../../src/consensus/output/Opening.js"
import type { Output } from "../../src/consensus/output/Output.js"
import { freshEpoch } from "../../src/consensus/output/StoredEpoch.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { EpochRecord } from "../../src/protocol/epoch/EpochRecord.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { signatureOf } from "../consensus/Grown.js"
import { keysOf, openingOf, recordOf, rules, seedOf } from "../consensus/TestCommittee.js"
import { parentOf, VertexBuilder } from "../consensus/VertexBuilder.js"
import type * as Trace from "./Trace.js"

const LIAR = 3
const SEEDS = 16
const LENGTH = 6
const DEPTH = 2
const NOW = Natural.timestamp(1_000_000)
const keys = keysOf(5)

export class Differs extends Error {}

const check = (holds: boolean, what: string): void => {
  if (!holds) throw new Differs(what)
}

const roundOf = (v: number): number => Math.floor((v % 1_000) / 10)
const authorOf = (v: number): number => Math.floor((v % 10) / 2)

const recordAt = (epoch: number, { first, members, seed }: Trace.Opening): EpochRecord =>
  recordOf([], {
    epoch: Natural.epoch(epoch),
    firstRound: Natural.round(first),
    seed: seedOf(`spec ${seed % SEEDS}`),
    rules: { ...rules, epochRounds: LENGTH, collectionDepthRounds: DEPTH },
    members: keys.flatMap((key, i) => (members.includes(i) ? [{ ...key, weight: Sats.make(1) }] : [])),
  })

/** An epoch as the program sees it, with the vertices of the model that were made in it. */
class Played {
  readonly opening: Opening
  /** The seed of the model, which the hash of the epoch record does not tell. */
  readonly seed: number
  readonly #builder: VertexBuilder
  readonly #made = new Map<number, Vertex>()
  readonly #numbers = new Map<Hash.Hash, number>()

  constructor(opening: Opening, seed: number) {
    this.opening = opening
    this.seed = seed
    this.#builder = new VertexBuilder(opening)
  }

  seatOf(member: number): number | undefined {
    const key = keys[member]
    return key === undefined ? undefined : this.#builder.committee.seatOf(key.address)
  }

  get committee() {
    return this.#builder.committee
  }

  vertex(v: number, parents: Trace.State["dag"]["parents"]): Vertex {
    const before = this.#made.get(v)
    if (before !== undefined) return before
    const seat = this.seatOf(authorOf(v))
    if (seat === undefined) throw new Error(`vertex ${v} is by nobody`)
    const named = (parents.get(v) ?? []).map((parent) => parentOf(this.vertex(parent, parents)))
    const inOrder = named.sort(
      (a, b) => a.round - b.round || (`${a.author}${a.hash}` < `${b.author}${b.hash}` ? -1 : 1),
    )
    // The copies of a slot may have the same parents.
    const made = this.#builder.make(seat, roundOf(v), inOrder, { timestamp: Natural.timestamp(1_000 + v) })
    this.#made.set(v, made)
    this.#numbers.set(made.header.hash, v)
    return made
  }

  numberOf({ header }: Pick<Vertex, "header">): number {
    return this.#numbers.get(header.hash) ?? -1
  }

  leaderOf({ commit }: OrderedCommit): number {
    return this.#numbers.get(commit.leaderHash) ?? -1
  }
}

const sorted = (numbers: ReadonlyArray<number>): string => [...numbers].sort((a, b) => a - b).join()

interface Close {
  readonly checkpoint: Checkpoint.Closing
  /** The seed of the next epoch. */
  readonly seed: number
}

type Open = (opening: Opening, seed: number) => Played

/** One member: the cores that it has run, and what they committed in each epoch. */
class Member {
  #core: Core | null = null
  #played: Played | null = null
  readonly commits = new Map<number, Array<string>>()
  readonly closes = new Map<number, Close>()
  readonly #open: Open
  #steps = 0

  constructor(open: Open) {
    this.#open = open
  }

  get played(): Played {
    if (this.#played === null) throw new Error("has not begun")
    return this.#played
  }

  get #running(): Core {
    if (this.#core === null) throw new Error("has not begun")
    return this.#core
  }

  begin(opening: Opening, seed: number): void {
    const stored = { current: freshEpoch(opening), previous: null, signed: [], companions: [] }
    this.#core = new Core({ roundIntervalMs: 500, guard: null }, stored)
    this.#started(opening, seed)
    this.#take(this.#core.start(NOW))
  }

  #started(opening: Opening, seed: number): void {
    this.#played = this.#open(opening, seed)
    this.commits.set(opening.record.epoch, [])
  }

  /** Vertices with their histories, parents first or last. */
  hear(vertices: ReadonlyArray<number>, { dag: { parents } }: Trace.State): void {
    const all = new Set(vertices)
    for (const v of all) for (const parent of parents.get(v) ?? []) all.add(parent)
    const inOrder = [...all].sort((a, b) => a - b)
    if (this.#steps++ % 2 === 1) inOrder.reverse()
    for (const v of inOrder) this.#take(this.#running.receive(this.played.vertex(v, parents), NOW))
  }

  sign(closing: Checkpoint.Closing, members: ReadonlyArray<number>): void {
    const signatures = members.flatMap((member) => {
      const seat = this.played.seatOf(member)
      return seat === undefined ? [] : [signatureOf(this.played.committee, closing, seat)]
    })
    this.#take(this.#running.checkpointsSigned({ checkpoint: closing, signatures }, NOW))
  }

  #take(outputs: ReadonlyArray<Output>): void {
    for (const output of outputs) {
      check(output._tag !== "FinalityRollback" && output._tag !== "Invalid", output._tag)
      if (output._tag === "EpochStarted") {
        const { opening } = output
        this.#started(opening, this.closes.get(opening.record.epoch - 1)?.seed ?? -1)
      }
      if (output._tag === "Committed") this.#execute(output)
    }
  }

  #execute(output: Extract<Output, { _tag: "Committed" }>): void {
    const { commit, vertices, closes } = output
    const numbers = vertices.map((vertex) => this.played.numberOf(vertex))
    this.commits.get(commit.epoch)?.push(`${this.played.leaderOf(output)}: ${sorted(numbers)}`)
    const effectsDigest = Hash.of("udg/effects", new TextEncoder().encode(numbers.join()))
    this.#take(this.#running.executed({ commit, effectsDigest }, NOW))
    if (closes) this.#close(output, effectsDigest)
  }

  #close(last: OrderedCommit, effectsDigest: Hash.Hash): void {
    const { opening, seed: before } = this.played
    const { epoch } = opening.record
    const { commit, vertices } = last
    const leader = this.played.leaderOf(last)
    const members = keys.flatMap((_, m) => (m === authorOf(leader) ? [] : [m]))
    const seed = before + leader + vertices.length
    const next: Trace.Opening = { first: commit.leaderRound + 1, members, seed }
    const closing = Checkpoint.make({
      epoch,
      round: commit.leaderRound,
      commitIndex: commit.index,
      commitHash: commit.hash,
      effectsDigest,
      stateRoot: Hash.ZERO,
      totalSupply: Sats.make(1_000_000),
      nextEpoch: recordAt(epoch + 1, next),
      previous: opening.base,
    })
    if (!Checkpoint.isClosing(closing)) throw new Error("closes nothing")
    this.closes.set(epoch, { checkpoint: closing, seed })
    this.#take(this.#running.built(closing, NOW))
  }

  /** Throws unless the core is where the model is. */
  compare({ epoch, openings, commits, progress }: Trace.Node): void {
    if (epoch === 0) return
    const { epoch: running } = this.#running
    const { record } = running.opening
    check(record.epoch === epoch, `runs epoch ${record.epoch}, not ${epoch}`)
    const opening = openings.get(epoch)
    const expected = opening === undefined ? undefined : recordAt(epoch, opening)
    const textOf = (given: EpochRecord | undefined): string =>
      JSON.stringify([given?.firstRound, given?.members, given?.seed])
    check(textOf(record) === textOf(expected), `began ${textOf(record)}, not ${textOf(expected)}`)
    const own = this.commits.get(epoch) ?? []
    const due = (commits.get(epoch) ?? []).map(({ leader, vertices }) => `${leader}: ${sorted(vertices)}`)
    check(own.join("\n") === due.join("\n"), `committed\n${own.join("\n")}\nnot\n${due.join("\n")}`)
    check(running.isClosed === progress.isClosed, `closed: ${running.isClosed}, not ${progress.isClosed}`)
    if (progress.isClosed) return
    const { collectedRound } = running.dag
    check(collectedRound === progress.collected, `collected up to ${collectedRound}, not ${progress.collected}`)
  }
}

const step = (members: ReadonlyMap<number, Member>, state: Trace.State): void => {
  const { name, member: m, heard, made } = state.event
  const member = members.get(m)
  if (member === undefined || name === "lies" || name === "becalms" || name === "idles") return
  if (name === "hears" || name === "makes") {
    if (heard.length > 0) member.hear(heard, state)
    if (name === "makes") member.hear([made], state)
    return
  }
  const epoch = (state.nodes.get(m)?.epoch ?? 0) - 1
  const close = members.get(name === "joins" ? made : m)?.closes.get(epoch)
  if (close === undefined) throw new Differs(`has no close of epoch ${epoch}`)
  const { checkpoint, seed } = close
  if (name === "handsOver") {
    const isSame = (other: Member): boolean => other.closes.get(epoch)?.checkpoint.hash === checkpoint.hash
    member.sign(checkpoint, [LIAR, ...[...members].flatMap(([n, other]) => (isSame(other) ? [n] : []))])
  } else {
    member.closes.set(epoch, close)
    member.begin(openingAfter(checkpoint, Natural.timestamp(0)), seed)
  }
}

/** What differs first between the model and the program; null if nothing does. */
export const replay = (trace: Trace.Trace): string | null => {
  const [initial] = trace
  const opening = initial?.nodes.get(0)?.openings.get(1)
  if (initial === undefined || opening === undefined) throw new Error("an empty trace")
  const played = new Map<Hash.Hash, Played>()
  const open: Open = (given, seed) => {
    const before = played.get(given.base) ?? new Played(given, seed)
    played.set(given.base, before)
    return before
  }
  const members = new Map([...initial.nodes.keys()].map((m) => [m, new Member(open)]))
  const first = openingOf(recordAt(1, opening))
  for (const [m, member] of members) if (initial.nodes.get(m)?.epoch === 1) member.begin(first, opening.seed)
  for (const [i, state] of trace.entries()) {
    const { event } = state
    try {
      if (i > 0) step(members, state)
      for (const [m, node] of state.nodes) members.get(m)?.compare(node)
    } catch (cause) {
      if (!(cause instanceof Error)) throw cause
      return `step ${i}, ${event.name} of ${event.member}, ${event.heard} ${event.made}: ${cause.message}`
    }
  }
  return null
}
