import { setImmediate as turn } from "node:timers/promises"
import { afterEach, describe, it } from "vitest"
import * as Rest from "../support/Rest.js"
import { lives, play } from "./Play.js"

/** Another seed draws other lives; a failure names its seed. */
const SEED = 20_260_101
/** A quarter of what the longer tests take all together. Draw more after changing a rule. */
const LIVES = Number(process.env["UDG_LIVES"] ?? 1_200)
const LIVES_AT_ONCE = 25

const USUAL_LIVES = 25

const seedsOf = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: (to - from) / LIVES_AT_ONCE }, (_, i) => SEED + from + i * LIVES_AT_ONCE)

const NAME = "keeps every invariant and agrees with the naive ledger, 25 times 200 commits from seed %i"

describe("any life of a network", () => {
  // The lives are synchronous, and the runner gives up on a worker that is silent for a minute.
  afterEach(() => turn())

  const keepsEveryInvariant = (seed: number): void => lives({ seed, count: LIVES_AT_ONCE, length: 200 }, play)

  it.each(seedsOf(0, USUAL_LIVES))(NAME, keepsEveryInvariant)

  it.each(seedsOf(USUAL_LIVES, LIVES))(Rest.of("more lives", NAME), keepsEveryInvariant)
})
