/**
 * Over time, for each committee member: rounds in which its vertex became final, rounds in which none did, and its
 * delegated stake.
 */
import type { Address } from "../../protocol/identity/Address.js"
import type { Sats } from "../../protocol/numbers/Sats.js"
import * as Ranges from "./Ranges.js"

export interface Rounds {
  readonly made: number
  readonly missed: number
}

export interface Backing {
  readonly delegators: number
  readonly delegated: Sats
}

export interface Point {
  readonly at: number
  readonly members: ReadonlyMap<Address, Rounds>
  /** At the end of the point. Empty in points of earlier versions. */
  readonly backing: ReadonlyMap<Address, Backing>
}

interface Mutable extends Point {
  readonly members: Map<Address, Rounds>
  readonly backing: Map<Address, Backing>
}

export interface Past extends Rounds, Ranges.Dated {
  readonly backing: Backing | undefined
}

export type Kept = Readonly<Record<Ranges.Name, ReadonlyArray<Point>>>

/** Limit of members per point. A committee has at most 100 members, of whom an epoch replaces at most a quarter. */
const MOST_MEMBERS = 250

const NONE: Rounds = { made: 0, missed: 0 }

const sum = (a: Rounds, b: Rounds): Rounds => ({ made: a.made + b.made, missed: a.missed + b.missed })

/** The rounds counted since then. A member that lost its seat and regained it is counted from 0. */
const since = (before: Rounds, now: Rounds): Rounds =>
  now.made < before.made || now.missed < before.missed
    ? now
    : { made: now.made - before.made, missed: now.missed - before.missed }

export class Attendance {
  readonly #points: Record<Ranges.Name, Array<Mutable>>
  #before: ReadonlyMap<Address, Rounds> = new Map()

  constructor(kept: Kept) {
    const copied = (name: Ranges.Name) =>
      kept[name].map(({ at, members, backing }) => ({ at, members: new Map(members), backing: new Map(backing) }))
    this.#points = { hour: copied("hour"), day: copied("day"), year: copied("year") }
  }

  get points(): Kept {
    return this.#points
  }

  /** `members`: counts since the process began. A member's backing is read only when a round of it was counted. */
  add(members: ReadonlyMap<Address, Rounds>, backingOf: (member: Address) => Backing, now: number): void {
    const news = [...members].flatMap(([address, rounds]) => {
      const counted = since(this.#before.get(address) ?? NONE, rounds)
      return counted.made + counted.missed === 0 ? [] : [{ address, counted, backing: backingOf(address) }]
    })
    this.#before = new Map([...members].map(([address, { made, missed }]) => [address, { made, missed }]))
    if (news.length === 0) return
    for (const name of Ranges.names) {
      const point = Ranges.pointAt(this.#points[name], Ranges.attendance[name], now, (at) => ({
        at,
        members: new Map(),
        backing: new Map(),
      }))
      for (const { address, counted, backing } of news) {
        const known = point.members.get(address)
        if (known === undefined && point.members.size >= MOST_MEMBERS) continue
        point.members.set(address, sum(known ?? NONE, counted))
        point.backing.set(address, backing)
      }
    }
  }

  totals(name: Ranges.Name): ReadonlyMap<Address, Rounds> {
    const totals = new Map<Address, Rounds>()
    for (const { members } of this.#points[name]) {
      for (const [address, rounds] of members) totals.set(address, sum(totals.get(address) ?? NONE, rounds))
    }
    return totals
  }

  /**
   * When counting in a range began; undefined if nothing was counted. Uses the finer points of shorter ranges: a day's
   * first point may span half an hour and have begun in its last minute.
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

  /** One member's points, where it had a seat. */
  of(address: Address, name: Ranges.Name): ReadonlyArray<Past> {
    return this.#points[name].flatMap(({ at, members, backing }) => {
      const rounds = members.get(address)
      return rounds === undefined ? [] : [{ at, ...rounds, backing: backing.get(address) }]
    })
  }
}
