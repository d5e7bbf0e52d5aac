/**
 * Hands out peers' work in fair turns. Members of the committee get most of the capacity, then what they and named peers
 * pass on of others, then peers that the operator named, then strangers; a class leaves what it does not use to the others. Within a class the peer that has cost least
 * so far is next, so that a thousand pieces from one peer delay another peer's single piece by at most one turn. Costs
 * are charged after the work, in any unit, or before it if they are known.
 */
import type { Standing } from "../../network/Standing.js"

/** `relayed`: gossip that others signed. An honest peer passes it on, so it must not cost the peer's own work its turns. */
export type Rank = Standing | "relayed"

/** The shares while all classes have work: newcomers must get in however busy the members are. */
export const SHARES: { readonly [rank in Rank]: number } = { member: 12, relayed: 3, named: 3, stranger: 1 }

/** The owner of a piece of work. A peer that becomes a member leaves its old work in its old class. */
export interface Owner {
  readonly peer: string
  readonly standing: Rank
}

interface Line<A> {
  readonly owner: Owner
  items: Array<A>
  /** The cost of this peer so far. */
  used: number
}

class Class<A> {
  readonly lines = new Map<string, Line<A>>()
  readonly share: number
  /** The cost of the class so far, divided by its share. */
  used = 0
  /** The cost so far of the peer served last: a newcomer does not start further behind. */
  floor = 0
  waiting = 0

  constructor(share: number) {
    this.share = share
  }

  line(owner: Owner): Line<A> {
    const known = this.lines.get(owner.peer)
    if (known !== undefined) return known
    const line = { owner, items: [], used: this.floor }
    this.lines.set(owner.peer, line)
    return line
  }

  /** Forgets idle peers without debts; all peers, once none waits. */
  forget(): void {
    for (const [peer, { items, used }] of this.lines) {
      if (items.length === 0 && (this.waiting === 0 || used <= this.floor)) this.lines.delete(peer)
    }
  }
}

/** Idle peers that are remembered before a clean-up. */
const MANY_LINES = 64

export class FairQueue<A> {
  readonly #classes: { readonly [rank in Rank]: Class<A> } = {
    member: new Class(SHARES.member),
    relayed: new Class(SHARES.relayed),
    named: new Class(SHARES.named),
    stranger: new Class(SHARES.stranger),
  }
  #floor = 0

  get size(): number {
    return Object.values(this.#classes).reduce((sum, { waiting }) => sum + waiting, 0)
  }

  /** Peers that wait for something. */
  get peers(): ReadonlySet<string> {
    const lines = Object.values(this.#classes).flatMap((group) => [...group.lines.values()])
    return new Set(lines.filter(({ items }) => items.length > 0).map(({ owner }) => owner.peer))
  }

  sizeOf({ peer, standing }: Owner): number {
    return this.#classes[standing].lines.get(peer)?.items.length ?? 0
  }

  push(owner: Owner, item: A): void {
    this.#lineFor(owner).items.push(item)
  }

  /** Goes before everything else of this peer: the rest of a piece that was begun. */
  pushFirst(owner: Owner, item: A): void {
    this.#lineFor(owner).items.unshift(item)
  }

  #lineFor(owner: Owner): Line<A> {
    const group = this.#classes[owner.standing]
    // An idle class saves up nothing.
    if (group.waiting === 0) group.used = Math.max(group.used, this.#floor)
    const line = group.line(owner)
    if (line.items.length === 0) line.used = Math.max(line.used, group.floor)
    group.waiting++
    return line
  }

  /** The next piece, among owners that may have a turn now. */
  next(mayHave: (owner: Owner) => boolean = () => true): { readonly owner: Owner; readonly item: A } | undefined {
    const groups = Object.values(this.#classes)
      .filter(({ waiting }) => waiting > 0)
      .sort((a, b) => a.used - b.used)
    for (const group of groups) {
      const line = leastUsed(group, mayHave)
      const item = line?.items.shift()
      if (line === undefined || item === undefined) continue
      this.#floor = group.used
      group.floor = line.used
      group.waiting--
      if (group.lines.size > MANY_LINES || group.waiting === 0) group.forget()
      return { owner: line.owner, item }
    }
    return undefined
  }

  /** Charges this peer for a piece of its work. */
  charge(owner: Owner, cost: number): void {
    const group = this.#classes[owner.standing]
    group.used += cost / group.share
    const line = group.lines.get(owner.peer)
    if (line !== undefined) line.used += cost
    else if (group.waiting > 0) group.line(owner).used += cost
  }

  /** This peer is gone, and its work is no longer needed. Returns what was waiting. */
  drop(peer: string): ReadonlyArray<A> {
    const dropped: Array<A> = []
    for (const group of Object.values(this.#classes)) {
      const items = group.lines.get(peer)?.items ?? []
      group.waiting -= items.length
      dropped.push(...items)
      group.lines.delete(peer)
    }
    return dropped
  }
}

const leastUsed = <A>({ lines }: Class<A>, mayHave: (owner: Owner) => boolean): Line<A> | undefined => {
  let least: Line<A> | undefined
  for (const line of lines.values()) {
    if (line.items.length === 0 || (least !== undefined && line.used >= least.used) || !mayHave(line.owner)) continue
    least = line
  }
  return least
}
