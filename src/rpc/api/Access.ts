/** What the endpoints of this interface ask of the server, beside the rules of `edge/definition`. */
import { Context } from "effect"
import type { Limit } from "../../edge/definition/Rules.js"

/** The limit over all endpoints together. */
export const globalLimit: Limit = { requests: 1_000, windowSeconds: 60 }

/** Process managers ask there whether the node lives. Neither it nor preflights count in all; both share the same limit once more. */
export const livenessPath = "/health"

/** Off on a mainnet; the value says what to do there instead. */
export class TestnetOnly extends Context.Tag("udg/rpc/TestnetOnly")<TestnetOnly, string>() {}
