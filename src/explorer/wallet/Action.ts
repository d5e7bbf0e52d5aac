/** Everything an account can do, each as a form: its fields, and how they become a signed transaction. Pure. */
import * as Proposal from "../../client/Proposal.js"
import * as Wallet from "../../client/Wallet.js"
import { PARAMETER } from "../../protocol/epoch/ProtocolVersion.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import type { NetworkInfo } from "../live/Network.js"
import * as ParameterValue from "../show/ParameterValue.js"
import * as Words from "../show/Words.js"

/** Typed texts, by field. */
export type Typed = Readonly<Record<string, string>>

export interface Field {
  readonly name: string
  readonly label: string
  readonly kind: "account" | "validator" | "proposal" | "coins" | "integer" | "text" | "long" | "choice"
  readonly hint?: string
  /** The choices, with their labels. */
  readonly options?: Readonly<Record<string, string>>
  readonly isOptional?: boolean
  /** An amount out of the account's balance. */
  readonly isOwn?: boolean
}

export interface Action {
  readonly id: string
  readonly title: string
  readonly about: string
  /** Fields can depend on earlier choices. */
  readonly fields: (info: NetworkInfo, typed: Typed) => ReadonlyArray<Field>
  /** Determines the fee. */
  readonly type: Wallet.Type
  /** Throws `InvalidInput` if the fields do not form a valid transaction. */
  readonly sign: (account: Wallet.Account, typed: Typed, common: Wallet.Common) => Wallet.SignedTransaction
  /** The signed transaction as a sentence, with the signed numbers. Called after `sign`. */
  readonly summary: (typed: Typed) => string
}

interface Definition<T extends Wallet.Type> extends Omit<Action, "sign"> {
  readonly type: T
  readonly payload: (typed: Typed) => Wallet.Payloads[T]
}

const action = <T extends Wallet.Type>({ payload, ...rest }: Definition<T>): Action => ({
  ...rest,
  sign: (account, typed, common) => account.sign(rest.type, { ...common, ...payload(typed) }),
})

const text = (typed: Typed, name: string): string => typed[name]?.trim() ?? ""

/**
 * Removes commas between groups of three digits, as this explorer writes numbers. Many people write decimals with a
 * comma, so any other comma is an error: ignoring it would turn 2,5 into 25.
 */
const ungrouped = (written: string): string => {
  if (!written.includes(",")) return written
  if (/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(written)) return written.replaceAll(",", "")
  throw new Wallet.InvalidInput(
    `"${written}": use commas only between groups of three digits, and a point before the decimals`,
  )
}

const integer = (typed: Typed, name: string): number => {
  const written = ungrouped(text(typed, name))
  if (!/^\d{1,15}$/.test(written)) throw new Wallet.InvalidInput(`"${text(typed, name)}" is not a whole number`)
  return Number(written)
}

const coins = (typed: Typed, name: string) => Wallet.sats(ungrouped(text(typed, name)))

/** Accounts stay as typed. */
const style: Proposal.Style = {
  account: (written) => written,
  coins: (sats) => `${Words.coins(sats)} UDG`,
  parameter: ParameterValue.written,
}

/** The signed amount in coins. */
const inCoins = (typed: Typed, name: string): string => style.coins(coins(typed, name))

const amount = (hint?: string): Field => ({
  name: "amount",
  label: "Amount in UDG",
  kind: "coins",
  isOwn: true,
  ...(hint === undefined ? {} : { hint }),
})

const choice = (name: string, label: string, options: Readonly<Record<string, string>>): Field => ({
  name,
  label,
  kind: "choice",
  options,
})

const inUnit: Readonly<Record<ParameterValue.Unit, string>> = {
  coins: " in UDG",
  percent: " in percent",
  rounds: " in rounds",
  count: "",
}

/**
 * One field per unit, so that a number typed in one unit is not taken for another after a different parameter is
 * chosen.
 */
const valueNameOf = (unit: ParameterValue.Unit): string => `value-${unit}`

