/**
 * Searches every DAG of four members, one of which can make several vertices per round, up to a number of rounds. The
 * production classes of `View` judge one DAG of each class of interchangeable ones.
 *
 * Views. What a member holds is a set of vertices with all their parents. The union of two such sets is one too, and
 * each of them grows into the union vertex by vertex, parents first. So it is enough that a single vertex never changes
 * a decision: every DAG without a vertex that no other names must have decided a prefix of what the whole DAG decides.
 * Then two views have decided prefixes of what their union decides, so one is a prefix of the other. The vertex that a
 * view lacks can be of any round: a state carries it as its late vertex while it makes a difference.
 *
 * Symmetry. The rule sees a member only as the author of vertices and the leader of rounds, and all weights are equal.
 * The search lets each of the four lead any round that matters, which includes the schedule of every seed. So
 * exchanging two honest members in a DAG and its leaders gives another searched DAG, and one of the two is enough.
 *
 * Slots. The verdict of a slot depends on nothing below it, and not on the two slots above it, which cannot be its
 * anchor. So every slot of a long DAG is the first slot of a shorter one, and a search ends once its first slot is
 * decided. A direct decision takes three rounds. A directly committed anchor takes six, one more for each anchor that
 * is skipped directly, and three more for each that needs an anchor itself.
 */
import type { OrderedCommit } from "../../../src/consensus/commit/Linearizer.js"
import type { Opening } from "../../../src/consensus/output/Opening.js"
import type { Vertex } from "../../../src/protocol/vertex/Vertex.js"
import { ReferenceCommitter } from "../ReferenceCommitter.js"
import { equalWeights, openingOf, recordOf, rules } from "../TestCommittee.js"
import { VertexBuilder } from "../VertexBuilder.js"
import * as Close from "./Close.js"
import {
  EMPTY,
  type Bounds as Growing,
  Growth,
  GUILTY,
  HONEST,
  keyOf,
  type Placed,
  SEATS,
  type State,
  scheduleOf,
  UNDECIDED,
} from "./Growth.js"
import { type Decided, type Outcome, View } from "./View.js"

export interface Bounds extends Growing {
  /** Whether whole members run every DAG to the close of its epoch. */
  readonly closes: boolean
}

export interface Report {
  /** Classes of DAGs, with a late vertex or without. */
  states: number
  /** DAGs that the production code judged. */
  judged: number
  /** Views that lack one vertex, each judged without it and then with it. */
  pairs: number
  /** Ways to add a round to a class, up to interchangeable vertices. */
  tried: number
  /** DAGs that members ran to the close of their epoch. */
  closed: number
  /**
   * By rounds: the number of DAGs with leaders that the classes stand for, whose first slot no lower round has decided.
   */
  readonly dags: Array<number>
  failure: string | null
}

interface Draft {
  readonly rounds: State["rounds"]
  readonly leaders: ReadonlyArray<number>
  readonly late: Placed | null
}

class Broken extends Error {}

const DEPTH = 2

/** Vitest gives up on a thread that is silent for a minute, so the search yields in between. */
const JUDGED_A_TURN = 100

/** Marks the end of a search among the positions in its queue. */
const ENDED = -1

const letterOf = (seat: number): string => "ABCD"[seat] ?? "?"

/** A DAG as text: one line per round, each vertex with its parents. */
const pictureOf = ({ rounds, leaders, late }: Pick<Draft, "rounds" | "leaders" | "late">): string => {
  const placed = [...rounds.flat(), ...(late === null ? [] : [late])]
  const names = new Map(
    placed.map(({ vertex: { header }, seat }) => {
      const others = placed.filter((other) => other.seat === seat && other.vertex.header.round === header.round)
      const mark = others.findIndex(({ vertex }) => vertex.header.hash === header.hash) > 0 ? "'" : ""
      return [header.hash, `${letterOf(seat)}${header.round}${mark}`]
    }),
  )
  const text = ({ vertex: { header } }: Placed): string =>
    `${names.get(header.hash)}(${header.parents.map(({ hash }) => names.get(hash) ?? "?").join(" ")})`
  const lines = rounds.map((round, i) => {
    const leader = leaders[i]
    return `${i + 1} [${leader === undefined ? "?" : letterOf(leader)}] ${round.map(text).join("  ")}`
  })
  return [...lines, ...(late === null ? [] : [`late: ${text(late)}`])].join("\n")
}

