/**
 * A week of rounds, of which most nodes see few with a transaction. Runs for an hour, and only when asked for by name;
 * `UDG_WEEK_ROUNDS` makes it shorter.
 */
import * as Ageing from "./Ageing.js"
import type { Suite } from "./Harness.js"

const rounds = Number(process.env["UDG_WEEK_ROUNDS"] ?? 1_000_000)

export const suite: Suite = {
  about: `a solo node that runs ${rounds} rounds as fast as it can, with the default pruning`,
  isLong: true,
  figures: () => Ageing.figures({ rounds, options: [], paymentsPerSecond: 0 }),
}
