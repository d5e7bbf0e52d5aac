/** Figures of suites without a target that docs/performance.md shows. */

export interface Headline {
  readonly suite: string
  /** A figure's. */
  readonly name: string
}

export const headlines: ReadonlyArray<Headline> = [
  { suite: "edge", name: "GET /status, edge, encoded once a version" },
  { suite: "edge", name: "POST /tx/submit, edge" },
  { suite: "mempool", name: "10000 senders: fill a vertex with 5 000" },
  { suite: "pace", name: "4 validators at 100 ms, one by one: p50" },
  { suite: "pace", name: "solo at 100 ms, one by one: p50" },
  { suite: "storage", name: "commits of 1000 transfers" },
  { suite: "storage", name: "own vertex on the disk, median" },
]
