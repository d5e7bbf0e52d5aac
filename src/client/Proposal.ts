/** The effect of a proposal, for display. */
import { PARAMETER } from "../protocol/epoch/ProtocolVersion.js"
import type { Sats } from "../protocol/numbers/Sats.js"
import type { ProposalType } from "./Wallet.js"

/** The fields of each type of proposal. Answers have them as they are, transactions under the name of the type. */
export type Fields =
  | { readonly param: string; readonly value: number }
  | { readonly action: "add" | "remove"; readonly address: string }
  | { readonly recipient: string; readonly amount: Sats }
  | Readonly<Record<never, never>>

export const fieldsOf = (type: ProposalType): Fields => {
  if ("ParameterChange" in type) return type.ParameterChange
  if ("CouncilMembership" in type) return type.CouncilMembership
  return "TreasurySpend" in type ? type.TreasurySpend : {}
}

export interface Style {
  readonly account: (address: string) => string
  readonly coins: (sats: Sats) => string
  /** Formats the value of a parameter, given its name. */
  readonly parameter: (name: string, value: number) => string
}

/** The effect; undefined for a proposal that only declares something. */
export const effect = (fields: Fields, { account, coins, parameter }: Style): string | undefined => {
  if ("param" in fields && fields.param === PARAMETER) return `upgrade to protocol version ${fields.value}`
  if ("param" in fields) return `set ${fields.param} to ${parameter(fields.param, fields.value)}`
  if ("action" in fields) {
    return `${fields.action === "add" ? "give a council seat to" : "take the council seat of"} ${account(fields.address)}`
  }
  if ("recipient" in fields) return `pay ${coins(fields.amount)} from the treasury to ${account(fields.recipient)}`
  return undefined
}
