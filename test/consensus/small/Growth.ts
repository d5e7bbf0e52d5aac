/**
 * How a DAG of four members grows by one round: every vertex that can follow, reduced to those that make a difference.
 *
 * A verdict depends on a vertex only through its author, its vote, its certificate, and the certificates in its history
 * for undecided slots: `Committer` reads nothing else. So two vertices of one author that agree in these are
 * interchangeable for all later verdicts, and one of each class is enough. Votes and certificates are the marks that
 * the production committer puts on the nodes.
 */
import { Committer } from "../../../src/consensus/commit/Committer.js"
import type { Schedule } from "../../../src/consensus/dag/Committee.js"
import { Dag } from "../../../src/consensus/dag/Dag.js"
import * as Validity from "../../../src/consensus/dag/Validity.js"
import type { Hash } from "../../../src/protocol/identity/Hash.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../../src/protocol/vertex/Vertex.js"
import { parentOf, type VertexBuilder } from "../VertexBuilder.js"
import type { Outcome } from "./View.js"

export const HONEST: ReadonlyArray<number> = [0, 1, 2]
/** The seat that can make several vertices per round. */
export const GUILTY = 3
export const SEATS: ReadonlyArray<number> = [...HONEST, GUILTY]

/** A vertex with everything that later verdicts can depend on. */
export interface Placed {
  readonly vertex: Vertex
  readonly seat: number
  /** The vertex it votes for in the slot below, by its position among the leader's, from 1 on; 0 is a blame. */
  readonly vote: number
  /**
   * Bits 3i to 3i + 2: a certificate for the leader's first, second or third vertex of round i. Only for open slots.
   */
  readonly history: number
}

/** The outcome of a slot in the view, and with the vertex that the view lacks. */
export interface Slot {
  readonly inView: Outcome
  readonly inAll: Outcome
}

/** A view, and possibly one vertex that it lacks, without what cannot affect the verdict of the first slot. */
export interface State {
  readonly rounds: ReadonlyArray<ReadonlyArray<Placed>>
  /** For all rounds but the last, whose leader matters only to the next round. */
  readonly leaders: ReadonlyArray<number>
  /** For all rounds but the last. */
  readonly slots: ReadonlyArray<Slot>
  /** A vertex that is not in the view and that no vertex of the view names. */
  readonly late: Placed | null
}

export interface Bounds {
  /** Rounds of the longest DAG. */
  readonly rounds: number
  /** How many vertices of lower rounds a vertex can name, besides its author's latest. */
  readonly older: number
  /** How many vertices the guilty member can make in a round. */
  readonly copies: number
}

/** One choice of an author in the next round. */
export interface Option {
  readonly key: string
  /** The key if the vertices of the last leader are numbered in reverse. */
  readonly swapped: string
  readonly made: ReadonlyArray<Placed>
  /** The number of DAGs that this choice stands for. */
  readonly ways: number
}

export interface Step {
  readonly leaders: ReadonlyArray<number>
  /** What the slots so far add to the key, and the same with the last leader's vertices numbered in reverse. */
  readonly prefix: readonly [name: string, swapped: string]
  /** By seat. */
  readonly options: ReadonlyArray<ReadonlyArray<Option>>
}

interface Candidate {
  readonly vertex: Vertex
  /** A copy of the vertex with another timestamp. */
  readonly again: (copy: number) => Vertex
  readonly parents: ReadonlyArray<Placed>
  /** DAGs are counted without older parents, since only parents that add to a history are tried. */
  readonly ways: number
}

interface Class {
  readonly candidate: Candidate
  readonly vote: number
  readonly history: number
  count: number
}

/** Enough to commit the leaders of three rounds in a row. */
const CALM_ROUNDS = 5

export const EMPTY: State = { rounds: [], leaders: [], slots: [], late: null }

export const scheduleOf = (leaders: ReadonlyArray<number>): Schedule => ({
  leaderOf: (round) => leaders[round - 1] ?? GUILTY,
})

export const UNDECIDED: Slot = { inView: null, inAll: null }

/** The vertices of a round's leader. */
const ledIn = (rounds: State["rounds"], leaders: ReadonlyArray<number>, round: number): Array<Placed> =>
  (rounds[round - 1] ?? []).filter(({ seat }) => seat === leaders[round - 1])

const MOST_COPIES = 3
const MOST_ROUNDS = 10

/** The bits of a history for certificates of a leader's vertices: of one by its position, or of all by default. */
const bitsOf = (round: number, copy?: number): number =>
  (copy === undefined ? (1 << MOST_COPIES) - 1 : 1 << copy) << (MOST_COPIES * round)

const last = <A>(items: ReadonlyArray<ReadonlyArray<A>>): ReadonlyArray<A> => items[items.length - 1] ?? []

