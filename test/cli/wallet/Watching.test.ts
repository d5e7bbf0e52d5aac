import { Option } from "effect"
import { expect, it } from "vitest"
import * as Printable from "../../../src/cli/terminal/Printable.js"
import { describeEvent } from "../../../src/cli/wallet/Watching.js"
import type { Event } from "../../../src/rpc/api/Events.js"

const hash = "ab".repeat(32)
const address = "cd".repeat(20)

/** The longest event of each type. */
const events = [
  { type: "round", round: 999_999_999, finalized_round: 999_999_998 },
  { type: "vertex", hash, round: 999_999_999, validator: address, reward: 10_000_000, tx_count: 10_000 },
  {
    type: "transaction",
    hash,
    transaction_type: "CreateProposalTx",
    from: address,
    status: "finalized",
    applied: false,
  },
  { type: "alert", severity: "critical", message: "a message that goes on and on ".repeat(5) },
] as ReadonlyArray<unknown> as ReadonlyArray<Event>

it.each(events)("fits eighty columns on a terminal: $type", (event) => {
  const shown = describeEvent(event, "tudg", Option.some(80))
  expect(Printable.widthOf(shown)).toBeLessThanOrEqual(80)
  // Only free text is truncated.
  if (event.type !== "alert") expect(shown.endsWith("…")).toBe(false)
})

it("is complete without a terminal", () => {
  for (const event of events) {
    const shown = describeEvent(event, "tudg", Option.none())
    if (event.type === "vertex" || event.type === "transaction") expect(shown).toContain(hash)
    expect(shown).not.toContain("…")
  }
})
