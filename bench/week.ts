/**
 * A week of rounds, nearly all without transactions. Takes an hour, so it runs only if named; `UDG_WEEK_ROUNDS`
 * shortens it.
 */
import * as Ageing from "./Ageing.js"
import type { Suite } from "./Harness.js"

const rounds = Number(process.env["UDG_WEEK_ROUNDS"] ?? 1_000_000)

export const suite: Suite = {
  about: `a solo node that runs ${rounds} rounds as fast as it can, with the default pruning`,
  isLong: true,
  figures: () => Ageing.figures({ rounds, options: [], paymentsPerSecond: 0 }),
}
