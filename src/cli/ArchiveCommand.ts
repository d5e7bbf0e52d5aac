/** `udg archive`: follows a network and writes its whole history into PostgreSQL. */
import { Effect, Layer, Option } from "effect"
import * as Archive from "../archive/Archive.js"
import * as Logging from "../node/log/Logging.js"
import * as Node from "../node/Node.js"
import * as Configuration from "../node/start/Configuration.js"
import * as HttpInterface from "../rpc/HttpInterface.js"
import * as NodePassphrase from "./keys/NodePassphrase.js"
import { sayFatal } from "./NodeCommand.js"
import * as NodeSettings from "./NodeSettings.js"
import * as ServiceManager from "./ServiceManager.js"
import * as Command from "./settings/Command.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import * as Environment from "./terminal/Environment.js"
import { Terminal } from "./terminal/Terminal.js"

const archive = Setting.group("Archive")

const {
  archive: _archive,
  history: _history,
  ephemeral: _ephemeral,
  noValidate: _noValidate,
  validatorKeyFile: _validatorKeyFile,
  faucetKeyFile: _faucetKeyFile,
  roundMs: _roundMs,
  testnet: _testnet,
  ...following
} = NodeSettings.settings

export const settings = {
  database: archive.required(
    "--database URL",
    "the PostgreSQL database to fill, as postgres://USER:PASSWORD@HOST:PORT/NAME; set UDG_DATABASE to hide the password",
    Reader.database,
  ),
  ...following,
}

const asFollower = {
  archive: false,
  history: Option.some(0),
  ephemeral: false,
  noValidate: true,
  validatorKeyFile: Option.none(),
  faucetKeyFile: Option.none(),
  roundMs: Option.none(),
  testnet: Option.none(),
}

const originsOfNode = Object.fromEntries(
  Object.entries(NodeSettings.settings).map(([key, setting]) => [key, Setting.flagOf(setting)]),
) as Command.Origins<typeof NodeSettings.settings>

export const command = Command.make({
  name: "archive",
  about: "follows a network and writes its history into PostgreSQL",
  settings,
  examples: [
    [
      "follow a network from its genesis; at least one peer must store all of it (udg --archive)",
      "UDG_DATABASE=postgres://udg@localhost/udg udg archive --genesis genesis.json --peer 203.0.113.7:9333",
    ],
  ],
  footer: [
    "An archive verifies everything, as a node does, and serves the same HTTP interface. It starts at the genesis and " +
      "never takes a later state from its peers. You can kill it at any time: it resumes where it was.",
  ],
  runsUntilStopped: true,
  run: ({ database, ...values }, { version, origins }) =>
    Effect.gen(function* () {
      const { writeError, colours } = yield* Terminal
      const names = { ...originsOfNode, ...origins }
      const { configuration, logFormat, keyPassphraseFile } = yield* NodeSettings.configurationOf(
        version,
        { ...values, ...asFollower },
        names,
      )
      const logging = Logging.layer({
        directives: yield* Environment.variable("RUST_LOG"),
        format: logFormat,
        colours: colours.stderr,
        write: writeError,
      })
      const layers = Layer.mergeAll(
        logging,
        Layer.succeed(Configuration.Configuration, configuration),
        NodePassphrase.layer(keyPassphraseFile),
      )
      const recording = Archive.layer(database)
      const run = Node.runRecorded(recording, HttpInterface.layer, ServiceManager.beside)
      return yield* Effect.provide(Effect.tapError(run, sayFatal), layers)
    }),
})
