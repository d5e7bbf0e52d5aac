/** `udg dev`: a network for developers, with funded accounts and controls. */
import { FileSystem } from "@effect/platform"
import { Console, Effect, Fiber, Option, Stream } from "effect"
import * as Mnemonic from "../client/Mnemonic.js"
import * as Logging from "../node/log/Logging.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import * as Address from "../protocol/identity/Address.js"
import { addressPrefix } from "../protocol/identity/Network.js"
import * as GenesisFile from "../storage/files/GenesisFile.js"
import type { DevNetwork } from "../testing/DevNetwork.js"
import * as Testing from "../testing/Testing.js"
import * as DevControls from "./DevControls.js"
import * as DevLog from "./DevLog.js"
import * as DevVerbs from "./DevVerbs.js"
import * as Command from "./settings/Command.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import { wrongUsage } from "./settings/WrongUsage.js"
import * as Environment from "./terminal/Environment.js"
import * as Progress from "./terminal/Progress.js"
import * as Sheet from "./terminal/Sheet.js"
import { Terminal } from "./terminal/Terminal.js"

const COINS_EACH = 10_000
/** Ten times the interval of a test's network, since this one can run all day. */
const IDLE_MS = 100
const HIGHEST_PORT = 65_535

const options = Setting.group("Options")

const settings = {
  accounts: options.withDefault("--accounts N", "number of funded accounts, 1 to 1000", Reader.devAccounts, 10),
  seed: options.optional(
    "--seed TEXT",
    "text from which the accounts' keys derive",
    Reader.text,
    "the same at every start",
  ),
  mnemonic: options.optional(
    "--mnemonic WORDS",
    "24 words from which the accounts' keys derive",
    Reader.text,
    "those of --seed",
  ),
  roundMs: options.optional(
    "--round-ms MS",
    "round interval, 1 to 60000",
    Reader.roundMs,
    `at once while transactions are pending, otherwise every ${IDLE_MS} ms`,
  ),
  onDemand: options.flag("--on-demand", "make rounds only for pending transactions and for udg dev advance"),
  manual: options.flag(
    "--manual",
    "make rounds only for udg dev advance and other actions; transactions stay pending until then",
  ),
  rpcPort: options.withDefault(
    "--rpc-port PORT",
    "port of the HTTP interface; 0 takes any free port",
    Reader.port,
    10_333,
  ),
  state: options.optional(
    "--state FILE",
    "resume the network in this file, if it exists, and save it there on exit",
    Reader.keyPath,
    "nothing is saved",
  ),
  fork: options.optional(
    "--fork URL",
    "start with the state of another network, from a node or a file of udg db export; without effect if the --state file exists",
    Reader.urlOrFile,
    "a new network",
  ),
  forkGenesis: options.optional(
    "--fork-genesis FILE",
    "the genesis file of the network in --fork, to prove the node's state",
    Reader.file,
    "trust the node's last checkpoint",
  ),
  allowOrigins: options.repeated(
    "--allow-origin ORIGIN",
    "origin of web pages that can use the controls, such as http://localhost:5173; may be repeated",
    Reader.origin,
    "none",
  ),
  controlPort: options.optional(
    "--control-port PORT",
    "port of the controls; 0 takes any free port",
    Reader.port,
    "--rpc-port + 1; with --rpc-port 0 also any free port",
  ),
}

const controlPortOf = ({ rpcPort, controlPort }: Command.Values<typeof settings>) => {
  const port = Option.getOrElse(controlPort, () => (rpcPort === 0 ? 0 : rpcPort + 1))
  if (port > HIGHEST_PORT) return wrongUsage(`--control-port would be ${port}, which is not a port; set it`)
  return port === rpcPort && port !== 0
    ? wrongUsage(`--control-port and --rpc-port are both ${port}, but each needs its own; choose another`)
    : Effect.succeed(port)
}

