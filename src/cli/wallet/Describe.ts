/** A transaction in words, before it is signed and after: nothing that it does is left out. Pure. */
import type * as Wallet from "../../client/Wallet.js"
import * as Address from "../../protocol/identity/Address.js"
import type { AddressPrefix } from "../../protocol/identity/Network.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type { TransactionJson } from "../../protocol/transaction/TransactionJson.js"
import type { Line } from "./Sheet.js"

export const coins = (sats: Sats.Sats): string => `${Sats.formatCoin(sats)} UDG`

/** As people of this network write it. */
export const account = (address: string, prefix: AddressPrefix): string => {
  const parsed = Address.parse(address, prefix)
  return parsed._tag === "Right" ? Address.toBech32(parsed.right, prefix) : address
}

export const moment = (timestamp: number): string => new Date(timestamp).toISOString()

/** What a proposal would do: the fields of its type. */
type Payload =
  | { readonly param: string; readonly value: number }
  | { readonly action: "add" | "remove"; readonly address: string }
  | { readonly recipient: string; readonly amount: Sats.Sats }
  | Readonly<Record<never, never>>

export const payload = (fields: Payload, prefix: AddressPrefix): string => {
  if ("param" in fields) return `set ${fields.param} to ${fields.value}`
  if ("action" in fields) {
    return `${fields.action === "add" ? "give a council seat to" : "take the council seat of"} ${account(fields.address, prefix)}`
  }
  if ("recipient" in fields) {
    return `pay ${coins(fields.amount)} from the treasury to ${account(fields.recipient, prefix)}`
  }
  return "nothing; an opinion on record"
}

const proposed = (type: Wallet.ProposalType, prefix: AddressPrefix): string => {
  if ("Text" in type) return payload({}, prefix)
  if ("ParameterChange" in type) return payload(type.ParameterChange, prefix)
  if ("CouncilMembership" in type) return payload(type.CouncilMembership, prefix)
  return payload(type.TreasurySpend, prefix)
}

const operation = (transaction: TransactionJson, prefix: AddressPrefix): ReadonlyArray<Line> => {
  switch (transaction.type) {
    case "Transfer":
      return [
        ["send", coins(transaction.amount)],
        ["to", account(transaction.to, prefix)],
        ...(transaction.memo === undefined ? [] : [["memo", transaction.memo] as const]),
      ]
    case "StakeTx":
      return [["stake", coins(transaction.amount)]]
    case "UnstakeTx":
      return [["unstake", "the whole stake"]]
    case "DelegateTx":
      return [
        ["delegate", coins(transaction.amount)],
        ["to", account(transaction.validator, prefix)],
      ]
    case "UndelegateTx":
      return [["undelegate", "the whole delegation"]]
    case "SetCommissionTx":
      return [["commission", `${transaction.commission_percent} %`]]
    case "CreateProposalTx":
      return [
        ["propose", transaction.title],
        ...(transaction.description === "" ? [] : [["description", transaction.description] as const]),
        ["effect", proposed(transaction.proposal_type, prefix)],
      ]
    case "VoteTx":
      return [["vote", `${transaction.vote ? "yes" : "no"} on proposal ${transaction.proposal_id}`]]
    case "RegisterNameTx":
      return [["register", `@${transaction.name}`]]
    case "SetAccountPolicyTx":
      return [
        ["policy", `${transaction.threshold} of ${transaction.keys.length} keys must sign from then on`],
        ...transaction.keys.map((key) => ["key", key] as const),
      ]
  }
}

export const transaction = (json: TransactionJson, prefix: AddressPrefix): ReadonlyArray<Line> => [
  ...operation(json, prefix),
  ["from", account(json.from, prefix)],
  ["fee", coins(json.fee ?? Sats.ZERO)],
  ["nonce", String(json.nonce)],
]

/** What happened, as the account that sent or received it sees it. */
export const sentence = (json: TransactionJson, direction: "sent" | "received", prefix: AddressPrefix): string => {
  if (json.type === "Transfer") {
    const memo = json.memo === undefined ? "" : `: ${json.memo}`
    return direction === "sent"
      ? `sent ${coins(json.amount)} to ${account(json.to, prefix)}${memo}`
      : `received ${coins(json.amount)} from ${account(json.from, prefix)}${memo}`
  }
  const whose = direction === "sent" ? "" : ` by ${account(json.from, prefix)}`
  return `${operation(json, prefix)
    .slice(0, 2)
    .map(([label, value]) => `${label} ${value}`)
    .join(" ")}${whose}`
}
