/** `udg convert`: the other forms of an amount, an address or a public key, without a node. */
import { Either, Option, Schema } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { quote, wrongUsage } from "../settings/WrongUsage.js"
import * as Figure from "../terminal/Figure.js"
import * as Out from "../terminal/Out.js"
import * as Account from "./Account.js"
import * as Describe from "./Describe.js"
import * as Verb from "./Verb.js"

const value = Setting.argument("VALUE", "an amount, an address or a public key", Reader.text)

const unit = Setting.optionalArgument("udg|sats", "the unit of the amount", Reader.choice("udg", "sats"), "udg")

const publicKey = Schema.decodeUnknownOption(Keys.PublicKey)

const ofSats = (text: string): Option.Option<Sats.Sats> =>
  Option.filter(
    Option.map(Option.liftPredicate((digits: string) => /^\d{1,16}$/.test(digits))(text), Number),
    Sats.isSats,
  )

const showAmount = (asJson: boolean, sats: Sats.Sats) =>
  Out.lines(asJson, { udg: Sats.formatCoin(sats), sats }, () => [
    ["udg", Figure.amount(sats)],
    ["sats", Figure.count(sats)],
  ])

const showAddress = (asJson: boolean, address: Address.Address) =>
  Out.lines(asJson, Describe.formsOf(address), () => Describe.forms(address))

export const convert = Verb.make({
  name: "convert",
  about: "shows the other forms of an amount, an address or a public key",
  settings: { value, unit, json: Verb.json },
  examples: [
    ["coins in sats, and sats in coins", "udg convert 2.5; udg convert 1000 sats"],
    ["an address in all its forms, and the address of a public key", "udg convert tudg1…; udg convert KEY"],
  ],
  footer: [
    "A coin, 1 UDG, is 100,000,000 sats. Both bech32m forms of an address are the same account of different networks. " +
      "Hashes have no other form than their 64 hex characters.",
  ],
  run: ({ value, unit, json }) => {
    const address = Either.getRight(Account.ofAnyNetwork(value))
    if (Option.isSome(address)) return showAddress(json, address.value)
    const key = publicKey(value)
    if (Option.isSome(key)) return showAddress(json, Address.fromPublicKey(key.value))
    const isSats = Option.contains(unit, "sats")
    const sats = isSats ? ofSats(value) : Sats.parseCoin(value)
    if (Option.isSome(sats)) return showAmount(json, sats.value)
    return wrongUsage(
      `${quote(value)} is neither an amount of ${isSats ? "sats" : "UDG"}, nor an address, nor a public key; see --help`,
    )
  },
})
