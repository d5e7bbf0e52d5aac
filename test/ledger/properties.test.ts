import { setImmediate as turn } from "node:timers/promises"
import { afterEach, describe, it } from "vitest"
import { lives, play } from "./Play.js"

/** Another one draws other lives; a failure names the one that drew it. */
const SEED = 20_260_101
const LIVES = 2_000
const LIVES_AT_ONCE = 25

const beginnings = Array.from({ length: LIVES / LIVES_AT_ONCE }, (_, i) => SEED + i * LIVES_AT_ONCE)

describe("any life of a network", () => {
  // The lives are synchronous, and the runner gives up on a worker that does not speak to it for a minute.
  afterEach(() => turn())

  it.each(beginnings)(
    "keeps every invariant and agrees with the naive ledger, 25 times 200 commits from seed %i",
    {
      timeout: 120_000,
    },
    (seed) => {
      lives({ seed, count: LIVES_AT_ONCE, length: 200 }, play)
    },
  )
})