/** The chosen parameter's new value in its unit, with the current value below. */
const newValue = (parameters: NetworkInfo["parameters"], param: string): Field => {
  const entry = Parameters.find(param)
  const unit = ParameterValue.unitOf(param)
  return {
    name: valueNameOf(unit),
    label: `New value${inUnit[unit]}`,
    kind: unit === "coins" ? "coins" : "integer",
    ...(entry === undefined ? {} : { hint: `now ${ParameterValue.written(param, parameters[entry.name])}` }),
  }
}

const [firstParameter] = Parameters.table

const proposalFields = ({ parameters }: NetworkInfo, typed: Typed): Readonly<Record<string, ReadonlyArray<Field>>> => ({
  Text: [],
  ParameterChange: [
    choice(
      "param",
      "Parameter",
      Parameters.record(Parameters.table, "name", ({ name }) => name),
    ),
    newValue(parameters, typed["param"] ?? firstParameter.name),
  ],
  Upgrade: [
    {
      name: "version",
      label: "Protocol version",
      kind: "integer",
      hint: "the one after the version in force; more than two thirds of the stake must vote for it",
    },
  ],
  CouncilMembership: [
    choice("action", "Change", { add: "give a seat", remove: "take the seat" }),
    { name: "member", label: "Account", kind: "account" },
  ],
  TreasurySpend: [
    { name: "recipient", label: "Receiver", kind: "account" },
    { name: "amount", label: "Amount in UDG", kind: "coins", hint: "from the treasury" },
  ],
})

const parameterValue = (typed: Typed): number => {
  const unit = ParameterValue.unitOf(text(typed, "param"))
  return (unit === "coins" ? coins : integer)(typed, valueNameOf(unit))
}

const proposalType = (typed: Typed): Wallet.ProposalType => {
  switch (typed["type"]) {
    case "ParameterChange":
      return { ParameterChange: { param: text(typed, "param"), value: parameterValue(typed) } }
    case "Upgrade":
      return { ParameterChange: { param: PARAMETER, value: integer(typed, "version") } }
    case "CouncilMembership": {
      const action = typed["action"] === "remove" ? "remove" : "add"
      return { CouncilMembership: { action, address: text(typed, "member") } }
    }
    case "TreasurySpend":
      return { TreasurySpend: { recipient: text(typed, "recipient"), amount: coins(typed, "amount") } }
    default:
      return { Text: {} }
  }
}

const nameOf = (typed: Typed): string => text(typed, "name").replace(/^@/, "")

