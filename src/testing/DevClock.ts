/**
 * The clock of a network for developers. It runs like any other, can be put forward, and stands while nobody wants a round:
 * a validator makes rounds by the clock alone.
 */
import { Clock, Effect } from "effect"
import * as SteadyClock from "../turns/SteadyClock.js"

const NANOS_PER_MS = 1_000_000n

export class DevClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  readonly #sleeper = Clock.make()
  #aheadMs = 0
  #heldAt: number | null = null
  /** Whether somebody wants a round. Asked at every look at the clock. */
  isWanted: () => boolean = () => true

  unsafeCurrentTimeMillis(): number {
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

  /** Timers are those of the machine: a clock that stands holds up nothing but rounds. */
  readonly sleep: Clock.Clock["sleep"] = (duration) => this.#sleeper.sleep(duration)

  get aheadMs(): number {
    return this.#aheadMs
  }

  putForward(ms: number): void {
    this.#aheadMs += ms
  }
}
