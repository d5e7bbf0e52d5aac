/** `udg send` and `udg faucet`: payments. */
import { Effect, Option } from "effect"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { wrongUsage } from "../settings/WrongUsage.js"
import * as Out from "../terminal/Out.js"
import * as Describe from "./Describe.js"
import * as Finality from "./Finality.js"
import * as Sending from "./Sending.js"
import * as Verb from "./Verb.js"

const to = Setting.argument("TO", "the recipient: an address or a @name", Reader.text)

const amount = Setting.argument("AMOUNT", "how much, in UDG", Reader.positiveAmount)

const memo = Sending.sending.optional("--memo TEXT", "public text for the recipient, at most 256 bytes", Reader.text)

export const send = Verb.make({
  name: "send",
  about: "pays an account",
  settings: { to, amount, memo, ...Sending.settings },
  examples: [
    ["two and a half coins, with a note", "udg send @bob 2.5 --memo 'for the coffee'"],
    [
      "from a script: print the hash, without waiting",
      "UDG_PASSPHRASE=… udg send tudg1… 2.5 --no-wait --json | jq -r .hash",
    ],
  ],
  footer: Sending.footer,
  run: (given) =>
    Sending.sendResolved(given, "Transfer", ({ resolve }) =>
      Effect.map(resolve(given.to), (receiver) => {
        const fields = { to: receiver, amount: given.amount }
        return Option.match(given.memo, { onNone: () => fields, onSome: (text) => ({ ...fields, memo: text }) })
      }),
    ),
})

const STANDARD_GIFT = Sats.make(100 * Sats.SATS_PER_COIN)

const gift = Setting.optionalArgument(
  "AMOUNT",
  "how much, in UDG",
  Reader.positiveAmount,
  Sats.formatCoin(STANDARD_GIFT),
)

const receiver = Verb.wallet.optional("--to ACCOUNT", "the recipient", Reader.text, "the account of the key")

export const faucet = Verb.make({
  name: "faucet",
  about: "asks for free coins, on a testnet",
  settings: { gift, receiver, noWait: Sending.settings.noWait, key: Verb.key, node: Verb.node, json: Verb.json },
  examples: [["a hundred coins to begin with", "udg faucet"]],
  footer: [
    "A node pays each client once in ten minutes. Ask for enough, and pay other accounts from the first with udg send. " +
      "udg dev and --rate-limits off have no limit.",
  ],
  run: (given) =>
    Effect.gen(function* () {
      const contact = yield* Verb.contact(given)
      const { node, info, prefix } = contact
      const address = yield* Verb.addressOf(given.receiver, given, contact)
      const amount = Option.getOrElse(given.gift, () => STANDARD_GIFT)
      const most = info.parameters.faucet_max_sats
      if (most !== null && amount > most) {
        return yield* wrongUsage(`the faucet pays at most ${Describe.coins(most)} at a time; ask for less`)
      }
      const { tx_hash: hash } = yield* node.tell(
        (client) => client.core.faucet({ payload: { address, amount } }),
        "check with udg balance",
      )
      if (given.noWait) return yield* Sending.showPending(given.json, hash)
      const outcome = yield* Finality.withinReason(node, hash, info)
      yield* Out.lines(given.json, outcome, () => [
        ["received", Describe.coins(amount)],
        ["account", Describe.account(address, prefix)],
        ...Finality.lines(outcome),
      ])
      return yield* Finality.requireApplied(outcome)
    }),
})
