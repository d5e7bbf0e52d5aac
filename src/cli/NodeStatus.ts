/** The status line of a running node on a terminal, refreshed every second. */
import { Clock, Effect } from "effect"
import { Metrics } from "../node/reads/Metrics.js"
import * as Figure from "./terminal/Figure.js"
import type { StatusLine } from "./terminal/StatusLine.js"

const EVERY = "1 second"

/** The most volatile figures come first, because narrow terminals cut the end. */
export const words = (
  figures: { readonly [name in "dagRound" | "finalizedRound" | "mempoolSize" | "peers"]: number },
  transactionsPerSecond: number,
): string =>
  [
    `round ${Figure.count(figures.dagRound)}`,
    `final up to ${Figure.count(figures.finalizedRound)}`,
    `${Figure.count(transactionsPerSecond)} tx/s`,
    `${Figure.count(figures.mempoolSize)} waiting`,
    Figure.counted(figures.peers, "peer"),
  ].join(" · ")

export const show = (line: StatusLine): Effect.Effect<never, never, Metrics> =>
  Effect.gen(function* () {
    const metrics = yield* Metrics
    let before = { at: yield* Clock.currentTimeMillis, transactions: metrics.counters().transactions }
    while (true) {
      yield* Effect.sleep(EVERY)
      const now = { at: yield* Clock.currentTimeMillis, transactions: metrics.counters().transactions }
      const seconds = Math.max(1, now.at - before.at) / 1_000
      line.show(words(metrics.figures(), (now.transactions - before.transactions) / seconds))
      before = now
    }
  }).pipe(Effect.ensuring(Effect.sync(() => line.show(""))))
