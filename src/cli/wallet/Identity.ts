/** `udg name` and `udg policy`: the name of an account, and the keys that sign for it. */
import { Effect, Option } from "effect"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { Terminal } from "../terminal/Terminal.js"
import * as Sending from "./Sending.js"
import * as Verb from "./Verb.js"

const newName = Setting.argument("NAME", "3 to 20 characters of a-z, 0-9 and -, no - at either end", Reader.name)

export const name = Verb.make({
  name: "name",
  about: "registers a name for the account",
  settings: { newName, ...Sending.settings },
  examples: [["others can then pay @alice", "udg name alice"]],
  footer: ["An account can register one name, permanently. Names are first come, first served.", ...Sending.footer],
  run: (given) => Sending.send(given, "RegisterNameTx", { name: given.newName }),
})

const threshold = Setting.argument("THRESHOLD", "how many of the keys must sign", Reader.threshold)

const keys = Setting.remainingArguments(
  "KEY",
  "a public key, as udg address shows it; 1 to 16 of them",
  Reader.publicKey,
)

/** Warns users who are about to lock themselves out. */
const warnIfLeftOut = (key: Option.Option<{ readonly publicKey: string }>, chosen: ReadonlyArray<string>) =>
  Effect.map(Terminal, ({ isWatched, writeError }) => {
    const isLeftOut = Option.exists(key, ({ publicKey }) => !chosen.includes(publicKey))
    if (isWatched && isLeftOut) {
      writeError("The signing key is not in the list: afterwards it can no longer sign for this account.\n")
    }
  })

export const policy = Verb.make({
  name: "policy",
  about: "sets the keys that sign for the account",
  settings: { threshold, keys, ...Sending.settings },
  examples: [
    ["two of three must sign", "udg policy 2 KEY1 KEY2 KEY3"],
    ["replace the key", "udg policy 1 NEWKEY"],
  ],
  footer: [
    "The account keeps its address. Its transactions are then written to a file with --out FILE, signed with udg multisig " +
      "sign and sent with udg multisig submit. If you lose too many of the keys, you lose the account.",
    ...Sending.footer,
  ],
  run: (given) =>
    Sending.sendResolved(given, "SetAccountPolicyTx", ({ key }) =>
      Effect.as(warnIfLeftOut(key, given.keys), { threshold: given.threshold, keys: given.keys }),
    ),
})