/** Second vertices that no honest one names, which may have to wait for a standstill. */
const unnamedIn = (rounds: Draft["rounds"]): number => {
  const honest = rounds.flat().filter(({ seat }) => seat !== GUILTY)
  const named = new Set(honest.flatMap(({ vertex }) => vertex.header.parents.map(({ hash }) => hash)))
  return rounds.reduce((sum, round) => {
    const made = round.filter(({ seat }) => seat === GUILTY)
    const free = made.filter(({ vertex }) => !named.has(vertex.header.hash)).length
    return sum + Math.min(free, Math.max(0, made.length - 1))
  }, 0)
}

const namesOf = (commits: ReadonlyArray<OrderedCommit>): ReadonlyArray<string> =>
  commits.map(({ commit, vertices, time }) =>
    [commit.hash, time, ...vertices.map(({ header }) => header.hash)].join(" "),
  )

const isPrefix = <A>(shorter: ReadonlyArray<A>, longer: ReadonlyArray<A>): boolean =>
  shorter.length <= longer.length && shorter.every((item, i) => item === longer[i])

const outcomesOf = ({ released, pending }: Decided): ReadonlyArray<Outcome> => [...released, ...pending]

/** Orders of arrival: parents first, children first, one author after the other. */
const ARRIVALS: ReadonlyArray<(vertices: ReadonlyArray<Vertex>) => ReadonlyArray<Vertex>> = [
  (vertices) => vertices,
  (vertices) => [...vertices].reverse(),
  (vertices) =>
    [...vertices].sort((a, b) => {
      const [first, second] = [a.header, b.header]
      return first.author !== second.author ? (first.author < second.author ? -1 : 1) : second.round - first.round
    }),
]

