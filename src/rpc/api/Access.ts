/** This interface's access rules, in addition to those of `edge/definition`. */
import { Context } from "effect"
import type { Limit } from "../../edge/definition/Rules.js"

export const globalLimit: Limit = { requests: 1_000, windowSeconds: 60 }

/**
 * The liveness probe of process managers. It and preflights are exempt from the total limit and share one of the same
 * size.
 */
export const livenessPath = "/health"

/** Off on a mainnet; the value says what to do there instead. */
export class TestnetOnly extends Context.Tag("udg/rpc/TestnetOnly")<TestnetOnly, string>() {}
