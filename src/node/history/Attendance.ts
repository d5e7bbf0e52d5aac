/** In how many rounds each member of a committee made a vertex that became final, and in how many none, over time. */
import type { Address } from "../../protocol/identity/Address.js"
import * as Ranges from "./Ranges.js"

export interface Rounds {
  readonly made: number
  readonly missed: number
}

export interface Point {
  readonly at: number
  readonly members: ReadonlyMap<Address, Rounds>
}

interface Mutable extends Point {
  readonly members: Map<Address, Rounds>
}

export type Kept = Readonly<Record<Ranges.Name, ReadonlyArray<Point>>>

/** A committee has at most a hundred members, of whom an epoch replaces at most a quarter. A point knows no more than this. */
const MOST_MEMBERS = 250

const NONE: Rounds = { made: 0, missed: 0 }

const sum = (a: Rounds, b: Rounds): Rounds => ({ made: a.made + b.made, missed: a.missed + b.missed })

/** What was counted since then. One that lost its seat and has one again is counted from 0. */
const since = (before: Rounds, now: Rounds): Rounds =>
  now.made < before.made || now.missed < before.missed
    ? now
    : { made: now.made - before.made, missed: now.missed - before.missed }

export class Attendance {
  readonly #points: Record<Ranges.Name, Array<Mutable>>
  #before: ReadonlyMap<Address, Rounds> = new Map()

  constructor(kept: Kept) {
    const copied = (name: Ranges.Name) => kept[name].map(({ at, members }) => ({ at, members: new Map(members) }))
    this.#points = { hour: copied("hour"), day: copied("day"), year: copied("year") }
  }

  get points(): Kept {
    return this.#points
  }

  /** `members` are counts since the process began. */
  add(members: ReadonlyMap<Address, Rounds>, now: number): void {
    const news = [...members].flatMap(([address, rounds]) => {
      const counted = since(this.#before.get(address) ?? NONE, rounds)
      return counted.made + counted.missed === 0 ? [] : [{ address, counted }]
    })
    this.#before = new Map([...members].map(([address, { made, missed }]) => [address, { made, missed }]))
    if (news.length === 0) return
    for (const name of Ranges.names) {
      const point = Ranges.pointAt(this.#points[name], Ranges.attendance[name], now, (at) => ({
        at,
        members: new Map(),
      }))
      for (const { address, counted } of news) {
        const known = point.members.get(address)
        if (known === undefined && point.members.size >= MOST_MEMBERS) continue
        point.members.set(address, sum(known ?? NONE, counted))
      }
    }
  }

  /** Everybody's over a range. */
  totals(name: Ranges.Name): ReadonlyMap<Address, Rounds> {
    const totals = new Map<Address, Rounds>()
    for (const { members } of this.#points[name]) {
      for (const [address, rounds] of members) totals.set(address, sum(totals.get(address) ?? NONE, rounds))
    }
    return totals
  }

  /**
   * When the counting of a range began; none where nothing was counted. Of a shorter range, where its points are finer: the
   * first point of a day may be half an hour long and have begun with its last minute.
   */
  since(name: Ranges.Name): number | undefined {
    const [first] = this.#points[name]
    if (first === undefined) return undefined
    const end = first.at + Ranges.attendance[name].stepMs
    const finer = Ranges.names
      .slice(0, Ranges.names.indexOf(name))
      .flatMap((each) => this.#points[each].slice(0, 1).map(({ at }) => at))
    return Math.max(first.at, ...finer.filter((at) => at < end))
  }

  /** One member's, only where it had a seat. */
  of(address: Address, name: Ranges.Name): ReadonlyArray<Rounds & Ranges.Dated> {
    return this.#points[name].flatMap(({ at, members }) => {
      const rounds = members.get(address)
      return rounds === undefined ? [] : [{ at, ...rounds }]
    })
  }
}
