/** `udg convert`: other forms of an amount, address or public key. Needs no node. */
import { Effect, Either, Option, Schema } from "effect"
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

/**
 * Plain digits, or digits in groups of three as this command prints them. Sats have no decimals that a comma could
 * start.
 */
const SATS = /^(?:\d+|\d{1,3}(?:,\d{3})+)$/

const sats: Reader.Reader<Sats.Sats> = (text) => {
  if (!SATS.test(text)) return Either.left("is not an amount of sats; use a whole number such as 250000000")
  const number = Number(text.replaceAll(",", ""))
  return Sats.isSats(number)
    ? Either.right(number)
    : Either.left(`is more than the maximum supply; use at most ${Sats.MAX_SUPPLY}`)
}

/** `250000000sats`: the unit may follow the amount without a space. */
const parted = (value: string, unit: Option.Option<"udg" | "sats">) => {
  const [, amount = value, attached] = /^([\d.,]+)(udg|sats)$/i.exec(value) ?? []
  const isSats = attached === undefined ? Option.contains(unit, "sats") : attached.toLowerCase() === "sats"
  return { amount, read: isSats ? sats : Reader.amount }
}

const isFigure = (text: string): boolean => /^[-+\d.,]+$/.test(text)

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
      "Hashes have no form besides their 64 hex characters.",
  ],
  run: ({ value, unit, json }) => {
    const address = Either.getRight(Account.ofAnyNetwork(value))
    if (Option.isSome(address)) return showAddress(json, address.value)
    const key = publicKey(value)
    if (Option.isSome(key)) return showAddress(json, Address.fromPublicKey(key.value))
    const { amount, read } = parted(value, unit)
    return Effect.matchEffect(read(amount), {
      onSuccess: (sats) => showAmount(json, sats),
      onFailure: (complaint) =>
        wrongUsage(
          isFigure(amount)
            ? `${quote(value)} ${complaint}`
            : `${quote(value)} is neither an amount, as 2.5 or 1000 sats, nor an address, nor a public key`,
        ),
    })
  },
})