/** The seed or mnemonic from which the accounts' keys derive. */
const keysOf = ({ seed, mnemonic }: Command.Values<typeof settings>) => {
  if (Option.isNone(mnemonic))
    return Effect.succeed(Option.match(seed, { onNone: () => ({}), onSome: (text) => ({ seed: text }) }))
  if (Option.isSome(seed)) return wrongUsage("--seed and --mnemonic both define the keys; use one of them")
  return Option.isSome(Mnemonic.parse(mnemonic.value))
    ? Effect.succeed({ mnemonic: mnemonic.value })
    : wrongUsage(`--mnemonic: ${Mnemonic.complaint}`)
}

/** The network to fork, and the genesis that proves its state. */
const forkOf = ({ fork, forkGenesis: genesis }: Command.Values<typeof settings>) =>
  Effect.gen(function* () {
    if (Option.isNone(fork))
      return Option.isNone(genesis)
        ? {}
        : yield* wrongUsage("--fork-genesis needs --fork; name a node of the network with --fork")
    if (Option.isNone(genesis)) return { fork: fork.value }
    const known = yield* Effect.mapError(GenesisFile.load(genesis.value), ({ message }) => wrongUsage(message))
    return { fork: fork.value, forkGenesis: Genesis.toJson(known) }
  })

const readState = (file: Option.Option<string>) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    if (Option.isNone(file) || !(yield* files.exists(file.value))) return {}
    return { state: yield* files.readFile(file.value) }
  }).pipe(Effect.mapError((error) => wrongUsage(`--state: the file cannot be read: ${error.message}`)))

/** Replaces the file atomically. */
const writeState = (file: Option.Option<string>, network: DevNetwork) =>
  Effect.gen(function* () {
    if (Option.isNone(file)) return
    const files = yield* FileSystem.FileSystem
    const beside = `${file.value}.new`
    yield* files.writeFile(beside, yield* network.dump)
    yield* files.rename(beside, file.value)
  })

type Made = Effect.Effect.Success<ReturnType<typeof Testing.found>>

const originOf = ({ origin }: Made): ReadonlyArray<Sheet.Line> =>
  origin === undefined
    ? []
    : [["fork of", `${origin.networkId}, end of epoch ${origin.checkpoint.epoch}, round ${origin.checkpoint.round}`]]

/** The hash that the user must compare before trusting the fork. */
const trustOf = ({ origin }: Made): ReadonlyArray<string> =>
  origin === undefined
    ? []
    : origin.isFromGenesis
      ? [
          "  The genesis with this hash proves the state. Compare it with the network's:",
          "",
          `    ${origin.genesisHash}`,
          "",
        ]
      : [
          `  The checkpoint of epoch ${origin.checkpoint.epoch} proves the state. Its hash, as the node claims:`,
          "  Compare it with another node, or name the genesis file with --fork-genesis.",
          "",
          `    ${origin.checkpoint.hash}`,
          "",
        ]

const describe = (made: Made, controls: string, rounds: string, state: Option.Option<string>): string => {
  const { network, genesis, accounts, origin } = made
  const kept = Option.match(state, { onNone: () => "deleted on exit", onSome: (file) => `saved in ${file}` })
  const prefix = addressPrefix(genesis.mode)
  const lines: ReadonlyArray<Sheet.Line> = [
    ["network", `${genesis.networkId} (${genesis.mode}), ${kept}`],
    ...originOf(made),
    ["rounds", rounds],
    ["rpc", network.url],
    ["explorer", `${network.url}/explorer/`],
    ["api reference", `${network.url}/docs`],
    ["controls", controls],
  ]
  const listed = accounts.map((key, i) => [
    `(${i}) ${Address.toBech32(Address.fromPublicKey(key.publicKey), prefix)}`,
    `    ${key.toSecretHex()}`,
  ])
  return [
    Sheet.indented(lines),
    "",
    ...trustOf(made),
    "  Mnemonic of account 0, from which the others derive:",
    "",
    ...accounts.slice(0, 1).flatMap((key) => Mnemonic.lines(Mnemonic.of(key)).map((line) => `    ${line}`)),
    "",
    origin === undefined
      ? `  Accounts with ${COINS_EACH.toLocaleString("en")} UDG each and their secret keys.`
      : "  Accounts and their secret keys. Fund them with udg dev set-balance.",
    "  These keys are public: never use them on another network.",
    "",
    ...listed.flat().map((line) => `  ${line}`),
    "",
  ].join("\n")
}

