import type { Fields } from "../../client/Proposal.js"
import { Account } from "../show/Account.js"
import { Amount } from "../show/Amount.js"
import type { Fact } from "../show/Page.js"
import * as Words from "../show/Words.js"

/** The effect of a proposal, field by field. */
export const payloadFacts = (payload: Fields): ReadonlyArray<Fact> => {
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
