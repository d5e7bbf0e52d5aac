/** The pace of rounds: within the budget on every network except a developer's own. */
import { Context } from "effect"
import type * as RoundClock from "../../consensus/RoundClock.js"

/** See `RoundClock.Pace`. */
export type Way = RoundClock.Pace

export class Pace extends Context.Reference<Pace>()("udg/Pace", {
  defaultValue: (): Way => "budget",
}) {}
