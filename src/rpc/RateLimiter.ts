/**
 * Sliding windows: of one client, never more than `requests` in any stretch of `windowMs`. What is refused is not
 * counted, so that the time to wait, which a refusal names, is true. Time comes as an argument and must not run backwards.
 */

/** When one client asked, oldest first; requests of the same millisecond share an entry. */
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

  /** The time of the request whose leaving makes room for `count` more. */
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

/** What a client may still do. */
export interface Allowance {
  readonly remaining: number
  /** Until the oldest counted request leaves the window; 0 when none is counted. */
  readonly resetMs: number
}

export interface Options {
  readonly requests: number
  readonly windowMs: number
  /** Clients remembered at a time. Beyond it those who have not asked for longest are forgotten. */
  readonly capacity?: number
}

const STANDARD_CAPACITY = 65_536

/**
 * Two generations of clients. Whoever asks moves to the young one; once a window, or when the young one holds half the
 * capacity, the old one is dropped and the young one becomes old. So everybody who asked within a window is known,
 * unless more clients than the capacity asked in it, and memory is bounded either way.
 */
export class RateLimiter {
  readonly requests: number
  readonly windowMs: number
  readonly #half: number
  #young = new Map<string, Window>()
  #old = new Map<string, Window>()
  #turnedAt = Number.NEGATIVE_INFINITY

  constructor({ requests, windowMs, capacity = STANDARD_CAPACITY }: Options) {
    this.requests = requests
    this.windowMs = windowMs
    this.#half = Math.max(1, Math.floor(capacity / 2))
  }

  /** Clients known now. */
  get size(): number {
    return this.#young.size + this.#old.size
  }

  #windowOf(client: string, now: number): Window {
    const known = this.#young.get(client)
    if (known !== undefined) {
      known.dropUntil(now - this.windowMs)
      return known
    }
    if (this.#young.size >= this.#half || now - this.#turnedAt >= this.windowMs) {
      this.#old = this.#young
      this.#young = new Map()
      this.#turnedAt = now
    }
    const window = this.#old.get(client) ?? new Window()
    this.#old.delete(client)
    this.#young.set(client, window)
    window.dropUntil(now - this.windowMs)
    return window
  }

  /** Counts `count` requests and returns 0, or counts none and returns how many milliseconds to wait. */
  take(client: string, now: number, count = 1): number {
    const window = this.#windowOf(client, now)
    const excess = window.total + count - this.requests
    if (excess <= 0) {
      window.add(now, count)
      return 0
    }
    // More at once than any window takes: it will not do later either, but the client learns when the window is empty.
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