export const actions: ReadonlyArray<Action> = [
  action({
    id: "send",
    type: "Transfer",
    title: "Send",
    about: "Sends coins to any account. Final within seconds.",
    fields: () => [
      { name: "to", label: "To", kind: "account" },
      amount(),
      { name: "memo", label: "Memo", kind: "text", isOptional: true, hint: "public; at most 256 bytes" },
    ],
    payload: (typed) => {
      const memo = text(typed, "memo")
      const fields = { to: text(typed, "to"), amount: coins(typed, "amount") }
      return memo === "" ? fields : { ...fields, memo }
    },
    summary: (typed) => `Send ${inCoins(typed, "amount")} to ${text(typed, "to")}`,
  }),
  action({
    id: "delegate",
    type: "DelegateTx",
    title: "Delegate",
    about:
      "Locks coins with a validator for a share of its rewards. The coins stay yours but are slashed with the validator.",
    fields: ({ parameters }) => [
      { name: "validator", label: "Validator", kind: "validator" },
      amount(`at least ${Words.coins(parameters.min_delegation_sats)} UDG`),
    ],
    payload: (typed) => ({ validator: text(typed, "validator"), amount: coins(typed, "amount") }),
    summary: (typed) => `Delegate ${inCoins(typed, "amount")} to ${text(typed, "validator")}`,
  }),
  action({
    id: "undelegate",
    type: "UndelegateTx",
    title: "Undelegate",
    about: "Takes the whole delegation back. It counts until the epoch ends and is paid out after the cooldown.",
    fields: () => [],
    payload: () => ({}),
    summary: () => "Take the whole delegation back",
  }),
  action({
    id: "stake",
    type: "StakeTx",
    title: "Stake",
    about: "Makes the account a validator, or adds to its stake. A validator needs a running node.",
    fields: ({ parameters }) => [amount(`at least ${Words.coins(parameters.min_stake_sats)} UDG`)],
    payload: (typed) => ({ amount: coins(typed, "amount") }),
    summary: (typed) => `Stake ${inCoins(typed, "amount")}`,
  }),
  action({
    id: "unstake",
    type: "UnstakeTx",
    title: "Unstake",
    about: "Takes the whole stake back. It counts until the epoch ends and is paid out after the cooldown.",
    fields: () => [],
    payload: () => ({}),
    summary: () => "Take the whole stake back",
  }),
  action({
    id: "commission",
    type: "SetCommissionTx",
    title: "Commission",
    about: "The share of its delegators' rewards that a validator keeps.",
    fields: () => [{ name: "percent", label: "Commission in percent", kind: "integer", hint: "0 to 100" }],
    payload: (typed) => ({ commission_percent: integer(typed, "percent") }),
    summary: (typed) => `Set the commission to ${integer(typed, "percent")} %`,
  }),
  action({
    id: "vote",
    type: "VoteTx",
    title: "Vote",
    about: "One vote per proposal, for validators that were active when it was made.",
    fields: () => [
      { name: "proposal", label: "Proposal", kind: "proposal" },
      choice("vote", "Vote", { yes: "yes", no: "no" }),
    ],
    payload: (typed) => ({ proposal_id: integer(typed, "proposal"), vote: typed["vote"] === "yes" }),
    summary: (typed) => `Vote ${typed["vote"] === "yes" ? "yes" : "no"} on proposal #${integer(typed, "proposal")}`,
  }),
  action({
    id: "propose",
    type: "CreateProposalTx",
    title: "Propose",
    about:
      "Puts a proposal to the validators' vote. This needs a stake, or a seat in the council, and a bond that is returned " +
      "unless too few vote.",
    fields: (info, typed) => [
      { name: "title", label: "Title", kind: "text" },
      { name: "description", label: "Description", kind: "long", isOptional: true },
      choice("type", "Effect", {
        Text: "declare something",
        ParameterChange: "change a parameter",
        Upgrade: "upgrade the protocol",
        CouncilMembership: "change the council",
        TreasurySpend: "pay from the treasury",
      }),
      ...(proposalFields(info, typed)[typed["type"] ?? "Text"] ?? []),
    ],
    payload: (typed) => ({
      title: text(typed, "title"),
      description: text(typed, "description"),
      proposal_type: proposalType(typed),
    }),
    summary: (typed) => {
      const effect = Proposal.effect(Proposal.fieldsOf(proposalType(typed)), style)
      return `Propose "${text(typed, "title")}": ${effect ?? "declare something"}`
    },
  }),
  action({
    id: "name",
    type: "RegisterNameTx",
    title: "Name",
    about: "Registers a name under which others can find the account. One per account, first come first served.",
    fields: () => [{ name: "name", label: "Name", kind: "text", hint: "3 to 20 of a–z, 0–9 and -" }],
    payload: (typed) => ({ name: nameOf(typed) }),
    summary: (typed) => `Register @${nameOf(typed)}`,
  }),
]

/** A form's initial content: the first option of each choice, otherwise nothing. */
export const blank = (fields: ReadonlyArray<Field>): Typed =>
  Object.fromEntries(fields.map(({ name, options }) => [name, Object.keys(options ?? {})[0] ?? ""]))

/** What a link can fill in: choices from a list, and nothing that is typed. */
export const filledIn = (fields: ReadonlyArray<Field>, link: URLSearchParams): Typed =>
  Object.fromEntries(
    fields.flatMap(({ name, kind, options }) => {
      const value = link.get(name)
      const isChosen =
        kind === "validator" || kind === "proposal" || (options !== undefined && value !== null && value in options)
      return value !== null && isChosen ? [[name, value]] : []
    }),
  )
