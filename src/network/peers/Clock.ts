/** Time for the peer policy, replaceable in tests. */
export interface Clock {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** The same for the budgets of strangers: it goes slower while the process is late (`SpareTime`). */
  readonly spareNow: () => number
  /** How fast `spareNow` goes: 1 unless the process is late. */
  readonly spareShare: () => number
  /** Timers do not keep the process alive. */
  readonly wait: (ms: number) => Promise<void>
  /** Runs `act` after this many milliseconds, unless the returned function cancels it. */
  readonly after: (ms: number, act: () => void) => () => void
}
