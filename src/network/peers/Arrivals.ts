/** Limits inbound connections that have not greeted yet: in number, in time, and by origin. */

import * as AddressGroup from "../AddressGroup.js"
import { Allowance, type Rate } from "../Allowance.js"
import * as ConnectionSlots from "../ConnectionSlots.js"
import type { Clock } from "./Clock.js"

interface Arrival extends ConnectionSlots.Ungreeted {
  readonly isKnown: boolean
  cut: () => void
}

/**
 * Rates for one host and for each wider network around it, so that no part uses up the rest. Each connection costs a
 * handshake of nearly a millisecond. The bursts fit a committee on one machine, which arrives all at once.
 */
const RATES: ReadonlyArray<Rate> = [
  { burst: 128, perSecond: 8 },
  { burst: 192, perSecond: 16 },
  { burst: 256, perSecond: 32 },
  { burst: 384, perSecond: 64 },
]
/** For all hosts together: a tenth of a core. */
const TOGETHER: Rate = { burst: 512, perSecond: 100 }
/** Limit of remembered networks of each size. An attacker with more hosts has them in few networks. */
const MAX_REMEMBERED = 4_096

class Allowances {
  readonly #all = new Map<string, Allowance>()

  of(network: string, rate: Rate, now: number): Allowance {
    const allowance = this.#all.get(network) ?? new Allowance(rate, now)
    // Drops the least recently used network: a map iterates in insertion order.
    this.#all.delete(network)
    const [oldest] = this.#all.keys()
    if (this.#all.size >= MAX_REMEMBERED && oldest !== undefined) this.#all.delete(oldest)
    this.#all.set(network, allowance)
    return allowance
  }
}

/** An allowance, and the present by its clock. */
interface Limit {
  readonly allowance: Allowance
  readonly at: number
}

const nothing = () => {}

export class Arrivals {
  readonly #limitMs: number
  readonly #clock: Pick<Clock, "now" | "spareNow">
  /** By remote address, including the port. */
  readonly #waiting = new Map<string, Arrival>()
  readonly #allowances = RATES.map((rate) => ({ rate, all: new Allowances() }))
  readonly #together: Allowance
  readonly #isKnown: (host: string) => boolean

  /** `isKnown`: hosts of members and named peers. A flood from elsewhere does not keep them out. */
  constructor(limitMs: number, clock: Pick<Clock, "now" | "spareNow">, isKnown: (host: string) => boolean) {
    this.#limitMs = limitMs
    this.#clock = clock
    this.#isKnown = isKnown
    this.#together = new Allowance(TOGETHER, clock.spareNow())
  }

  /** Whether a connection may open. It can replace another one that has not greeted. */
  comes(address: string, host: string): boolean {
    const now = this.#clock.now()
    this.sweep()
    const isKnown = this.#isKnown(host)
    const allowances = this.#allowancesOf(host, isKnown, now)
    // A refused connection costs nothing and runs up no debt: after a flood, honest peers can still connect from the
    // same host.
    if (allowances.some(({ allowance, at }) => allowance.take(0, at) > 0)) return false
    const others = [...this.#waiting.values()].filter((each) => each.isKnown === isKnown)
    const opening = ConnectionSlots.open(others, host, now)
    if (opening._tag === "Full") return false
    for (const { allowance, at } of allowances) allowance.take(1, at)
    if (opening._tag === "InsteadOf") this.#cut(opening.id)
    this.#waiting.set(address, { id: address, host, since: now, isKnown, cut: nothing })
    return true
  }

  /** A known host is limited only by its own rate. */
  #allowancesOf(host: string, isKnown: boolean, now: number): ReadonlyArray<Limit> {
    const networks = AddressGroup.networksOf(AddressGroup.hostGroup(host)).toReversed()
    const own = this.#allowances.slice(0, isKnown ? 1 : networks.length).flatMap(({ rate, all }, i) => {
      const network = networks[i]
      return network === undefined ? [] : [{ allowance: all.of(network, rate, now), at: now }]
    })
    return isKnown ? own : [...own, { allowance: this.#together, at: this.#clock.spareNow() }]
  }

  /** Records how to cut the connection. Connections that did not pass `comes` are ignored. */
  arrived(address: string, cut: () => void): void {
    const arrival = this.#waiting.get(address)
    if (arrival !== undefined) arrival.cut = cut
  }

  done(address: string): void {
    this.#waiting.delete(address)
  }

  sweep(): void {
    const before = this.#clock.now() - this.#limitMs
    for (const { id, since } of this.#waiting.values()) if (since < before) this.#cut(id)
  }

  #cut(id: string): void {
    const arrival = this.#waiting.get(id)
    this.#waiting.delete(id)
    arrival?.cut()
  }
}