/** The same vote if this many vertices of the leader are numbered in reverse. */
const fromTheEnd =
  (count: number) =>
  (vote: number): number =>
    vote === 0 ? 0 : count + 1 - vote

const nameOf = (vote: number, history: number): string => `${vote}.${history}`

const product = <A>(choices: ReadonlyArray<ReadonlyArray<A>>): ReadonlyArray<ReadonlyArray<A>> =>
  choices.reduce<ReadonlyArray<ReadonlyArray<A>>>(
    (all, options) => all.flatMap((chosen) => options.map((option) => [...chosen, option])),
    [[]],
  )

/** The latest vertex of an author. */
const latestOf = ({ rounds }: Pick<State, "rounds">, seat: number): Placed | undefined =>
  rounds
    .flat()
    .reverse()
    .find((placed) => placed.seat === seat)

/** An honest author whose late vertex the view lacks makes no more vertices there: they would name the late one. */
const isGone = ({ late }: State, seat: number): boolean => seat !== GUILTY && late?.seat === seat

export class Growth {
  readonly #builder: VertexBuilder
  /** How many vertices of lower rounds a vertex can name, besides its author's latest. */
  readonly #older: number
  readonly #copies: number
  /** No slot above this round can be committed within the bounds, so none is an anchor. */
  readonly #lastAnchor: number

  constructor(builder: VertexBuilder, { rounds, older, copies }: Bounds) {
    if (copies > MOST_COPIES || rounds > MOST_ROUNDS) throw new RangeError("a history has no bits for so many")
    this.#builder = builder
    this.#copies = copies
    this.#older = older
    this.#lastAnchor = rounds - 2
  }

