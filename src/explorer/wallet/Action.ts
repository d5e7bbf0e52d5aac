/** What an account can do, each as a form: its fields, and how they become a signed transaction. Pure. */
import * as Wallet from "../../client/Wallet.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import type { NetworkInfo } from "../live/Network.js"
import * as Words from "../show/Words.js"

/** What was typed, by the names of the fields. */
export type Typed = Readonly<Record<string, string>>

export interface Field {
  readonly name: string
  readonly label: string
  readonly kind: "account" | "coins" | "integer" | "text" | "long" | "choice"
  readonly hint?: string
  readonly options?: ReadonlyArray<readonly [value: string, label: string]>
  readonly isOptional?: boolean
}

interface Common {
  readonly nonce: number
  readonly fee: number
}

export interface Action {
  readonly id: string
  readonly title: string
  readonly about: string
  /** Which fields there are may depend on what was chosen. */
  readonly fields: (info: NetworkInfo, typed: Typed) => ReadonlyArray<Field>
  /** What is signed, which decides the fee. */
  readonly type: Wallet.Type
  /** Throws `InvalidInput` for what makes no transaction. */
  readonly sign: (account: Wallet.Account, typed: Typed, common: Common) => Wallet.SignedTransaction
  /** What is about to be signed, in one sentence: its numbers, not what was typed for them. Asked after `sign`. */
  readonly summary: (typed: Typed) => string
}

const text = (typed: Typed, name: string): string => typed[name]?.trim() ?? ""

/**
 * Without the commas between groups of three digits, with which this explorer shows numbers. For many people a comma begins
 * the decimals: no comma is ignored, since 2,5 would be 25.
 */
const ungrouped = (written: string): string => {
  if (!written.includes(",")) return written
  if (/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(written)) return written.replaceAll(",", "")
  throw new Wallet.InvalidInput(
    `"${written}": commas stand between groups of three digits; the decimals follow a point`,
  )
}

const integer = (typed: Typed, name: string): number => {
  const written = ungrouped(text(typed, name))
  if (!/^\d{1,15}$/.test(written)) throw new Wallet.InvalidInput(`"${text(typed, name)}" is no whole number`)
  return Number(written)
}

const coins = (typed: Typed, name: string) => Wallet.sats(ungrouped(text(typed, name)))

/** The amount that is signed, in coins. */
const inCoins = (typed: Typed, name: string): string => `${Words.coins(coins(typed, name))} UDG`

const amount = (hint?: string): Field => ({
  name: "amount",
  label: "Amount in UDG",
  kind: "coins",
  ...(hint === undefined ? {} : { hint }),
})

const proposalFields: Readonly<Record<string, ReadonlyArray<Field>>> = {
  Text: [],
  ParameterChange: [
    {
      name: "param",
      label: "Parameter",
      kind: "choice",
      options: Parameters.table.map(({ name }) => [name, name] as const),
    },
    { name: "value", label: "New value", kind: "integer", hint: "in the parameter's own unit; amounts in sats" },
  ],
  CouncilMembership: [
    {
      name: "action",
      label: "Change",
      kind: "choice",
      options: [
        ["add", "give a seat"],
        ["remove", "take the seat"],
      ],
    },
    { name: "member", label: "Account", kind: "account" },
  ],
  TreasurySpend: [
    { name: "recipient", label: "Who is paid", kind: "account" },
    { name: "amount", label: "Amount in UDG", kind: "coins", hint: "out of the treasury" },
  ],
}

const proposalType = (typed: Typed): Wallet.ProposalType => {
  switch (typed["type"]) {
    case "ParameterChange":
      return { ParameterChange: { param: text(typed, "param"), value: integer(typed, "value") } }
    case "CouncilMembership": {
      const action = typed["action"] === "remove" ? "remove" : "add"
      return { CouncilMembership: { action, address: text(typed, "member") } }
    }
    case "TreasurySpend": {
      return { TreasurySpend: { recipient: text(typed, "recipient"), amount: coins(typed, "amount") } }
    }
    default:
      return { Text: {} }
  }
}

/** What a proposal would do, with the account that it is about. */
const effect = (typed: Typed): string => {
  switch (typed["type"]) {
    case "ParameterChange":
      return `set ${text(typed, "param")} to ${integer(typed, "value")}`
    case "CouncilMembership":
      return typed["action"] === "remove"
        ? `take the council seat of ${text(typed, "member")}`
        : `give a council seat to ${text(typed, "member")}`
    case "TreasurySpend":
      return `pay ${inCoins(typed, "amount")} from the treasury to ${text(typed, "recipient")}`
    default:
      return "declare something"
  }
}