export class Search {
  readonly #bounds: Bounds
  readonly #opening: Opening
  readonly #builder: VertexBuilder
  readonly #growth: Growth
  /** The position of each named state in the queue. */
  readonly #known = new Map<string, number>()
  readonly #queue: Array<State | undefined> = []
  /** By the key of a step: the state without a late vertex that it leads to; undefined if the search ends there. */
  readonly #judged = new Map<string, number | undefined>()
  /** How a state without a late vertex continues, for counting. */
  readonly #ways: Array<ReadonlyMap<number, number>> = []
  readonly #report: Report = {
    ...{ states: 0, judged: 0, pairs: 0, tried: 0, closed: 0 },
    ...{ dags: [], failure: null },
  }

  constructor(bounds: Bounds) {
    this.#bounds = bounds
    const record = recordOf(equalWeights(SEATS.length), { rules: { ...rules, collectionDepthRounds: DEPTH } })
    this.#opening = openingOf(record)
    this.#builder = new VertexBuilder(this.#opening)
    this.#growth = new Growth(this.#builder, bounds)
  }

  async run(): Promise<Report> {
    try {
      this.#meet(EMPTY)
      for (let i = 0; i < this.#queue.length; i++) {
        const state = this.#queue[i]
        this.#queue[i] = undefined
        this.#ways.push(state === undefined ? new Map() : await this.#goOn(state))
        this.#report.states++
      }
      this.#count()
    } catch (cause) {
      // An exception that a broken rule causes in the production code is a finding too.
      this.#report.failure = cause instanceof Error ? cause.message : String(cause)
    }
    return this.#report
  }

  #meet(state: State): number {
    const name = this.#growth.nameOf(state)
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const place = this.#queue.push(state) - 1
    this.#known.set(name, place)
    this.#calm(state)
    return place
  }

  async #goOn(state: State): Promise<ReadonlyMap<number, number>> {
    const ways = new Map<number, number>()
    if (state.rounds.length >= this.#bounds.rounds || (state.slots[0] ?? UNDECIDED).inView !== null) return ways
    for (const { leaders, prefix, options } of this.#growth.steps(state)) {
      const [first = [], second = [], third = [], guilty = []] = options
      for (const a of first) {
        for (const b of second) {
          for (const c of third) {
            for (const d of guilty) {
              this.#report.tried++
              const key = keyOf(prefix, [a, b, c, d])
              if (!this.#judged.has(key)) {
                const round = [...a.made, ...b.made, ...c.made, ...d.made]
                const draft = { rounds: [...state.rounds, round], leaders, late: state.late }
                this.#judged.set(key, this.#judge(draft))
                if (this.#report.judged % JUDGED_A_TURN === 0) await new Promise((resolve) => setImmediate(resolve))
              }
              const to = this.#judged.get(key)
              if (to !== undefined) ways.set(to, (ways.get(to) ?? 0) + a.ways * b.ways * c.ways * d.ways)
            }
          }
        }
      }
    }
    return ways
  }

  /** Lets the production code judge a DAG. Returns where the search continues. */
  #judge(draft: Draft): number | undefined {
    this.#report.judged++
    return draft.late === null ? this.#judgeWhole(draft) : this.#judgeLate(draft, draft.late)
  }

  #judgeWhole(draft: Draft): number | undefined {
    const top = draft.rounds[draft.rounds.length - 1] ?? []
    if (top.length === 0) return undefined
    const runs = top.map((late, i) => {
      const rounds = [...draft.rounds.slice(0, -1), top.filter((placed) => placed !== late)]
      const without = { ...draft, rounds, late }
      return { without, ...this.#lateOne(without, late, i) }
    })
    const [first] = runs
    if (first === undefined) return undefined
    for (const { inAll } of runs) this.#sameDecided(draft, first.inAll, inAll)
    if (draft.rounds.length === this.#bounds.rounds) return ENDED
    for (const { without, inView, inAll } of runs) {
      if (!this.#addsNothing(inView, inAll)) this.#meet(this.#reduce(without, inView, inAll))
    }
    return this.#meet(this.#reduce(draft, first.inAll, first.inAll))
  }

  #judgeLate(draft: Draft, late: Placed): undefined {
    const { inView, inAll } = this.#lateOne(draft, late, this.#report.judged)
    const everything = [...draft.rounds.flat(), late].map(({ vertex }) => vertex)
    const view = this.#view(draft)
    view.receive(everything)
    view.standStill()
    this.#sameDecided(draft, inAll, view.decided)
    if (!this.#addsNothing(inView, inAll)) this.#meet(this.#reduce(draft, inView, inAll))
  }

  /** Whether a late vertex has decided nothing that matters. */
  #addsNothing(inView: Decided, inAll: Decided): boolean {
    const before = outcomesOf(inView)
    return outcomesOf(inAll).every((outcome, i) => !this.#growth.matters(i + 1) || outcome === (before[i] ?? null))
  }

  #view({ leaders }: Pick<Draft, "leaders">): View {
    return new View(this.#opening, this.#builder.committee, scheduleOf(leaders))
  }

  /** A view, and then one more vertex, which must not change a decision. */
  #lateOne(draft: Draft, late: Placed, i: number): { readonly inView: Decided; readonly inAll: Decided } {
    this.#report.pairs++
    const vertices = draft.rounds.flat().map(({ vertex }) => vertex)
    const view = this.#view(draft)
    view.receive(ARRIVALS[i % ARRIVALS.length]?.(vertices) ?? [])
    if (view.held.waiting > unnamedIn(draft.rounds)) this.#fail(draft, "keeps a vertex waiting that is named")
    view.standStill()
    const inView = view.decided
    view.receive([late.vertex])
    const inAll = view.decided
    const { inserted, waiting } = view.held
    const entered = vertices.filter(({ header }) => header.round > view.collectedRound).length
    if (waiting > 0 || inserted < entered) this.#fail(draft, `${waiting} vertices wait, ${inserted} have entered`)
    if (view.hasContradiction) this.#fail(draft, "found a contradiction")
    if (!isPrefix(inView.released, inAll.released)) this.#fail(draft, "released a verdict that changed", inView, inAll)
    const [before, after] = [outcomesOf(inView), outcomesOf(inAll)]
    if (!before.every((outcome, slot) => outcome === null || outcome === after[slot])) {
      this.#fail(draft, "reached a verdict that changed", inView, inAll)
    }
    if (!isPrefix(namesOf(inView.commits), namesOf(inAll.commits))) this.#fail(draft, "ordered it otherwise")
    // If the last of three consecutive decided slots is committed, it decides everything below.
    const isDecided = inAll.pending.map((outcome) => outcome !== null)
    const mustRelease = inAll.pending.findIndex(
      (outcome, slot) => outcome !== null && outcome !== "skip" && isDecided[slot - 1] && isDecided[slot - 2],
    )
    if (mustRelease >= 0) this.#fail(draft, "holds back what is decided", inAll)
    return { inView, inAll }
  }

  #sameDecided(draft: Draft, first: Decided, second: Decided): void {
    if (outcomesOf(first).join() !== outcomesOf(second).join()) this.#fail(draft, "depends on arrival", first, second)
    if (namesOf(first.commits).join() !== namesOf(second.commits).join()) {
      this.#fail(draft, "orders by arrival", first, second)
    }
  }

  #reduce({ rounds, leaders, late }: Draft, view: Decided, all: Decided): State {
    const [inView, inAll] = [outcomesOf(view), outcomesOf(all)]
    const slots = leaders.map((_, i) => ({ inView: inView[i] ?? null, inAll: inAll[i] ?? null }))
    return this.#growth.reduced({ rounds, leaders, slots, late })
  }

  /**
   * A few calm rounds decide any DAG: they commit the leaders of three consecutive rounds, and so everything below. For
   * a view that ends earlier, its last slots may stay undecided.
   */
  #calm(state: State): void {
    const rounds = this.#growth.calm(state)
    if (rounds === undefined) return
    const lastStormy = state.rounds.length
    const leaders = [...state.leaders, GUILTY, ...HONEST]
    const draft = { rounds, leaders, late: null }
    const vertices = rounds.flat().map(({ vertex }) => vertex)
    const view = this.#view(draft)
    view.receive(vertices)
    view.standStill()
    const { released, commits } = view.decided
    const calm = HONEST.map((seat) => rounds[lastStormy + seat]?.[seat]?.vertex.header.hash)
    if (!isPrefix(calm, released.slice(lastStormy))) this.#fail(draft, "is not decided by calm rounds", view.decided)
    this.#sameAsDefined(draft, vertices, released)
    this.#inOrder(draft, vertices, commits)
    if (!this.#bounds.closes) return
    try {
      const mattering = state.leaders.map((leader, i) => [i + 1, leader] as const)
      const fixed = new Map(mattering.filter(([round]) => this.#growth.matters(round)))
      const late = state.late?.vertex ?? null
      Close.judge({ opening: this.#opening, rounds, leaders: fixed, lastStormy, late })
      this.#report.closed++
    } catch (cause) {
      this.#fail(draft, cause instanceof Error ? cause.message : String(cause))
    }
  }

  #sameAsDefined(draft: Draft, vertices: ReadonlyArray<Vertex>, released: ReadonlyArray<Outcome>): void {
    const reference = new ReferenceCommitter(this.#builder.committee, scheduleOf(draft.leaders), vertices)
    const defined = reference
      .released()
      .map((verdict) => (verdict._tag === "Commit" ? verdict.leader.header.hash : "skip"))
    if (defined.join() !== released.join()) this.#fail(draft, "is not what the rule says")
  }

  /** Each commit orders its leader's history above the collection depth, except what earlier commits have ordered. */
  #inOrder(draft: Draft, vertices: ReadonlyArray<Vertex>, commits: ReadonlyArray<OrderedCommit>): void {
    const byHash = new Map(vertices.map((vertex) => [vertex.header.hash, vertex]))
    const ordered = new Set<Vertex>()
    let above = 0
    for (const { commit, vertices: sequence } of commits) {
      const leader = byHash.get(commit.leaderHash)
      const history = new Set(leader === undefined ? [] : [leader])
      for (const { header } of history) {
        for (const { hash } of header.parents) {
          const parent = byHash.get(hash)
          if (parent !== undefined && parent.header.round > above && !ordered.has(parent)) history.add(parent)
        }
      }
      const isSame = sequence.length === history.size && sequence.every((vertex) => history.has(vertex))
      const rises = sequence.every(({ header }, i) => header.round >= (sequence[i - 1]?.header.round ?? 0))
      if (!isSame || !rises) this.#fail(draft, `commit ${commit.index} orders something else`)
      for (const vertex of sequence) ordered.add(vertex)
      above = Math.max(0, commit.leaderRound - DEPTH)
    }
  }

  #count(): void {
    let paths = new Map([[0, 1]])
    for (let rounds = 1; rounds <= this.#bounds.rounds; rounds++) {
      const longer = new Map<number, number>()
      for (const [from, count] of paths) {
        for (const [to, ways] of this.#ways[from] ?? []) longer.set(to, (longer.get(to) ?? 0) + count * ways)
      }
      paths = longer
      this.#report.dags.push([...paths.values()].reduce((sum, count) => sum + count, 0))
    }
  }

  #fail(draft: Draft, what: string, ...decided: ReadonlyArray<Decided>): never {
    const outcomes = decided.map((each) =>
      outcomesOf(each)
        .map((outcome) => outcome?.slice(0, 6) ?? "?")
        .join(" "),
    )
    throw new Broken([what, ...outcomes, pictureOf(draft)].join("\n"))
  }
}

export const search = (bounds: Bounds): Promise<Report> => new Search(bounds).run()