const running = Command.make({
  name: "dev",
  about: "runs a network for developers, with funded accounts and controls",
  settings,
  examples: [],
  runsUntilStopped: true,
  run: (given, { version }) =>
    Effect.gen(function* () {
      const terminal = yield* Terminal
      const controlPort = yield* controlPortOf(given)
      const logging = Logging.layer({
        directives: (yield* Environment.variable("RUST_LOG")) || "warn",
        format: "pretty",
        colours: terminal.colours.stderr,
        write: terminal.writeError,
      })
      const { accounts, onDemand, manual, rpcPort } = given
      if (manual && onDemand) return yield* wrongUsage("--manual and --on-demand exclude each other; choose one")
      const interval = Option.match(given.roundMs, { onNone: () => ({}), onSome: (roundMs) => ({ roundMs }) })
      const evenly = Option.match(given.roundMs, {
        onNone: () => `at once while transactions are pending, otherwise every ${IDLE_MS} ms`,
        onSome: (roundMs) => `every ${roundMs} ms`,
      })
      const keys = yield* keysOf(given)
      const earlier = yield* readState(given.state)
      const fork = yield* forkOf(given)
      const around = { accounts, ...interval, onDemand, manual, coinsEach: COINS_EACH, snapshots: true }
      const kept = { ...around, ...keys, ...fork, ...earlier }
      yield* Effect.gen(function* () {
        const made = yield* Progress.during(
          "starting",
          Testing.found(kept, { version, port: rpcPort, idleMs: IDLE_MS }),
        )
        const prefix = addressPrefix(made.genesis.mode)
        const controls = yield* DevControls.serve(made.network, controlPort, new Set(given.allowOrigins))
        // In a fiber of its own: a finalizer's effects cannot be interrupted, and dumping restarts the node.
        const keep = Effect.interruptible(writeState(given.state, made.network))
        yield* Effect.addFinalizer(() => Effect.orDie(Effect.flatMap(Effect.forkDaemon(keep), Fiber.join)))
        yield* Console.log(`udg ${version} dev\n`)
        yield* Console.log(
          describe(made, controls, manual ? "on request" : onDemand ? "on demand" : evenly, given.state),
        )
        const told = Stream.runForEach(made.network.events, (event) =>
          Effect.forEach(DevLog.lines(event, prefix), (line) => Console.log(line), { discard: true }),
        )
        return yield* Effect.raceFirst(made.network.ended, Effect.zipRight(told, Effect.never))
      }).pipe(Effect.provide(logging))
    }).pipe(Effect.scoped),
})

export const command = Command.withActions(
  {
    name: "dev",
    about: "runs a network for developers, with funded accounts and controls",
    examples: [
      ["ten funded accounts; payments are final at once", "udg dev"],
      ["rounds only for pending transactions", "udg dev --on-demand --round-ms 10"],
      ["in another terminal: skip a hundred rounds, then a day", "udg dev advance 100 && udg dev advance-time 1d"],
      ["set a balance", "udg dev set-balance @alice 5000"],
      ["fork a live network", "udg dev --fork https://node.example"],
      ["pay from any account, without its key", "udg dev impersonate @alice send @bob 5"],
    ],
    footer: [
      "The network listens on 127.0.0.1 only, has no peers, and stores nothing without --state. Epochs last 40 rounds, so " +
        "stakes and votes take effect soon. The actions control the running network; docs/dev.md has each, also over HTTP.",
    ],
    runsUntilStopped: true,
  },
  DevVerbs.verbs,
  running,
)
