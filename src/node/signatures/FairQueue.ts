/**
 * Hands out peers' work in fair turns. Committee members get most of the capacity, then gossip relayed by them and by
 * named peers, then named peers, then strangers; unused shares go to the others. Within a class, the network that has
 * cost least is next, and within that the peer that has. So a thousand pieces from one peer, or a hundred peers from
 * one network, delay another's single piece by at most one turn. Costs are charged after the work, in any unit, or
 * before it if known.
 */
import type { Standing } from "../../network/Standing.js"

/** `relayed`: gossip signed by others. Honest peers relay it, so it must not use up the peer's own turns. */
export type Rank = Standing | "relayed"

/** The shares while all classes have work: newcomers must get in however busy the members are. */
export const SHARES: { readonly [rank in Rank]: number } = { member: 12, relayed: 3, named: 3, stranger: 1 }

/** The owner of a piece of work. A peer that becomes a member leaves its old work in its old class. */
export interface Owner {
  readonly peer: string
  readonly standing: Rank
  /** Peers of one network share its turns; a peer without one has its own. */
  readonly network?: string
}

interface Part {
  /** The cost so far, divided by the share. */
  used: number
  waiting: number
}

/** With more parts than this, those without work and debts are forgotten. */
const MANY = 64

/** Parts that take turns: the classes, the networks of a class, the peers of a network. */
class Parts<P extends Part> {
  readonly all: Map<string, P>
  /** The cost so far of the part served last. New parts start here, and idle ones cannot save up. */
  #floor = 0

  constructor(all: Iterable<readonly [string, P]> = []) {
    this.all = new Map(all)
  }

  /** The named part, which gets a piece. */
  woken(name: string, make: () => P): P {
    const part = this.met(name, make)
    if (part.waiting++ === 0) part.used = Math.max(part.used, this.#floor)
    return part
  }

  met(name: string, make: () => P): P {
    const known = this.all.get(name)
    if (known !== undefined) return known
    const part = make()
    part.used = this.#floor
    this.all.set(name, part)
    return part
  }

  served(part: P): void {
    this.#floor = part.used
    part.waiting--
  }

  /** Forgets parts without work and debts; all, once none has work. */
  forget(isIdle: boolean): void {
    if (isIdle) this.all.clear()
    if (this.all.size <= MANY) return
    for (const [name, { used, waiting }] of this.all) if (waiting === 0 && used <= this.#floor) this.all.delete(name)
  }
}

interface Line<A> extends Part {
  readonly owner: Owner
  readonly items: Array<A>
}

interface Net<A> extends Part {
  readonly lines: Parts<Line<A>>
}

interface Class<A> extends Part {
  readonly nets: Parts<Net<A>>
}

const netOf = ({ peer, network = peer }: Owner): string => network
const newNet = <A>(): Net<A> => ({ used: 0, waiting: 0, lines: new Parts() })
const newLine = <A>(owner: Owner): Line<A> => ({ owner, items: [], used: 0, waiting: 0 })

export class FairQueue<A> {
  readonly #classes: { readonly [rank in Rank]: Class<A> } = {
    member: { used: 0, waiting: 0, nets: new Parts() },
    relayed: { used: 0, waiting: 0, nets: new Parts() },
    named: { used: 0, waiting: 0, nets: new Parts() },
    stranger: { used: 0, waiting: 0, nets: new Parts() },
  }
  readonly #order = new Parts<Class<A>>(Object.entries(this.#classes))

  get size(): number {
    return Object.values(this.#classes).reduce((sum, { waiting }) => sum + waiting, 0)
  }

  get peers(): ReadonlySet<string> {
    const nets = Object.values(this.#classes).flatMap(({ nets }) => [...nets.all.values()])
    const lines = nets.flatMap(({ lines }) => [...lines.all.values()])
    return new Set(lines.filter(({ waiting }) => waiting > 0).map(({ owner }) => owner.peer))
  }

  sizeOf(owner: Owner): number {
    return this.#classes[owner.standing].nets.all.get(netOf(owner))?.lines.all.get(owner.peer)?.waiting ?? 0
  }

  push(owner: Owner, item: A): void {
    this.#lineFor(owner).items.push(item)
  }

  /** Puts the rest of a begun piece before everything else of this peer. */
  pushFirst(owner: Owner, item: A): void {
    this.#lineFor(owner).items.unshift(item)
  }

  #lineFor(owner: Owner): Line<A> {
    const { nets } = this.#order.woken(owner.standing, () => this.#classes[owner.standing])
    return nets.woken(netOf(owner), newNet<A>).lines.woken(owner.peer, () => newLine(owner))
  }

  /** The next piece, among owners that may have a turn now. */
  next(mayHave: (owner: Owner) => boolean = () => true): { readonly owner: Owner; readonly item: A } | undefined {
    const classes = Object.values(this.#classes)
      .filter(({ waiting }) => waiting > 0)
      .sort((a, b) => a.used - b.used)
    for (const one of classes) {
      const least = leastUsed(one, mayHave)
      const item = least?.line.items.shift()
      if (least === undefined || item === undefined) continue
      const { net, line } = least
      this.#order.served(one)
      one.nets.served(net)
      net.lines.served(line)
      tidy(one, net)
      return { owner: line.owner, item }
    }
    return undefined
  }

  charge(owner: Owner, cost: number): void {
    const one = this.#classes[owner.standing]
    one.used += cost / SHARES[owner.standing]
    // With nothing waiting, debts delay nobody.
    if (one.waiting === 0) return
    const net = one.nets.met(netOf(owner), newNet<A>)
    net.used += cost
    if (net.waiting > 0) net.lines.met(owner.peer, () => newLine(owner)).used += cost
  }

  /** Drops the work of a peer that is gone, and returns it. */
  drop(peer: string): ReadonlyArray<A> {
    const dropped: Array<A> = []
    for (const one of Object.values(this.#classes)) {
      for (const net of one.nets.all.values()) {
        const items = net.lines.all.get(peer)?.items ?? []
        net.waiting -= items.length
        one.waiting -= items.length
        dropped.push(...items)
        net.lines.all.delete(peer)
        tidy(one, net)
      }
    }
    return dropped
  }
}

const tidy = <A>({ nets, waiting }: Class<A>, net: Net<A>): void => {
  net.lines.forget(net.waiting === 0)
  nets.forget(waiting === 0)
}

const leastUsed = <A>({ nets }: Class<A>, mayHave: (owner: Owner) => boolean) => {
  let least: { readonly net: Net<A>; readonly line: Line<A> } | undefined
  for (const net of nets.all.values()) {
    if (net.waiting === 0 || (least !== undefined && net.used > least.net.used)) continue
    for (const line of net.lines.all.values()) {
      const isBehind = least !== undefined && net.used === least.net.used && line.used >= least.line.used
      if (line.waiting > 0 && !isBehind && mayHave(line.owner)) least = { net, line }
    }
  }
  return least
}
