/** `udg dev`: a network for developers, with funded accounts and controls, gone when it stops. */
import { Console, Effect, Option } from "effect"
import * as Logging from "../node/log/Logging.js"
import * as Address from "../protocol/identity/Address.js"
import { addressPrefix } from "../protocol/identity/Network.js"
import * as Testing from "../testing/Testing.js"
import * as DevControls from "./DevControls.js"
import * as Command from "./settings/Command.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import { wrongUsage } from "./settings/WrongUsage.js"
import * as Environment from "./terminal/Environment.js"
import * as Progress from "./terminal/Progress.js"
import * as Sheet from "./terminal/Sheet.js"
import { Terminal } from "./terminal/Terminal.js"

const COINS_EACH = 10_000
const HIGHEST_PORT = 65_535

const options = Setting.group("Options")

const settings = {
  accounts: options.withDefault("--accounts N", "how many accounts with coins, 1 to 1000", Reader.devAccounts, 10),
  seed: options.optional(
    "--seed TEXT",
    "the text from which their keys derive",
    Reader.text,
    "the same at every start",
  ),
  roundMs: options.withDefault("--round-ms MS", "round interval, 1 to 60000", Reader.roundMs, 100),
  onDemand: options.flag("--on-demand", "make rounds only while transactions wait, or when asked for"),
  rpcPort: options.withDefault(
    "--rpc-port PORT",
    "port of the HTTP interface; 0 takes any free port",
    Reader.port,
    10_333,
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

type Made = Effect.Effect.Success<ReturnType<typeof Testing.found>>

const describe = ({ network, genesis, accounts }: Made, controls: string, rounds: string): string => {
  const prefix = addressPrefix(genesis.mode)
  const lines: ReadonlyArray<Sheet.Line> = [
    ["network", `${genesis.networkId} (${genesis.mode}), gone when it stops`],
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
    `  Accounts with ${COINS_EACH.toLocaleString("en")} UDG each, and their secret keys.`,
    "  Everybody knows these keys: never use them on another network.",
    "",
    ...listed.flat().map((line) => `  ${line}`),
    "",
  ].join("\n")
}

export const command = Command.make({
  name: "dev",
  about: "runs a network for developers, with funded accounts and controls",
  settings,
  examples: [
    ["ten accounts, ten rounds a second", "udg dev"],
    ["rounds only when there is something to do", "udg dev --on-demand --round-ms 10"],
    [
      "a hundred rounds at once",
      "curl http://127.0.0.1:10334/advance -H 'content-type: application/json' -d '{\"rounds\":100}'",
    ],
  ],
  footer: [
    "It listens on 127.0.0.1 only, keeps nothing, has no peers, and joins no other network. Epochs last 40 rounds, so stakes and " +
      "votes need no long wait. The controls are POST /advance, /snapshot, /revert and /balance; docs/dev.md shows each.",
  ],
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
      const { accounts, roundMs, onDemand, rpcPort } = given
      const seed = Option.match(given.seed, { onNone: () => ({}), onSome: (text) => ({ seed: text }) })
      const kept = { accounts, roundMs, onDemand, coinsEach: COINS_EACH, snapshots: true, ...seed }
      yield* Effect.gen(function* () {
        const made = yield* Progress.during("starting", Testing.found(kept, { version, port: rpcPort }))
        const controls = yield* DevControls.serve(made.network, addressPrefix(made.genesis.mode), controlPort)
        yield* Console.log(`udg ${version} dev\n`)
        yield* Console.log(describe(made, controls, onDemand ? "on demand" : `every ${roundMs} ms`))
        return yield* made.network.ended
      }).pipe(Effect.provide(logging))
    }).pipe(Effect.scoped),
})
