import { expect, it } from "vitest"
import type { Outcome } from "../../src/ledger/rules/Execution.js"
import * as Rejection from "../../src/ledger/rules/Rejection.js"
import { withEffect } from "../../src/node/engine/Counters.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as FakeKeys from "../consensus/FakeKeys.js"

it("counts transactions that were applied or failed for a fee, and none without effect", () => {
  const reason = Rejection.notAllowed("")
  const applied: Outcome = { _tag: "Applied", fee: Sats.ZERO, proposalId: null }
  const failed: Outcome = { _tag: "Failed", fee: Sats.ZERO, reason }
  const nothing: Outcome = { _tag: "NoEffect", reason }
  const vertex = (...transactions: ReadonlyArray<Outcome>) => ({
    vertex: Hash.ZERO,
    author: Address.fromPublicKey(FakeKeys.publicKeyOf("author")),
    minted: Sats.ZERO,
    transactions,
  })
  expect(withEffect({ vertices: [vertex(), vertex(applied, nothing, failed), vertex(nothing), vertex(applied)] })).toBe(
    3,
  )
})
