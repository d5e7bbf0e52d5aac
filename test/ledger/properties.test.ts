import { describe, it } from "vitest"
import { lives, play } from "./Play.js"

/** Another one draws other lives; a failure names the one that drew it. */
const SEED = 20_260_101

describe("any life of a network", () => {
  it("keeps every invariant and agrees with the naive ledger, in 2 000 lives of 200 commits", {
    timeout: 900_000,
  }, () => {
    lives({ seed: SEED, count: Number(process.env["LIVES"] ?? 2_000), length: 200 }, play)
  })
})
