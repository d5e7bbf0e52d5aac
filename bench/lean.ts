/**
 * Disk usage of a validator without history after a million rounds under load. Takes more than an hour, so it runs only
 * if named; `UDG_LEAN_ROUNDS` shortens it.
 */
import * as Ageing from "./Ageing.js"
import type { Suite } from "./Harness.js"

const rounds = Number(process.env["UDG_LEAN_ROUNDS"] ?? 1_000_000)
const PAYMENTS_PER_SECOND = 200

export const suite: Suite = {
  about: `a solo node with --history none that runs ${rounds} rounds as fast as it can, paid by ${PAYMENTS_PER_SECOND} transfers a second`,
  isLong: true,
  figures: () => Ageing.figures({ rounds, options: ["--history", "none"], paymentsPerSecond: PAYMENTS_PER_SECOND }),
}
