/** `udg send` and `udg faucet`: coins from one account to another. */
import { Effect, Option } from "effect"
import * as Wallet from "../../client/Wallet.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { WrongUsage } from "../settings/WrongUsage.js"
import * as Account from "./Account.js"
import * as Describe from "./Describe.js"
import * as Finality from "./Finality.js"
import * as Out from "./Out.js"
import * as Sending from "./Sending.js"
import * as Verb from "./Verb.js"

const to = Setting.argument("to", { placeholder: "TO", about: "who gets it: an address or a @name" }, Reader.text)

const amount = Setting.argument("amount", { placeholder: "AMOUNT", about: "how much, in UDG" }, Reader.positiveAmount)

const memo = Setting.value(
  "memo",
  { group: "Sending", placeholder: "TEXT", about: "text for the receiver, which all can read; at most 256 bytes" },
  Reader.text,
)

export const send = Verb.make({
  name: "send",
  about: "pays an account",
  settings: { to, amount, memo, ...Sending.settings },
  examples: [
    ["two and a half coins, with a word to them", "udg send @bob 2.5 --memo 'for the coffee'"],
    ["from a script: the hash, at once", "UDG_PASSPHRASE=… udg send tudg1… 2.5 --no-wait --json | jq -r .hash"],
  ],
  footer: Sending.footer,
  run: (given) =>
    Sending.send(given, "Transfer", ({ network, resolve }) =>
      Effect.map(resolve(given.to), (receiver) => (from, common) => {
        const fields = { ...common, to: receiver, amount: given.amount }
        const text = Option.getOrUndefined(given.memo)
        return Wallet.unsigned(network, from, "Transfer", text === undefined ? fields : { ...fields, memo: text })
      }),
    ),
})

const STANDARD_GIFT = Sats.make(100 * Sats.SATS_PER_COIN)

const gift = Setting.optionalArgument(
  "amount",
  { placeholder: "AMOUNT", about: "how much, in UDG", otherwise: Sats.formatCoin(STANDARD_GIFT) },
  Reader.positiveAmount,
)

const receiver = Setting.value(
  "to",
  { group: Verb.wallet, placeholder: "ACCOUNT", about: "who gets it", otherwise: "the account of the key" },
  Reader.text,
)

export const faucet = Verb.make({
  name: "faucet",
  about: "asks for free coins, on a testnet",
  settings: { gift, receiver, noWait: Sending.settings.noWait, key: Verb.key, node: Verb.node, json: Verb.json },
  examples: [["a hundred coins to begin with", "udg faucet"]],
  footer: [
    "A node gives each client something once in ten minutes; on a network of your own, --rate-limits off lifts that.",
  ],
  run: (given) =>
    Effect.gen(function* () {
      const node = Verb.nodeOf(given)
      const { address_prefix: prefix, parameters } = yield* node.ask((client) => client.core.network())
      const address = yield* Option.match(given.receiver, {
        onNone: () => Effect.map(Verb.keyOf(given), (held) => held.address),
        onSome: (text) => Account.resolve(node, prefix, text),
      })
      const amount = Option.getOrElse(given.gift, () => STANDARD_GIFT)
      const most = parameters.faucet_max_sats
      if (most !== null && amount > most) {
        return yield* new WrongUsage({
          message: `the faucet gives ${Describe.coins(most)} at a time; ask for that or less`,
        })
      }
      const { tx_hash: hash } = yield* node.tell(
        (client) => client.core.faucet({ payload: { address, amount } }),
        "see by udg balance",
      )
      if (given.noWait) {
        return yield* Out.lines(given.json, { hash, status: "pending" }, () => [
          ["hash", hash],
          ["status", "pending"],
        ])
      }
      const outcome = yield* Finality.withinReason(node, hash, parameters.round_interval_ms)
      yield* Out.lines(given.json, outcome, () => [
        ["received", Describe.coins(amount)],
        ["by", Describe.account(address, prefix)],
        ...Finality.lines(outcome),
      ])
      return yield* Finality.requireApplied(outcome)
    }),
})
