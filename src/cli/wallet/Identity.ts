/** `udg name` and `udg policy`: what an account is called, and who signs for it. */
import { Effect, Option } from "effect"
import * as Wallet from "../../client/Wallet.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { Terminal } from "../settings/Terminal.js"
import * as Sending from "./Sending.js"
import * as Verb from "./Verb.js"

const wanted = Setting.argument(
  "name",
  { placeholder: "NAME", about: "3 to 20 characters of a-z, 0-9 and -, no - at either end" },
  Reader.name,
)

export const name = Verb.make({
  name: "name",
  about: "registers a name for the account",
  settings: { wanted, ...Sending.settings },
  examples: [["from then on others may pay @alice", "udg name alice"]],
  footer: ["One for each account, for good, first come first served.", ...Sending.footer],
  run: (given) =>
    Sending.send(given, "RegisterNameTx", ({ network }) =>
      Effect.succeed((from, common) =>
        Wallet.unsigned(network, from, "RegisterNameTx", { ...common, name: given.wanted }),
      ),
    ),
})

const threshold = Setting.argument(
  "threshold",
  { placeholder: "THRESHOLD", about: "how many of the keys must sign" },
  Reader.threshold,
)

const keys = Setting.remainingArguments(
  "keys",
  { placeholder: "KEY", about: "a public key, as udg address shows it; 1 to 16 of them" },
  Reader.publicKey,
)

/** Nobody should lock themselves out without having read it. */
const warn = (key: Option.Option<{ readonly publicKey: string }>, wanted: ReadonlyArray<string>) =>
  Effect.map(Terminal, ({ isWatched, writeError }) => {
    const isLeftOut = Option.exists(key, ({ publicKey }) => !wanted.includes(publicKey))
    if (isWatched && isLeftOut) {
      writeError("The key that signs this is not among them: from then on it signs for nothing.\n")
    }
  })

export const policy = Verb.make({
  name: "policy",
  about: "lets several keys sign for the account, or another one",
  settings: { threshold, keys, ...Sending.settings },
  examples: [
    ["two of three must sign from then on", "udg policy 2 KEY1 KEY2 KEY3"],
    ["replace the key", "udg policy 1 NEWKEY"],
  ],
  footer: [
    "The account keeps its address. From then on its transactions are written to a file by --out FILE, signed by udg " +
      "multisig sign and sent by udg multisig submit. Whoever loses too many of the keys loses the account.",
    ...Sending.footer,
  ],
  run: (given) =>
    Sending.send(given, "SetAccountPolicyTx", ({ network, key }) =>
      Effect.as(warn(key, given.keys), (from, common) =>
        Wallet.unsigned(network, from, "SetAccountPolicyTx", {
          ...common,
          threshold: given.threshold,
          keys: given.keys,
        }),
      ),
    ),
})
