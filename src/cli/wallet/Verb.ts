/** One verb of the wallet: its words, its page of help, and what it does. */
import type { FileSystem, Path, Terminal as PlatformTerminal } from "@effect/platform"
import { Effect, Option } from "effect"
import * as Command from "../settings/Command.js"
import type * as Help from "../settings/Help.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import type { Terminal } from "../settings/Terminal.js"
import type { WrongUsage } from "../settings/WrongUsage.js"
import * as KeyStore from "./KeyStore.js"
import * as Node from "./Node.js"
import { kinds, type WalletFailure } from "./WalletFailure.js"

type Settings = Record<string, Setting.Setting<unknown>>

export interface Verb {
  readonly name: string
  readonly about: string
  readonly page: (version: string) => Help.Page
  readonly runsUntilStopped: boolean
  readonly run: (words: ReadonlyArray<string>) => Effect.Effect<void, WalletFailure | WrongUsage, Environment>
}

/** What reading words and doing what they say may use. */
type Environment = FileSystem.FileSystem | Path.Path | PlatformTerminal.Terminal | Terminal

interface Definition<S extends Settings> {
  readonly name: string
  readonly about: string
  readonly settings: S
  readonly examples: Help.Page["examples"]
  readonly footer?: ReadonlyArray<string>
  readonly runsUntilStopped?: boolean
  readonly run: (values: Command.Values<S>) => Effect.Effect<void, WalletFailure | WrongUsage, Environment>
}

const usageOf = ({ takes, placeholder, isRequired }: Setting.Setting<unknown>): string =>
  isRequired ? `${placeholder}${takes === "arguments" ? "..." : ""}` : `[${placeholder}]`

/** With those that every command has. */
export const exitCodes: ReadonlyArray<readonly [code: number, about: string]> = [
  [0, "done"],
  [1, "wrong usage"],
  ...Object.values(kinds).map(({ exitCode, about }) => [exitCode, about] as const),
  [130, "interrupted"],
]

export const make = <const S extends Settings>({
  name,
  about,
  settings,
  examples,
  footer = [],
  runsUntilStopped = false,
  run,
}: Definition<S>): Verb => {
  const all = Object.values(settings)
  const usage = ["udg", name, ...all.filter(Setting.isArgument).map(usageOf), "[options]"].join(" ")
  return {
    name,
    about,
    page: (version) => ({
      title: `udg ${version}: ${about}`,
      usage,
      settings: all,
      examples,
      footer: [...footer, `Exit codes: ${exitCodes.map(([code, what]) => `${code} ${what}`).join("; ")}.`],
    }),
    runsUntilStopped,
    run: (words) => Effect.flatMap(Command.read(settings, words), ({ values }) => run(values)),
  }
}

export const output = "Output"
export const wallet = "Wallet"

export const node = Setting.value(
  "node",
  { group: wallet, placeholder: "URL", about: "the node to talk to", otherwise: Node.DEFAULT_URL },
  Reader.url,
)

export const key = Setting.value(
  "key",
  {
    group: wallet,
    placeholder: "FILE",
    about: "the key: an encrypted file of udg keygen, or a node's own such as validator.key",
    otherwise: "~/.udg/wallet.key",
  },
  Reader.keyPath,
)

export const json = Setting.flag(
  "json",
  { group: output, placeholder: "", about: "JSON for scripts, amounts in sats, instead of words for people" },
  Reader.boolean("true", "false"),
)

/** The node that was named, or the one on this machine. */
export const nodeOf = ({ node }: { readonly node: Option.Option<string> }) =>
  Node.connect(Option.getOrElse(node, () => Node.DEFAULT_URL))

export const keyOf = ({ key }: { readonly key: Option.Option<string> }) => KeyStore.load(key)
