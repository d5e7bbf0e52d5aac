import type { ProposalType } from "../../client/Wallet.js"
import type { Answer } from "../live/Node.js"
import { Amount } from "../show/Amount.js"
import type { Fact } from "../show/Page.js"
import * as Words from "../show/Words.js"
import { Account } from "./Account.js"

/** The fields of a proposal's type, as proposals have them or as the transaction does. */
type Payload =
  | Answer<"governance", "proposal">["payload"]
  | { readonly action: "add" | "remove"; readonly address: string }
  | { readonly recipient: string; readonly amount: number }

export const payloadOf = (type: ProposalType): Payload => {
  if ("ParameterChange" in type) return type.ParameterChange
  if ("CouncilMembership" in type) return type.CouncilMembership
  return "TreasurySpend" in type ? type.TreasurySpend : {}
}

/** The effect of a proposal, field by field. */
export const payloadFacts = (payload: Payload): ReadonlyArray<Fact> => {
  if ("param" in payload) {
    return [
      ["Would set", <span class="mono">{payload.param}</span>],
      ["To", Words.count(payload.value)],
    ]
  }
  if ("action" in payload) {
    return [[payload.action === "add" ? "Would seat" : "Would unseat", <Account account={payload.address} />]]
  }
  if ("recipient" in payload) {
    return [
      ["Would pay", <Amount sats={payload.amount} />],
      ["To", <Account account={payload.recipient} />],
    ]
  }
  return [["Would do", "nothing: a declaration"]]
}
