/** Inbound connections that have not greeted yet: few, for a short time, and not all from one party. */

import * as AddressGroup from "../AddressGroup.js"
import { Allowance, type Rate } from "../Allowance.js"
import * as Places from "../Places.js"

interface Arrival extends Places.Ungreeted {
  cut: () => void
}

/** Each costs a handshake, and one host's connections share this. A committee on one machine arrives all at once. */
const PER_HOST: Rate = { burst: 128, perSecond: 8 }
/** A network may have so many times what each of its parts may: one part leaves something to the others. */
const PARTS = 2
/** Hosts whose rate is remembered, and as many networks of each size. Whoever has more hosts has them in few networks. */
const MAX_REMEMBERED = 4_096

/** Allowances of networks of one size. */
class Allowances {
  readonly #all = new Map<string, Allowance>()

  of(network: string, rate: Rate, now: number): Allowance {
    const allowance = this.#all.get(network) ?? new Allowance(rate, now)
    // The least recently used one goes: a map iterates in that order.
    this.#all.delete(network)
    const [oldest] = this.#all.keys()
    if (this.#all.size >= MAX_REMEMBERED && oldest !== undefined) this.#all.delete(oldest)
    this.#all.set(network, allowance)
    return allowance
  }
}

const rateOf = (parts: number): Rate => {
  const times = PARTS ** parts
  return { burst: PER_HOST.burst * times, perSecond: PER_HOST.perSecond * times }
}

/** By how many times a network of that size is divided until it is a host. */
const RATES: ReadonlyArray<Rate> = [0, 1, 2, 3].map(rateOf)

const nothing = () => {}

export class Arrivals {
  readonly #limitMs: number
  readonly #now: () => number
  /** By remote address, including the port. */
  readonly #waiting = new Map<string, Arrival>()
  /** Of hosts, and of ever wider networks. */
  readonly #allowances = RATES.map((rate) => ({ rate, all: new Allowances() }))

  constructor(limitMs: number, now: () => number) {
    this.#limitMs = limitMs
    this.#now = now
  }

  /** Whether a connection may be opened; another one that has not greeted may be cut for it. */
  comes(address: string, host: string): boolean {
    const now = this.#now()
    this.sweep()
    const allowances = this.#allowancesOf(host, now)
    // A refused connection costs nothing and runs up no debt: other peers may come from the same host, even after a
    // flood.
    if (allowances.some((allowance) => allowance.take(0, now) > 0)) return false
    const opening = Places.open([...this.#waiting.values()], host, now)
    if (opening._tag === "Full") return false
    for (const allowance of allowances) allowance.take(1, now)
    if (opening._tag === "InsteadOf") this.#cut(opening.id)
    this.#waiting.set(address, { id: address, host, since: now, cut: nothing })
    return true
  }

  #allowancesOf(host: string, now: number): ReadonlyArray<Allowance> {
    const networks = AddressGroup.networksOf(AddressGroup.hostGroup(host)).toReversed()
    return this.#allowances.flatMap(({ rate, all }, i) => {
      const network = networks[i]
      return network === undefined ? [] : [all.of(network, rate, now)]
    })
  }

  /** Records how to cut it. A connection that did not pass `comes` is unknown here. */
  arrived(address: string, cut: () => void): void {
    const arrival = this.#waiting.get(address)
    if (arrival !== undefined) arrival.cut = cut
  }

  /** It has greeted, or is gone. */
  done(address: string): void {
    this.#waiting.delete(address)
  }

  /** Cuts connections that did not greet in time. */
  sweep(): void {
    const before = this.#now() - this.#limitMs
    for (const { id, since } of this.#waiting.values()) if (since < before) this.#cut(id)
  }

  #cut(id: string): void {
    const arrival = this.#waiting.get(id)
    this.#waiting.delete(id)
    arrival?.cut()
  }
}
