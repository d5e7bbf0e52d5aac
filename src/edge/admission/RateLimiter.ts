/**
 * Sliding windows: at most `requests` of one client within any `windowMs`. Refused requests do not count, so that the
 * wait in a refusal is exact. Callers pass the time, which must not run backwards.
 */
import { networksOf } from "../../network/AddressGroup.js"
import { isFair, Usage } from "./Usage.js"

/** The times of one client's requests, oldest first. Requests of the same millisecond share an entry. */
class Window {
  #times: Array<number> = []
  #counts: Array<number> = []
  #head = 0
  total = 0

  dropUntil(time: number): void {
    while (this.#head < this.#times.length && (this.#times[this.#head] ?? 0) <= time) {
      this.total -= this.#counts[this.#head] ?? 0
      this.#head++
    }
    if (this.#head > 64 && this.#head * 2 > this.#times.length) {
      this.#times = this.#times.slice(this.#head)
      this.#counts = this.#counts.slice(this.#head)
      this.#head = 0
    }
  }

  add(time: number, count: number): void {
    const last = this.#times.length - 1
    if (last >= this.#head && this.#times[last] === time) this.#counts[last] = (this.#counts[last] ?? 0) + count
    else {
      this.#times.push(time)
      this.#counts.push(count)
    }
    this.total += count
  }

  /** An independent copy. */
  copy(): Window {
    const copy = new Window()
    copy.#times = this.#times.slice(this.#head)
    copy.#counts = this.#counts.slice(this.#head)
    copy.total = this.total
    return copy
  }

  /** The time of the request whose expiry makes room for `count` more. */
  leavingFor(count: number): number {
    let freed = 0
    for (let i = this.#head; i < this.#times.length; i++) {
      freed += this.#counts[i] ?? 0
      if (freed >= count) return this.#times[i] ?? 0
    }
    return this.#times.at(-1) ?? 0
  }

  get oldest(): number | undefined {
    return this.#times[this.#head]
  }
}

/** Windows used in the same period, and the number that each network has. */
class Generation {
  readonly windows = new Map<string, Window>()
  readonly tally = new Usage()

  get size(): number {
    return this.windows.size
  }

  set(key: string, window: Window): void {
    this.windows.set(key, window)
    this.tally.add(key, 1)
  }

  take(key: string): Window | undefined {
    const window = this.windows.get(key)
    if (window === undefined) return undefined
    this.windows.delete(key)
    this.tally.add(key, -1)
    return window
  }
}

/**
 * Windows by key; none is forgotten while it counts something. There are two generations, and a key that is used moves
 * to the young one. After each window's length, the old generation, whose keys have been silent for that long, is
 * dropped and the young one becomes old. A new key gets room while its networks are within their share.
 */
class Table {
  readonly #windowMs: number
  readonly #capacity: number
  #young = new Generation()
  #old = new Generation()
  #turnedAt = Number.NEGATIVE_INFINITY

  constructor(windowMs: number, capacity: number) {
    this.#windowMs = windowMs
    this.#capacity = Math.max(1, capacity)
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** A key's window, made by `first` for a new key; undefined if there is no room. */
  at(key: string, now: number, first: () => Window): Window | undefined {
    if (now - this.#turnedAt >= this.#windowMs) this.#turn(now)
    const known = this.#young.windows.get(key) ?? this.#rejuvenated(key)
    if (known === undefined && !this.#hasRoom(key)) return undefined
    const window = known ?? first()
    if (known === undefined) this.#young.set(key, window)
    window.dropUntil(now - this.#windowMs)
    return window
  }

  /** A known key's window. */
  known(key: string, now: number): Window | undefined {
    const window = this.#young.windows.get(key) ?? this.#old.windows.get(key)
    window?.dropUntil(now - this.#windowMs)
    return window
  }

  #hasRoom(key: string): boolean {
    const [young, old] = [this.#young.tally, this.#old.tally]
    return isFair(key, 1, this.#capacity - this.size, (network) => young.of(network) + old.of(network))
  }

  #turn(now: number): void {
    this.#old = now - this.#turnedAt < 2 * this.#windowMs ? this.#young : new Generation()
    this.#young = new Generation()
    this.#turnedAt = now
  }

  #rejuvenated(key: string): Window | undefined {
    const window = this.#old.take(key)
    if (window !== undefined) this.#young.set(key, window)
    return window
  }
}

/** A client's remaining requests. */
export interface Allowance {
  readonly remaining: number
  /** Time until the oldest counted request leaves the window; 0 if none is counted. */
  readonly resetMs: number
}

export interface Options {
  readonly requests: number
  readonly windowMs: number
  /** Clients that are counted individually at a time. */
  readonly capacity?: number
}

const STANDARD_CAPACITY = 65_536
/** One place in this many is for networks. */
const NETWORKS = 8

/** The largest network of a client. */
const widestOf = (client: string): string => networksOf(client)[0] ?? client

/**
 * Bounded memory without letting anyone reset a used-up limit by making the limiter forget it. An attacker with more
 * addresses than places gets a share of the places. Its further clients share one limit for their largest network, and
 * networks without a place share a single limit. Other clients are counted individually. When there is room again, a
 * client starts with what its network has used.
 */
export class RateLimiter {
  readonly requests: number
  readonly windowMs: number
  readonly #clients: Table
  readonly #networks: Table
  readonly #others = new Window()

  constructor({ requests, windowMs, capacity = STANDARD_CAPACITY }: Options) {
    this.requests = requests
    this.windowMs = windowMs
    const networks = Math.max(1, Math.floor(capacity / NETWORKS))
    this.#clients = new Table(windowMs, capacity - networks)
    this.#networks = new Table(windowMs, networks)
  }

  /** The number of windows. */
  get size(): number {
    return this.#clients.size + this.#networks.size
  }

  #windowOf(client: string, now: number): Window {
    return this.#clients.at(client, now, () => this.#used(client, now)) ?? this.#shared(client, now)
  }

  #shared(client: string, now: number): Window {
    this.#others.dropUntil(now - this.windowMs)
    return this.#networks.at(widestOf(client), now, () => this.#others.copy()) ?? this.#others
  }

  /** Requests that the client can have made before it had its own window. */
  #used(client: string, now: number): Window {
    this.#others.dropUntil(now - this.windowMs)
    if (this.#networks.size === 0 && this.#others.total === 0) return new Window()
    return (this.#networks.known(widestOf(client), now) ?? this.#others).copy()
  }

  /** Counts `count` requests and returns 0, or counts none and returns the milliseconds to wait. */
  take(client: string, now: number, count = 1): number {
    const window = this.#windowOf(client, now)
    const excess = window.total + count - this.requests
    if (excess <= 0) {
      window.add(now, count)
      return 0
    }
    // Never possible, because no window has that much room; the client learns when its window is empty.
    return Math.max(1, window.leavingFor(excess) + this.windowMs - now)
  }

  allowance(client: string, now: number): Allowance {
    const window = this.#windowOf(client, now)
    const { oldest } = window
    return {
      remaining: Math.max(0, this.requests - window.total),
      resetMs: oldest === undefined ? 0 : oldest + this.windowMs - now,
    }
  }
}
