import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"
import type * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Commit from "../../src/protocol/vertex/Commit.js"
import * as arbitrary from "./arbitraries.js"

const content: fc.Arbitrary<Omit<Commit.Commit, "hash">> = fc.record({
  index: arbitrary.counter<Natural.CommitIndex>(),
  epoch: arbitrary.counter<Natural.Epoch>(),
  leaderRound: arbitrary.counter<Natural.Round>(),
  leaderHash: arbitrary.hash,
  previous: arbitrary.hash,
})

it("a commit's hash covers every field and the previous commit", () => {
  fc.assert(
    fc.property(content, content, (a, b) => {
      const { hash } = Commit.make(a)
      expect(Commit.make({ ...a }).hash).toBe(hash)
      for (const field of ["index", "epoch", "leaderRound", "leaderHash", "previous"] as const) {
        expect(Commit.make({ ...a, [field]: b[field] }).hash === hash).toBe(a[field] === b[field])
      }
    }),
  )
})
