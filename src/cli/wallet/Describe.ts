/** Describes a transaction completely, before signing and afterwards. Pure. */
import * as Moment from "../../client/Moment.js"
import * as Proposal from "../../client/Proposal.js"
import * as Address from "../../protocol/identity/Address.js"
import type { AddressPrefix } from "../../protocol/identity/Network.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Words from "../../protocol/numbers/Words.js"
import type { TransactionJson } from "../../protocol/transaction/TransactionJson.js"
import * as Figure from "../terminal/Figure.js"
import * as Paint from "../terminal/Paint.js"
import type { Line } from "../terminal/Sheet.js"

export const { coins } = Figure

/** Names that the user typed, by address. */
export type Names = ReadonlyMap<string, string>

const NO_NAMES: Names = new Map()

/** The address in this network's form. */
export const account = (address: string, prefix: AddressPrefix): string => {
  const parsed = Address.parse(address, prefix)
  return parsed._tag === "Right" ? Address.toBech32(parsed.right, prefix) : address
}

/** `2026-11-22 03:41`, in UTC. */
export const minute = (timestamp: number): string => moment(timestamp).replace(/^(.{10})T(.{5}).*Z$/, "$1 $2")

/** One form for each kind of network. */
export const formsOf = (address: Address.Address) => ({
  address,
  testnet: Address.toBech32(address, "tudg"),
  mainnet: Address.toBech32(address, "udg"),
})

export const forms = (address: Address.Address): ReadonlyArray<Line> => {
  const { testnet, mainnet } = formsOf(address)
  return [
    ["address", address],
    ["on testnets", testnet],
    ["on a mainnet", mainnet],
  ]
}

export const moment = Moment.iso

/** An account's name, if the user typed one, and its address, which the signature covers. */
const named = (prefix: AddressPrefix, names: Names) => (address: string) => {
  const name = names.get(address)
  const written = account(address, prefix)
  return name === undefined ? written : `${name} (${written})`
}

export const proposal = (fields: Proposal.Fields, prefix: AddressPrefix, names = NO_NAMES): string =>
  Proposal.effect(fields, { account: named(prefix, names), coins, parameter: (_, value) => Figure.count(value) }) ??
  "nothing; puts an opinion on record"

const operation = (transaction: TransactionJson, prefix: AddressPrefix, names: Names): ReadonlyArray<Line> => {
  const who = named(prefix, names)
  switch (transaction.type) {
    case "Transfer":
      return [
        ["send", coins(transaction.amount), Paint.strong],
        ["to", who(transaction.to)],
        ["memo", transaction.memo],
      ]
    case "StakeTx":
      return [["stake", coins(transaction.amount), Paint.strong]]
    case "UnstakeTx":
      return [["unstake", "the whole stake"]]
    case "DelegateTx":
      return [
        ["delegate", coins(transaction.amount), Paint.strong],
        ["to", who(transaction.validator)],
      ]
    case "UndelegateTx":
      return [["undelegate", "the whole delegation"]]
    case "SetCommissionTx":
      return [["commission", `${transaction.commission_percent} %`]]
    case "CreateProposalTx":
      return [
        ["propose", transaction.title],
        ["description", transaction.description === "" ? null : transaction.description],
        ["effect", proposal(Proposal.fieldsOf(transaction.proposal_type), prefix, names)],
      ]
    case "VoteTx":
      return [["vote", `${transaction.vote ? "yes" : "no"} on proposal ${transaction.proposal_id}`]]
    case "RegisterNameTx":
      return [["register", `@${transaction.name}`]]
    case "RotateKeyTx":
      return [["new validator key", transaction.validator_key]]
    case "SetAccountPolicyTx":
      return [
        [
          "policy",
          `${transaction.threshold} of ${Words.counted(transaction.keys.length, "key")} must sign from now on`,
        ],
        ...transaction.keys.map((key) => ["key", key] as const),
      ]
  }
}

/** `forAccount` is the part of the fee that pays for the recipient's new account. A smaller fee pays for none. */
const fee = (sats: number, forAccount: number): string =>
  forAccount === 0 || sats < forAccount
    ? coins(sats)
    : `${coins(sats)}, ${coins(forAccount)} of it for the recipient's new account`

export const transaction = (
  json: TransactionJson,
  prefix: AddressPrefix,
  names = NO_NAMES,
  forAccount = 0,
): ReadonlyArray<Line> => [
  ...operation(json, prefix, names),
  ["from", named(prefix, names)(json.from), Paint.quiet],
  ["fee", fee(json.fee ?? Sats.ZERO, forAccount)],
  ["nonce", String(json.nonce)],
]

/** One sentence from the perspective of the sender or the recipient. */
export const sentence = (json: TransactionJson, direction: "sent" | "received", prefix: AddressPrefix): string => {
  if (json.type === "Transfer") {
    const memo = json.memo === undefined ? "" : `: ${json.memo}`
    return direction === "sent"
      ? `sent ${coins(json.amount)} to ${account(json.to, prefix)}${memo}`
      : `received ${coins(json.amount)} from ${account(json.from, prefix)}${memo}`
  }
  const whose = direction === "sent" ? "" : ` by ${account(json.from, prefix)}`
  const parts = operation(json, prefix, NO_NAMES).flatMap(([label, value]) =>
    typeof value === "string" ? [`${label} ${value}`] : [],
  )
  return `${parts.slice(0, 2).join(" ")}${whose}`
}
