/** Log lines of `udg dev`: one per final transaction, with sender, operation, fee and outcome. Pure. */

import * as Visible from "../client/Visible.js"
import type { NodeEvent } from "../node/engine/NodeEvent.js"
import * as Address from "../protocol/identity/Address.js"
import type { AddressPrefix } from "../protocol/identity/Network.js"
import * as JsonForm from "../protocol/transaction/JsonForm.js"
import * as Figure from "./terminal/Figure.js"
import * as Describe from "./wallet/Describe.js"

const SHOWN = 14

/** The beginning of an address, enough to recognize it. */
const short = (address: Address.Address, prefix: AddressPrefix): string =>
  `${Address.toBech32(address, prefix).slice(0, SHOWN)}…`

export const lines = (event: NodeEvent, prefix: AddressPrefix): ReadonlyArray<string> => {
  if (event._tag !== "Executed") return []
  const { vertices, commit } = event.execution
  return event.vertices.flatMap(({ body }, i) =>
    body.transactions.flatMap((transaction, j) => {
      const outcome = vertices[i]?.transactions[j]
      if (outcome === undefined) return []
      const who = short(transaction.from, prefix)
      const what = Describe.sentence(JsonForm.toJson(transaction), "sent", prefix)
      const result =
        outcome._tag === "Applied"
          ? "applied"
          : `${outcome._tag === "Failed" ? "failed" : "no effect"}: ${outcome.reason._tag}`
      const fee = outcome._tag === "NoEffect" ? "no fee" : `fee ${Figure.amount(outcome.fee)}`
      return [Visible.line(`round ${commit.leaderRound}  ${who} ${what}, ${fee}, ${result}`)]
    }),
  )
}
