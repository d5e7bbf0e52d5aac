/** Limits inbound connections that have not greeted yet: in number, in time, and by origin. */

import { Recent } from "../../collections/Recent.js"
import * as AddressGroup from "../AddressGroup.js"
import { Allowance, type Rate } from "../Allowance.js"
import * as ConnectionSlots from "../ConnectionSlots.js"
import type { Clock } from "./Clock.js"

interface Arrival extends ConnectionSlots.Ungreeted {
  readonly isKnown: boolean
  cut: () => void
}

/** Each costs a handshake of two milliseconds. The burst fits a committee on one machine, which arrives at once. */
const KNOWN_HOST: Rate = { burst: 128, perSecond: 8 }
/**
 * For strangers of one host and of each wider network around it, so that no part uses up the rest; at last for all. The
 * bursts fit the places for strangers.
 */
const STRANGERS: ReadonlyArray<Rate> = [
  { burst: 64, perSecond: 8 },
  { burst: 80, perSecond: 16 },
  { burst: 96, perSecond: 32 },
  { burst: 112, perSecond: 64 },
]
/** For all strangers together: a quarter of a core. */
const TOGETHER: Rate = { burst: 128, perSecond: 100 }
/** Limit of remembered networks of each size. An attacker with more hosts has them in few networks. */
const MAX_REMEMBERED = 4_096

class Allowances {
  readonly #rate: Rate
  readonly #all = new Recent<string, Allowance>(MAX_REMEMBERED)

  constructor(rate: Rate) {
    this.#rate = rate
  }

  of(network: string, now: number): Allowance {
    const allowance = this.#all.get(network) ?? new Allowance(this.#rate, now)
    // So the least recently used network is forgotten.
    this.#all.set(network, allowance)
    return allowance
  }
}

const nothing = () => {}

export class Arrivals {
  readonly #limitMs: number
  readonly #clock: Pick<Clock, "now" | "spareNow">
  /** By remote address, including the port. */
  readonly #waiting = new Map<string, Arrival>()
  readonly #ofKnownHosts = new Allowances(KNOWN_HOST)
  readonly #ofStrangers = STRANGERS.map((rate) => new Allowances(rate))
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
    const networks = AddressGroup.networksAround(host)
    const at = isKnown ? now : this.#clock.spareNow()
    const allowances = this.#allowancesOf(networks, isKnown, at)
    // A refused connection costs nothing and runs up no debt: after a flood, honest peers can still connect from the
    // same host.
    if (allowances.some((allowance) => allowance.take(0, at) > 0)) return false
    const others = [...this.#waiting.values()].filter((each) => each.isKnown === isKnown)
    const opening = ConnectionSlots.open(others, networks, now)
    if (opening._tag === "Full") return false
    for (const allowance of allowances) allowance.take(1, at)
    if (opening._tag === "InsteadOf") this.#cut(opening.id)
    this.#waiting.set(address, { id: address, networks, since: now, isKnown, cut: nothing })
    return true
  }

  /** A known host is limited only by its own rate. */
  #allowancesOf(networks: ReadonlyArray<string>, isKnown: boolean, at: number): ReadonlyArray<Allowance> {
    const narrowestFirst = networks.toReversed()
    if (isKnown) return narrowestFirst.slice(0, 1).map((host) => this.#ofKnownHosts.of(host, at))
    const own = narrowestFirst.flatMap((network, depth) => this.#ofStrangers[depth]?.of(network, at) ?? [])
    return [...own, this.#together]
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