  /** Whether the verdict of the first slot can depend on this one, either as the slot itself or as an anchor. */
  matters(round: number): boolean {
    return round === 1 || (round >= 4 && round <= this.#lastAnchor)
  }

  /** Whether the slot matters and is undecided. */
  isOpen(slots: ReadonlyArray<Slot>, round: number): boolean {
    return this.matters(round) && slots[round - 1]?.inView === null
  }

  /** The same state without what cannot affect the verdict of the first slot. */
  reduced(state: State): State {
    const { rounds, slots } = state
    const open = slots.reduce((mask, _, i) => (this.isOpen(slots, i + 1) ? mask | bitsOf(i + 1) : mask), 0)
    const last = rounds.length - 1
    const isVoting = this.isOpen(slots, last)
    return {
      ...state,
      rounds: rounds.map((round, i) =>
        round.map((placed) => {
          const vote = i === last && isVoting ? placed.vote : 0
          const history = i < this.#lastAnchor ? placed.history & open : 0
          return vote === placed.vote && history === placed.history ? placed : { ...placed, vote, history }
        }),
      ),
    }
  }

  /** All possible next rounds, for every leader of the last round. */
  *steps(state: State): Generator<Step, void, undefined> {
    const before = last(state.rounds)
    const candidates = SEATS.map((seat) => this.#candidates(state, seat))
    if (state.rounds.length === 0) yield this.#step(state, [], candidates)
    else if (this.#isQuorum(before)) {
      const leaders = this.matters(state.rounds.length) ? SEATS : [GUILTY]
      for (const leader of leaders) yield this.#step(state, [...state.leaders, leader], candidates)
    }
  }

  /** Two states have the same name exactly if the same verdicts can follow. */
  nameOf(state: State): string {
    const lower = { ...state, rounds: state.rounds.slice(0, -1) }
    const options = SEATS.map((seat): Option => {
      const made = last(state.rounds).filter((placed) => placed.seat === seat)
      const round = state.rounds.length
      const led = ledIn(state.rounds, state.leaders, round - 1)
      const names = namesOf(made, this.#oldOf(lower, seat, round), led.length)
      const [key, swapped] = made.length === 0 ? [this.#absent(state, seat, round)] : names
      return { key, swapped: swapped ?? key, made, ways: 1 }
    })
    return keyOf(this.#prefixesOf(state), options)
  }

  /** The histories of an author's lower vertices that others may still name. */
  #oldOf(state: State, seat: number, made: number, without?: Placed): string {
    if (this.#older === 0 || made >= this.#lastAnchor) return ""
    const old = state.rounds.flat().filter((placed) => placed.seat === seat && placed !== without && placed.history > 0)
    return [...new Set(old.map(({ history }) => history))].sort((a, b) => a - b).join(",")
  }

  /** An author without a vertex of this round, whose latest one may still be named. */
  #absent(state: State, seat: number, made: number): string {
    if (isGone(state, seat)) return `x~${this.#oldOf(state, seat, made)}`
    const latest = seat === GUILTY ? undefined : latestOf(state, seat)
    return `-${made < this.#lastAnchor ? (latest?.history ?? "") : ""}~${this.#oldOf(state, seat, made, latest)}`
  }

  /** The outcomes of the slots, and the histories of leaders that can still be the anchor of a slot below. */
  #prefixesOf({ rounds, leaders, slots }: State): Step["prefix"] {
    const nameOfSlot = (i: number, isSwapped: boolean): string => {
      const slot = slots[i]
      if (slot === undefined || !this.matters(i + 1)) return ""
      const led = ledIn(rounds, leaders, i + 1)
      if (isSwapped) led.reverse()
      const nameOfOutcome = (outcome: Outcome): string =>
        outcome === null
          ? "."
          : outcome === "skip"
            ? "s"
            : `${led.findIndex(({ vertex }) => vertex.header.hash === outcome)}`
      const histories = slot.inView === "skip" ? [] : led.map(({ history }) => history)
      return `${nameOfOutcome(slot.inView)}${nameOfOutcome(slot.inAll)}${histories.join("+")}`
    }
    const nameWith = (isSwapped: boolean): string =>
      slots.map((_, i) => nameOfSlot(i, isSwapped && i === slots.length - 1)).join(",")
    return [nameWith(false), nameWith(true)]
  }

  #isQuorum(placed: ReadonlyArray<Placed>): boolean {
    const { committee } = this.#builder
    const seats = new Set(placed.map(({ seat }) => seat))
    return committee.isQuorum([...seats].reduce((sum, seat) => sum + committee.weightOf(seat), 0))
  }

  /**
   * All vertices, followed by rounds in which all honest members name each other and their own latest vertices;
   * undefined if too few made the last round.
   */
  calm({ rounds, late }: State): State["rounds"] | undefined {
    const all = rounds.map((round, i) => (late?.vertex.header.round === i + 1 ? [...round, late] : round))
    if (!this.#isQuorum(last(all))) return undefined
    for (let i = 0; i < CALM_ROUNDS; i++) {
      const before = last(all)
      const honest = before.filter(({ seat }) => seat !== GUILTY)
      const fill = before.filter(({ seat }) => seat === GUILTY).slice(0, honest.length < HONEST.length ? 1 : 0)
      const made = HONEST.map((seat) => {
        const latest = latestOf({ rounds: all }, seat)
        const own = latest === undefined || honest.includes(latest) ? [] : [latest]
        const { vertex } = this.candidate(all.length + 1, seat, [...honest, ...fill, ...own])
        return { vertex, seat, vote: 0, history: 0 }
      })
      all.push(made)
    }
    return all
  }

  /** Every vertex that the rules of validity allow and, for an honest author, the rules of making vertices. */
  #candidates(state: State, seat: number): ReadonlyArray<Candidate> {
    if (isGone(state, seat)) return []
    if (state.rounds.length === 0) return [this.candidate(1, seat, [])]
    const before = last(state.rounds)
    const own = seat === GUILTY ? undefined : before.find((placed) => placed.seat === seat)
    const choices = SEATS.map((of): ReadonlyArray<Placed | undefined> => {
      if (of === seat && own !== undefined) return [own]
      return [undefined, ...before.filter((placed) => placed.seat === of)]
    })
    const latest = seat === GUILTY || own !== undefined ? undefined : latestOf(state, seat)
    return product(choices)
      .map((chosen) => chosen.filter((parent) => parent !== undefined))
      .filter((parents) => this.#isQuorum(parents))
      .map((parents) => (latest === undefined ? parents : [...parents, latest]))
      .flatMap((parents) =>
        this.#withOlder(state, seat, parents, this.#older).map((all) =>
          this.candidate(state.rounds.length + 1, seat, all, all === parents ? 1 : 0),
        ),
      )
  }

  /** Lower vertices that add to the history. Others would change no verdict. */
  #withOlder(
    state: State,
    seat: number,
    parents: ReadonlyArray<Placed>,
    most: number,
  ): ReadonlyArray<ReadonlyArray<Placed>> {
    if (most === 0) return [parents]
    const history = parents.reduce((sum, parent) => sum | parent.history, 0)
    const hasOwn = seat !== GUILTY || parents.some((parent) => parent.seat === seat)
    const seen = new Set([history])
    const more = state.rounds.slice(0, -1).flatMap((round) =>
      round.filter((placed) => {
        const added = history | placed.history
        if (seen.has(added) || (placed.seat === seat && hasOwn)) return false
        seen.add(added)
        return true
      }),
    )
    return [parents, ...more.flatMap((older) => this.#withOlder(state, seat, [...parents, older], most - 1))]
  }

  candidate(round: number, seat: number, parents: ReadonlyArray<Placed>, ways = 1): Candidate {
    const named = parents.map(({ vertex }) => parentOf(vertex))
    const make = (copy: number): Vertex => {
      const timestamp = Natural.timestamp(1_000 * round + MOST_COPIES * seat + copy)
      const vertex = this.#builder.make(seat, round, named, { timestamp })
      const checked = Validity.check(vertex, this.#builder.opening.base, this.#builder.committee)
      if (checked._tag === "Left") throw new Error(`made an invalid vertex: ${checked.left._tag}`)
      return vertex
    }
    return { vertex: make(0), again: make, parents, ways }
  }

  #step(state: State, leaders: ReadonlyArray<number>, candidates: ReadonlyArray<ReadonlyArray<Candidate>>): Step {
    const { committee } = this.#builder
    const dag = new Dag(committee)
    const committer = new Committer(dag, scheduleOf(leaders))
    for (const { vertex } of state.rounds.flat()) committer.add(dag.insert(vertex))
    const voted = state.rounds.length
    const led = this.matters(voted) ? ledIn(state.rounds, leaders, voted) : []
    const certifiable = this.isOpen(state.slots, voted - 1) ? ledIn(state.rounds, leaders, voted - 1) : []
    const bitOf = (hash: Hash | null): number => {
      const copy = certifiable.findIndex(({ vertex }) => vertex.header.hash === hash)
      return copy < 0 ? 0 : bitsOf(voted - 1, copy)
    }
    const classesOf = (seat: number): ReadonlyArray<Class> => {
      const classes = new Map<string, Class>()
      for (const candidate of candidates[seat] ?? []) {
        const node = dag.insert(candidate.vertex)
        committer.add(node)
        const vote = led.findIndex(({ vertex }) => vertex.header.hash === node.vote) + 1
        const inherited =
          voted >= this.#lastAnchor ? 0 : candidate.parents.reduce((sum, parent) => sum | parent.history, 0)
        const history = inherited | bitOf(node.certifies)
        const known = classes.get(nameOf(vote, history))
        if (known === undefined) classes.set(nameOf(vote, history), { candidate, vote, history, count: candidate.ways })
        else known.count += candidate.ways
      }
      return [...classes.values()]
    }
    return {
      leaders,
      prefix: this.#prefixesOf({ ...state, leaders, slots: [...state.slots, ...(voted > 0 ? [UNDECIDED] : [])] }),
      options: SEATS.map((seat) => {
        const absent = this.#absent(state, seat, voted + 1)
        const none: Option = { key: absent, swapped: absent, made: [], ways: 1 }
        const classes = classesOf(seat)
        const olds = this.#oldOf(state, seat, voted + 1)
        const most = seat === GUILTY ? this.#copies : 1
        return [none, ...choicesOf(classes, most).map((made) => optionOf(seat, made, olds, led.length))]
      }),
    }
  }
}

/** From one to `most` of these, with repetition. */
const choicesOf = <A>(items: ReadonlyArray<A>, most: number): ReadonlyArray<ReadonlyArray<A>> =>
  most === 0
    ? []
    : items.flatMap((item, i) => [[item], ...choicesOf(items.slice(i), most - 1).map((more) => [item, ...more])])

/** What an author made, and the same if this many vertices of the leader below are numbered in reverse. */
const namesOf = (
  made: ReadonlyArray<Placed>,
  olds: string,
  count: number,
): readonly [name: string, swapped: string] => {
  const nameWith = (rename: (vote: number) => number): string =>
    `${made
      .map(({ vote, history }) => nameOf(rename(vote), history))
      .sort()
      .join("+")}~${olds}`
  return [nameWith((vote) => vote), nameWith(fromTheEnd(count))]
}

const optionOf = (seat: number, classes: ReadonlyArray<Class>, olds: string, count: number): Option => {
  const made = classes.map(({ candidate, vote, history }, i): Placed => {
    const copy = i - classes.findIndex((other) => other.candidate === candidate)
    return { vertex: copy === 0 ? candidate.vertex : candidate.again(copy), seat, vote, history }
  })
  const [key, swapped] = namesOf(made, olds, count)
  // Counts combinations with repetition, since the order of interchangeable vertices does not matter.
  const ways = classes.reduce((product, each, i) => {
    const before = i - classes.indexOf(each)
    return (product * (each.count + before)) / (before + 1)
  }, 1)
  return { key, swapped, made, ways }
}

/** Joins the authors' choices. Honest ones are interchangeable: any of them can lead any later round. */
const joined = (prefix: string, honest: ReadonlyArray<string>, guilty: string): string =>
  `${prefix}|${[...honest].sort().join(" ")}|${guilty}`

/** The lesser of two names for the same state. */
export const keyOf = (prefix: Step["prefix"], [a, b, c, d]: ReadonlyArray<Option>): string => {
  if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error("not four options")
  const key = joined(prefix[0], [a.key, b.key, c.key], d.key)
  const swapped = joined(prefix[1], [a.swapped, b.swapped, c.swapped], d.swapped)
  return [key, swapped].sort()[0] ?? key
}
