/** `udg propose` and `udg vote`. */
import { Effect, Option } from "effect"
import type * as Wallet from "../../client/Wallet.js"
import * as ProtocolVersion from "../../protocol/epoch/ProtocolVersion.js"
import type * as Command from "../settings/Command.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { wrongUsage } from "../settings/WrongUsage.js"
import { Terminal } from "../terminal/Terminal.js"
import * as Sending from "./Sending.js"
import * as Verb from "./Verb.js"

const title = Setting.argument("TITLE", "its title, 1 to 128 bytes", Reader.text)

const description = Sending.sending.optional("--description TEXT", "the reason, at most 4096 bytes", Reader.text)

const effect = Setting.group("Effect of the proposal (at most one)")

const effects = {
  set: effect.optional("--set NAME=VALUE", "set a parameter, such as min_fee_sats=2000", Reader.parameterChange),
  seat: effect.optional("--seat ACCOUNT", "give an account a seat in the council", Reader.text),
  unseat: effect.optional("--unseat ACCOUNT", "take an account's seat in the council", Reader.text),
  pay: effect.optional("--pay ACCOUNT:UDG", "pay an account from the treasury", Reader.payment),
}

type ProposalType = Effect.Effect<Wallet.ProposalType, Effect.Effect.Error<ReturnType<Sending.Context["resolve"]>>>

/** The requested effects as proposal types. */
const proposalTypes = ({ set, seat, unseat, pay }: Command.Values<typeof effects>, { resolve }: Sending.Context) => {
  const membership = (action: "add" | "remove") => (text: string) =>
    Effect.map(resolve(text), (address) => ({ CouncilMembership: { action, address } }))
  const types: ReadonlyArray<Option.Option<ProposalType>> = [
    Option.map(set, (change) => Effect.succeed({ ParameterChange: change })),
    Option.map(seat, membership("add")),
    Option.map(unseat, membership("remove")),
    Option.map(pay, ({ to, amount }) =>
      Effect.map(resolve(to), (recipient) => ({ TreasurySpend: { recipient, amount } })),
    ),
  ]
  return types.flatMap(Option.toArray)
}

/** Shown before the passphrase is asked for, and to scripts. */
const warnOfUnknownVersion = ({ set }: Command.Values<typeof effects>) =>
  Effect.map(Terminal, ({ writeError }) => {
    if (Option.isNone(set) || set.value.param !== ProtocolVersion.PARAMETER) return
    if (set.value.value <= ProtocolVersion.NEWEST) return
    writeError(
      `warning: this program knows protocol versions up to ${ProtocolVersion.NEWEST}, not ${set.value.value}: if the vote passes, ` +
        "every node that runs it stops with exit code 103; see docs/operations/upgrade.md#upgrading-the-protocol\n",
    )
  })

export const propose = Verb.make({
  name: "propose",
  about: "puts a proposal to the validators' vote",
  settings: { title, description, ...effects, ...Sending.settings },
  examples: [
    ["raise the minimum fee", "udg propose 'Raise the fee' --set min_fee_sats=2000 --key data/validator.key"],
    ["pay somebody from the treasury", "udg propose 'Thank Dora' --pay @dora:500"],
    ["put an opinion on record", "udg propose 'Fewer meetings' --description 'They are too long.'"],
  ],
  footer: [
    "It takes a seat in the council, or a stake, and a bond that is returned unless too few vote; udg proposals shows the " +
      "outcome.",
    ...Sending.footer,
  ],
  run: (given) =>
    Sending.sendResolved(given, "CreateProposalTx", (context) => {
      const [chosen = Effect.succeed({ Text: {} }), ...others] = proposalTypes(given, context)
      if (others.length > 0) {
        return wrongUsage("a proposal has one effect; use one of --set, --seat, --unseat and --pay")
      }
      const text = { title: given.title, description: Option.getOrElse(given.description, () => "") }
      return Effect.map(Effect.zipLeft(chosen, warnOfUnknownVersion(given)), (proposal_type) => ({
        ...text,
        proposal_type,
      }))
    }),
})

const proposal = Setting.argument("ID", "the number of the proposal", Reader.proposalId)

const choice = Setting.argument("yes|no", "the vote; it cannot be changed", Reader.choice("yes", "no"))

export const vote = Verb.make({
  name: "vote",
  about: "votes on a proposal",
  settings: { proposal, choice, ...Sending.settings },
  examples: [["for the third", "udg vote 3 yes --key data/validator.key"]],
  footer: ["Validators that were active when the proposal was made have one vote each.", ...Sending.footer],
  run: (given) => Sending.send(given, "VoteTx", { proposal_id: given.proposal, vote: given.choice === "yes" }),
})
