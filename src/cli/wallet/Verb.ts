/** One verb of the wallet, and settings that several verbs share. */
import { Effect, Option } from "effect"
import * as KeyStore from "../keys/KeyStore.js"
import { kinds } from "../keys/WalletFailure.js"
import * as Command from "../settings/Command.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import * as Account from "./Account.js"
import * as Node from "./Node.js"

/** Exit codes, including those that every command has. */
export const exitCodes: ReadonlyArray<readonly [code: number, about: string]> = [
  [0, "done"],
  [1, "wrong usage"],
  ...Object.values(kinds).map(({ exitCode, about }) => [exitCode, about] as const),
  [130, "interrupted"],
]

const exitCodesLine = `Exit codes: ${exitCodes.map(([code, about]) => `${code} ${about}`).join("; ")}.`

export const make: typeof Command.make = (definition) =>
  Command.make({ ...definition, footer: [...(definition.footer ?? []), exitCodesLine] })

export const withActions: typeof Command.withActions = (description, actions) =>
  Command.withActions({ ...description, footer: [...(description.footer ?? []), exitCodesLine] }, actions)

export const wallet = Setting.group("Wallet")

export const node = wallet.withDefault("--node URL", "the node to talk to", Reader.url, Node.DEFAULT_URL)

export const key = wallet.optional(
  "--key FILE",
  "the key: an encrypted file of udg keygen, or a node's own such as validator.key",
  Reader.keyPath,
  "~/.udg/wallet.key",
)

export const passphraseFile = wallet.optional(
  "--key-passphrase-file FILE",
  "file with the passphrase of the key, as a node reads it",
  Reader.keyPath,
  "UDG_PASSPHRASE, or asked for",
)

export const json = Setting.group("Output").flag(
  "--json",
  "JSON for scripts, amounts in sats, instead of text for people",
)

/** Connects to the node and reads its description of the network. */
export const contact = ({ node: url }: { readonly node: string }) => {
  const node = Node.connect(url)
  return Effect.map(
    node.ask((client) => client.core.network()),
    (info) => ({ node, info, prefix: info.address_prefix }),
  )
}

export type Contact = Effect.Effect.Success<ReturnType<typeof contact>>

export const keyOf = ({ key }: { readonly key: Option.Option<string> }) => KeyStore.load(key)

export const account = Setting.optionalArgument(
  "ACCOUNT",
  "an address or a @name",
  Reader.text,
  "the account of the key",
)

/** The named account's address; without a name, that of the key. */
export const addressOf = (
  account: Option.Option<string>,
  given: { readonly key: Option.Option<string> },
  { node, prefix }: Contact,
) =>
  Option.match(account, {
    onNone: () => Effect.map(keyOf(given), ({ address }) => address),
    onSome: (text) => Account.resolve(node, prefix, text),
  })
