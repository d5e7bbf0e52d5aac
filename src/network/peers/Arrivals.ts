/** Inbound connections that have not greeted yet: few, for a short time, and not all from one party. */
import * as AddressGroup from "../AddressGroup.js"
import { Allowance, type Rate } from "../Allowance.js"
import * as Places from "../Places.js"

interface Arrival extends Places.Ungreeted {
  cut: () => void
}

/** Each costs a handshake, and one host's connections share this. A committee on one machine arrives all at once. */
const PER_HOST: Rate = { burst: 128, perSecond: 8 }
/** Hosts whose rate is remembered. */
const MAX_HOSTS = 4_096

const nothing = () => {}

export class Arrivals {
  readonly #limitMs: number
  readonly #now: () => number
  /** By remote address, including the port. */
  readonly #waiting = new Map<string, Arrival>()
  readonly #hosts = new Map<string, Allowance>()

  constructor(limitMs: number, now: () => number) {
    this.#limitMs = limitMs
    this.#now = now
  }

  /** Whether a connection may be opened; another one that has not greeted may be cut for it. */
  comes(address: string, host: string): boolean {
    const now = this.#now()
    this.sweep()
    const allowance = this.#allowanceOf(AddressGroup.hostGroup(host), now)
    // A refused connection costs nothing and runs up no debt: other peers may come from the same host, even after a
    // flood.
    if (allowance.take(0, now) > 0) return false
    const opening = Places.open([...this.#waiting.values()], host, now)
    if (opening._tag === "Full") return false
    allowance.take(1, now)
    if (opening._tag === "InsteadOf") this.#cut(opening.id)
    this.#waiting.set(address, { id: address, host, since: now, cut: nothing })
    return true
  }

  #allowanceOf(host: string, now: number): Allowance {
    const known = this.#hosts.get(host)
    const allowance = known ?? new Allowance(PER_HOST, now)
    if (known === undefined) {
      // The least recently used one goes: a map iterates in that order.
      const [oldest] = this.#hosts.keys()
      if (this.#hosts.size >= MAX_HOSTS && oldest !== undefined) this.#hosts.delete(oldest)
    } else this.#hosts.delete(host)
    this.#hosts.set(host, allowance)
    return allowance
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
