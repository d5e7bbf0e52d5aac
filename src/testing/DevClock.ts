/**
 * A development network's clock. It runs normally, can be moved forward, and stops while no round is wanted, because a
 * validator makes rounds by the clock alone.
 */
import { Clock, Effect } from "effect"
import * as SteadyClock from "../turns/SteadyClock.js"

const NANOS_PER_MS = 1_000_000n

export class DevClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  readonly #sleeper = Clock.make()
  #aheadMs = 0
  #heldAt: number | null = null
  /** Whether a round is wanted; checked on every look at the clock. */
  isWanted: () => boolean = () => true
  /** From when on it moves only by `putForward`; null if it runs. */
  #stoppedAt: number | null = null

  stop(): void {
    this.#stoppedAt = SteadyClock.now()
  }

  unsafeCurrentTimeMillis(): number {
    if (this.#stoppedAt !== null) return this.#stoppedAt + this.#aheadMs
    const now = SteadyClock.now() + this.#aheadMs
    if (this.isWanted()) this.#heldAt = null
    else this.#heldAt ??= now
    return this.#heldAt ?? now
  }

  unsafeCurrentTimeNanos(): bigint {
    return BigInt(this.unsafeCurrentTimeMillis()) * NANOS_PER_MS
  }

  readonly currentTimeMillis = Effect.sync(() => this.unsafeCurrentTimeMillis())
  readonly currentTimeNanos = Effect.sync(() => this.unsafeCurrentTimeNanos())

  /** Uses the machine's timers: a stopped clock holds up only rounds. */
  readonly sleep: Clock.Clock["sleep"] = (duration) => this.#sleeper.sleep(duration)

  get aheadMs(): number {
    return this.#aheadMs
  }

  putForward(ms: number): void {
    this.#aheadMs += ms
  }
}