export const actions: ReadonlyArray<Action> = [
  {
    id: "send",
    type: "Transfer",
    title: "Send",
    about: "Coins to any account. Final within seconds.",
    fields: () => [
      { name: "to", label: "To", kind: "account" },
      amount(),
      { name: "memo", label: "Memo", kind: "text", isOptional: true, hint: "public; at most 256 bytes" },
    ],
    sign: (account, typed, common) => {
      const memo = text(typed, "memo")
      const fields = { ...common, to: text(typed, "to"), amount: coins(typed, "amount") }
      return account.transfer(memo === "" ? fields : { ...fields, memo })
    },
    summary: (typed) => `Send ${inCoins(typed, "amount")} to ${text(typed, "to")}`,
  },
  {
    id: "delegate",
    type: "DelegateTx",
    title: "Delegate",
    about: "Lends stake to a validator for a share of its rewards. It stays yours, and is slashed with the validator.",
    fields: ({ parameters }) => [
      { name: "validator", label: "Validator", kind: "account" },
      amount(`at least ${Words.coins(parameters.min_delegation_sats)} UDG`),
    ],
    sign: (account, typed, { nonce }) =>
      account.delegate({ nonce, validator: text(typed, "validator"), amount: coins(typed, "amount") }),
    summary: (typed) => `Delegate ${inCoins(typed, "amount")} to ${text(typed, "validator")}`,
  },
  {
    id: "undelegate",
    type: "UndelegateTx",
    title: "Undelegate",
    about: "Takes the whole delegation back. It works until the epoch ends and is paid out after the cooldown.",
    fields: () => [],
    sign: (account, _, { nonce }) => account.undelegate({ nonce }),
    summary: () => "Take the whole delegation back",
  },
  {
    id: "stake",
    type: "StakeTx",
    title: "Stake",
    about: "Makes the account a validator, or adds to its stake. A validator needs a node that runs.",
    fields: ({ parameters }) => [amount(`at least ${Words.coins(parameters.min_stake_sats)} UDG`)],
    sign: (account, typed, { nonce }) => account.stake({ nonce, amount: coins(typed, "amount") }),
    summary: (typed) => `Stake ${inCoins(typed, "amount")}`,
  },
  {
    id: "unstake",
    type: "UnstakeTx",
    title: "Unstake",
    about: "Takes the whole stake back. It works until the epoch ends and is paid out after the cooldown.",
    fields: () => [],
    sign: (account, _, { nonce }) => account.unstake({ nonce }),
    summary: () => "Take the whole stake back",
  },
  {
    id: "commission",
    type: "SetCommissionTx",
    title: "Commission",
    about: "What a validator keeps of its delegators' rewards.",
    fields: () => [{ name: "percent", label: "Commission in percent", kind: "integer", hint: "0 to 100" }],
    sign: (account, typed, { nonce }) =>
      account.setCommission({ nonce, commission_percent: integer(typed, "percent") }),
    summary: (typed) => `Set the commission to ${integer(typed, "percent")} %`,
  },
  {
    id: "vote",
    type: "VoteTx",
    title: "Vote",
    about: "One vote for each proposal, by validators that were active when it was made.",
    fields: () => [
      { name: "proposal", label: "Number of the proposal", kind: "integer" },
      {
        name: "vote",
        label: "Vote",
        kind: "choice",
        options: [
          ["yes", "yes"],
          ["no", "no"],
        ],
      },
    ],
    sign: (account, typed, common) =>
      account.vote({ ...common, proposal_id: integer(typed, "proposal"), vote: typed["vote"] === "yes" }),
    summary: (typed) => `Vote ${typed["vote"] === "yes" ? "yes" : "no"} on proposal #${integer(typed, "proposal")}`,
  },
  {
    id: "propose",
    type: "CreateProposalTx",
    title: "Propose",
    about:
      "Something for the validators to vote on. It takes a stake, or a seat in the council, and a bond that comes back " +
      "unless too few vote.",
    fields: (_, typed) => [
      { name: "title", label: "Title", kind: "text" },
      { name: "description", label: "Description", kind: "long", isOptional: true },
      {
        name: "type",
        label: "What it would do",
        kind: "choice",
        options: [
          ["Text", "declare something"],
          ["ParameterChange", "change a parameter"],
          ["CouncilMembership", "change the council"],
          ["TreasurySpend", "pay from the treasury"],
        ],
      },
      ...(proposalFields[typed["type"] ?? "Text"] ?? []),
    ],
    sign: (account, typed, common) =>
      account.createProposal({
        ...common,
        title: text(typed, "title"),
        description: text(typed, "description"),
        proposal_type: proposalType(typed),
      }),
    summary: (typed) => `Propose "${text(typed, "title")}": ${effect(typed)}`,
  },
  {
    id: "name",
    type: "RegisterNameTx",
    title: "Name",
    about: "A name that others find the account by. One for each account, first come first served.",
    fields: () => [{ name: "name", label: "Name", kind: "text", hint: "3 to 20 of a–z, 0–9 and -" }],
    sign: (account, typed, common) => account.registerName({ ...common, name: text(typed, "name").replace(/^@/, "") }),
    summary: (typed) => `Register @${text(typed, "name").replace(/^@/, "")}`,
  },
]

/** What stands in the form when it is opened: of a choice the first option, of all else nothing. */
export const blank = (fields: ReadonlyArray<Field>): Typed =>
  Object.fromEntries(fields.map(({ name, options }) => [name, options?.[0]?.[0] ?? ""]))
