import { expect, it } from "vitest"
import * as ProposalFailure from "../../src/protocol/transaction/ProposalFailure.js"

it("a failure is described by its code, and one of an earlier version by its recorded sentence", () => {
  expect(ProposalFailure.describe("seat_held")).toBe("the account already has a council seat")
  expect(ProposalFailure.describe("the council is full")).toBe("the council is full")
})
