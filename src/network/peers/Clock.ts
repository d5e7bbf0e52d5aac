/** Time as the policy for peers sees it. */
export interface Clock {
  /** Milliseconds; never set. */
  readonly now: () => number
  /** Neither keeps the process alive. */
  readonly wait: (ms: number) => Promise<void>
  /** Acts once these milliseconds have passed, unless the returned function is called before. */
  readonly after: (ms: number, act: () => void) => () => void
}
