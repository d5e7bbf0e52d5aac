import { expect, it } from "vitest"
import * as ProposalFailure from "../../src/protocol/transaction/ProposalFailure.js"

it("a failure is told in words by its code, and a sentence of an earlier version as it was recorded", () => {
  expect(ProposalFailure.describe("seat_held")).toBe("the account already has a council seat")
  expect(ProposalFailure.describe("the council is full")).toBe("the council is full")
})
