/** `udg propose` and `udg vote`. */
import { Effect, Option } from "effect"
import * as Wallet from "../../client/Wallet.js"
import type * as Command from "../settings/Command.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { WrongUsage } from "../settings/WrongUsage.js"
import * as Sending from "./Sending.js"
import * as Verb from "./Verb.js"

const group = "What it would do, one at most"

const title = Setting.argument(
  "title",
  { placeholder: "TITLE", about: "what it is called, in 1 to 128 bytes" },
  Reader.text,
)

const description = Setting.value(
  "description",
  { group: "Sending", placeholder: "TEXT", about: "why, in at most 4096 bytes" },
  Reader.text,
)

const effects = {
  set: Setting.value(
    "set",
    { group, placeholder: "NAME=VALUE", about: "set a parameter, such as min_fee_sats=2000" },
    Reader.parameterChange,
  ),
  seat: Setting.value(
    "seat",
    { group, placeholder: "ACCOUNT", about: "give an account a seat in the council" },
    Reader.text,
  ),
  unseat: Setting.value(
    "unseat",
    { group, placeholder: "ACCOUNT", about: "take an account's seat in the council" },
    Reader.text,
  ),
  pay: Setting.value(
    "pay",
    { group, placeholder: "ACCOUNT:UDG", about: "pay an account from the treasury" },
    Reader.payment,
  ),
}

type Effects = Command.Values<typeof effects>

const membership = (action: "add" | "remove", text: string, { resolve }: Sending.Context) =>
  Effect.map(resolve(text), (address): Wallet.ProposalType => ({ CouncilMembership: { action, address } }))

/** Each effect that was asked for, as the type of a proposal. */
const proposalTypes = ({ set, seat, unseat, pay }: Effects, context: Sending.Context) => [
  ...Option.toArray(Option.map(set, (change) => Effect.succeed<Wallet.ProposalType>({ ParameterChange: change }))),
  ...Option.toArray(Option.map(seat, (text) => membership("add", text, context))),
  ...Option.toArray(Option.map(unseat, (text) => membership("remove", text, context))),
  ...Option.toArray(
    Option.map(pay, ({ to, amount }) =>
      Effect.map(context.resolve(to), (recipient): Wallet.ProposalType => ({ TreasurySpend: { recipient, amount } })),
    ),
  ),
]

const opinion: Wallet.ProposalType = { Text: {} }

export const propose = Verb.make({
  name: "propose",
  about: "puts something to the validators' vote",
  settings: { title, description, ...effects, ...Sending.settings },
  examples: [
    ["raise the least fee", "udg propose 'Raise the fee' --set min_fee_sats=2000 --key data/validator.key"],
    ["pay somebody from the treasury", "udg propose 'Thank Dora' --pay @dora:500"],
    ["put an opinion on record", "udg propose 'Fewer meetings' --description 'They are too long.'"],
  ],
  footer: [
    "It takes a seat in the council, or a stake, and a bond that comes back unless too few vote; udg proposals shows what became of it.",
    ...Sending.footer,
  ],
  run: (given) =>
    Sending.send(given, "CreateProposalTx", (context) => {
      const [proposed = Effect.succeed(opinion), ...others] = proposalTypes(given, context)
      if (others.length > 0) {
        return new WrongUsage({ message: "a proposal does one thing; give one of --set, --seat, --unseat and --pay" })
      }
      return Effect.map(
        proposed,
        (proposal_type) => (from, common) =>
          Wallet.unsigned(context.network, from, "CreateProposalTx", {
            ...common,
            title: given.title,
            description: Option.getOrElse(given.description, () => ""),
            proposal_type,
          }),
      )
    }),
})

const proposal = Setting.argument("id", { placeholder: "ID", about: "the number of the proposal" }, Reader.proposalId)

const choice = Setting.argument(
  "vote",
  { placeholder: "yes|no", about: "the vote; it cannot be changed" },
  Reader.choice("yes", "no"),
)

export const vote = Verb.make({
  name: "vote",
  about: "votes on a proposal",
  settings: { proposal, choice, ...Sending.settings },
  examples: [["for the third", "udg vote 3 yes --key data/validator.key"]],
  footer: ["Who was an active validator when the proposal was made has one vote.", ...Sending.footer],
  run: (given) =>
    Sending.send(given, "VoteTx", ({ network }) =>
      Effect.succeed((from, common) =>
        Wallet.unsigned(network, from, "VoteTx", {
          ...common,
          proposal_id: given.proposal,
          vote: given.choice === "yes",
        }),
      ),
    ),
})
