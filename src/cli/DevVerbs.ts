/** The subcommands of `udg dev` that control a running network over HTTP. */
import { FileSystem } from "@effect/platform"
import { Console, Data, Effect, Schema } from "effect"
import { SecretKey } from "../protocol/identity/Keys.js"
import * as Command from "./settings/Command.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import { wrongUsage } from "./settings/WrongUsage.js"
import * as Figure from "./terminal/Figure.js"
import * as Sheet from "./terminal/Sheet.js"
import * as Sending from "./wallet/Sending.js"
import * as Wallet from "./wallet/Wallet.js"

class ControlFailed extends Data.TaggedError("ControlFailed")<{ readonly message: string }> {}

const controls = Setting.group("All actions").withDefault(
  "--controls URL",
  "URL of the network's controls",
  Reader.url,
  "http://127.0.0.1:10334",
)

const account = Setting.argument("ACCOUNT", "an account: hex, bech32m or @name", Reader.text)
const coins = Setting.argument("COINS", "amount in UDG", Reader.amount)
const rounds = Setting.argument("ROUNDS", "number of rounds", Reader.count)
const duration = Setting.argument("TIME", "how long: 90s, 15m, 2h or 3d", Reader.duration)
const nonce = Setting.argument("NONCE", "the account's next nonce", Reader.count)
const name = Setting.argument("NAME", "a name without the @", Reader.name)
const snapshot = Setting.argument("SNAPSHOT", "the number of a snapshot", Reader.count)

const newFile = Setting.argument("NEWFILE", "a new file for the state", Reader.newFile)
const file = Setting.argument("FILE", "a state written by udg dev dump", Reader.file)

/** The wallet's verbs that send transactions; these can be impersonated. */
const acts: ReadonlyMap<string, Command.Command> = new Map(
  Wallet.verbs.filter(({ settings }) => settings.includes(Sending.settings.out)).map((verb) => [verb.name, verb]),
)

const act = Setting.remainingArguments("VERB", `a command of the wallet: ${[...acts.keys()].join(", ")}`, Reader.text)

const Answer = Schema.Record({ key: Schema.String, value: Schema.Unknown })
const Refusal = Schema.Struct({ error: Schema.String })

const JSON_BODY = { "content-type": "application/json" }

const noControls = (url: string) =>
  new ControlFailed({ message: `no controls answer at ${url}; start udg dev, or name its controls with --controls` })

const COINS = new Set(["balance", "stake"])

/** Amounts are in UDG, as they are typed; over HTTP they are in sats. */
const written = (label: string, value: unknown): string => {
  if (typeof value === "number" && COINS.has(label)) return Figure.coins(value)
  return typeof value === "string" ? value : JSON.stringify(value)
}

const asked = (url: string, init?: RequestInit) =>
  Effect.tryPromise({
    try: async () => {
      const response = await fetch(url, init)
      return { isDone: response.ok, body: await response.json() }
    },
    catch: () => noControls(url),
  })

/** Sends the request and prints each field of the response on a line. */
const perform = (url: string, init?: RequestInit) =>
  Effect.gen(function* () {
    const { isDone, body } = yield* asked(url, init)
    if (!isDone) {
      const refusal = Schema.decodeUnknownOption(Refusal)(body)
      return yield* new ControlFailed({
        message: refusal._tag === "Some" ? refusal.value.error : noControls(url).message,
      })
    }
    const answer = yield* Effect.mapError(Schema.decodeUnknown(Answer)(body), () => noControls(url))
    yield* Console.log(Sheet.indented(Object.entries(answer).map(([label, value]) => [label, written(label, value)])))
  })

const Status = Schema.Struct({ rpc: Schema.String, impersonation_key: Schema.String })

/** Runs a wallet verb against this network with the key that it accepts for every account. */
const impersonate = (words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const at = words.findIndex((word) => acts.has(word))
    const verb = acts.get(words[at] ?? "")
    if (verb === undefined)
      return yield* wrongUsage(
        `name the account and a command, such as send @bob 5; the commands: ${[...acts.keys()].join(", ")}`,
      )
    const rest = words.slice(at + 1)
    const place = rest.findIndex((word) => /^--controls(=|$)/.test(word))
    const own = place < 0 ? [] : rest.splice(place, rest[place] === "--controls" ? 2 : 1)
    const { values } = yield* Command.read({ account, controls }, [...words.slice(0, at), ...own])
    const { body } = yield* asked(values.controls)
    const status = yield* Effect.mapError(Schema.decodeUnknown(Status)(body), () => noControls(values.controls))
    const key = yield* Effect.mapError(SecretKey.fromHex(status.impersonation_key), () => noControls(values.controls))
    const impersonated = { account: values.account, key }
    yield* Effect.provideService(verb.run([...rest, "--node", status.rpc], ""), Sending.Impersonated, impersonated)
  })

const State = Schema.Struct({ state: Schema.Uint8ArrayFromBase64 })

const dump = (url: string, file: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const { body } = yield* asked(`${url}/dump`, { method: "POST", headers: JSON_BODY, body: "{}" })
    const { state } = yield* Effect.mapError(Schema.decodeUnknown(State)(body), () => noControls(url))
    yield* Effect.mapError(files.writeFile(file, state), ({ message }) => new ControlFailed({ message }))
    yield* Console.log(
      Sheet.indented([
        ["file", file],
        ["bytes", String(state.length)],
      ]),
    )
  })

const load = (url: string, file: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const state = yield* Effect.mapError(files.readFile(file), ({ message }) => new ControlFailed({ message }))
    yield* post(url, "/load", { state: Buffer.from(state).toString("base64") })
  })

const post = (url: string, path: string, body: object) =>
  perform(`${url}${path}`, {
    method: "POST",
    headers: JSON_BODY,
    body: JSON.stringify(body),
  })

export const verbs: ReadonlyMap<string, Command.Action> = new Map([
  ["status", Command.action({ controls }, (given) => perform(given.controls))],
  [
    "advance",
    Command.action({ rounds, controls }, (given) => post(given.controls, "/advance", { rounds: given.rounds })),
  ],
  [
    "advance-time",
    Command.action({ duration, controls }, (given) => post(given.controls, "/advance", { time_ms: given.duration })),
  ],
  ["impersonate", { settings: { account, act, controls }, run: impersonate }],
  ["snapshot", Command.action({ controls }, (given) => post(given.controls, "/snapshot", {}))],
  [
    "revert",
    Command.action({ snapshot, controls }, (given) => post(given.controls, "/revert", { snapshot: given.snapshot })),
  ],
  ["dump", Command.action({ newFile, controls }, (given) => dump(given.controls, given.newFile))],
  ["load", Command.action({ file, controls }, (given) => load(given.controls, given.file))],
  [
    "set-balance",
    Command.action({ account, coins, controls }, (given) =>
      post(given.controls, "/balance", { address: given.account, amount: given.coins }),
    ),
  ],
  [
    "set-stake",
    Command.action({ account, coins, controls }, (given) =>
      post(given.controls, "/stake", { address: given.account, amount: given.coins }),
    ),
  ],
  [
    "set-nonce",
    Command.action({ account, nonce, controls }, (given) =>
      post(given.controls, "/nonce", { address: given.account, nonce: given.nonce }),
    ),
  ],
  [
    "set-name",
    Command.action({ account, name, controls }, (given) =>
      post(given.controls, "/name", { address: given.account, name: given.name }),
    ),
  ],
])
