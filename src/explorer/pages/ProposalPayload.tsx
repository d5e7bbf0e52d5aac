import type { ComponentChildren } from "preact"
import type { ProposalType } from "../../client/Wallet.js"
import { Amount } from "../show/Amount.js"
import * as Words from "../show/Words.js"
import { Account } from "./Account.js"

type Fact = readonly [term: string, value: ComponentChildren]

/** What a proposal would do, field by field. */
export const ProposalTypeFacts = (type: ProposalType): ReadonlyArray<Fact> => {
  if ("ParameterChange" in type) {
    const { param, value } = type.ParameterChange
    return [
      ["Would set", <span class="mono">{param}</span>],
      ["To", Words.count(value)],
    ]
  }
  if ("CouncilMembership" in type) {
    const { action, address } = type.CouncilMembership
    return [
      ["Would", action === "add" ? "give a council seat" : "take a council seat"],
      ["To", <Account account={address} />],
    ]
  }
  if ("TreasurySpend" in type) {
    const { recipient, amount } = type.TreasurySpend
    return [
      ["Would pay", <Amount sats={amount} />],
      ["To", <Account account={recipient} />],
    ]
  }
  return [["Would do", "nothing: a declaration"]]
}
