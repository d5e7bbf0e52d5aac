/** `udg gateway`: the HTTP interface of a network, backed by an archive and several nodes. */
import { Console, Context, Effect, Layer } from "effect"
import * as Server from "../edge/server/Server.js"
import * as Archive from "../gateway/Archive.js"
import * as Gateway from "../gateway/Gateway.js"
import * as Logging from "../node/log/Logging.js"
import * as GenesisFile from "../storage/files/GenesisFile.js"
import { sayFatal } from "./NodeCommand.js"
import * as NodeSettings from "./NodeSettings.js"
import * as Command from "./settings/Command.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import { wrongUsage } from "./settings/WrongUsage.js"
import * as Environment from "./terminal/Environment.js"
import * as Sheet from "./terminal/Sheet.js"
import { Terminal } from "./terminal/Terminal.js"

const gateway = Setting.group("Gateway")

const STANDARD_PORT = 10_333

const {
  rpcPort: _rpcPort,
  rpcHost,
  rpcNames,
  rateLimits,
  trustedProxies,
  clientIpHeader,
  logFormat,
  config,
} = NodeSettings.settings

export const settings = {
  database: gateway.required(
    "--database URL",
    "the PostgreSQL database of udg archive, as postgres://USER:PASSWORD@HOST:PORT/NAME; set UDG_DATABASE to hide the password",
    Reader.database,
  ),
  nodes: gateway.repeated(
    "--node URL",
    "the HTTP interface of a node that accepts transactions and has the pending ones; may be repeated",
    Reader.url,
  ),
  genesisFile: gateway.required("--genesis FILE", "the genesis file of the network", Reader.file),
  rpcPort: gateway.withDefault(
    "--rpc-port PORT",
    "port of the HTTP interface; 0 takes any free port",
    Reader.port,
    STANDARD_PORT,
  ),
  rpcHost,
  rpcNames,
  rateLimits,
  trustedProxies,
  clientIpHeader,
  logFormat,
  config,
}

export const command = Command.make({
  name: "gateway",
  about: "serves the HTTP interface from an archive and several nodes",
  settings,
  examples: [
    [
      "final transactions from PostgreSQL, pending ones from two nodes",
      "UDG_DATABASE=postgres://udg@localhost/udg udg gateway --genesis genesis.json --node http://10.0.0.5:10333 --node http://10.0.0.6:10333",
    ],
  ],
  footer: [
    "A gateway stores nothing, so any number can run behind a load balancer. It never accepts secret keys. Its nodes see a " +
      "single client: run them with --rate-limits off if only gateways can reach them.",
  ],
  runsUntilStopped: true,
  run: ({ genesisFile, rpcHost: host, rpcPort: port, rpcNames: names, logFormat, ...rest }, { version }) =>
    Effect.gen(function* () {
      if (rest.nodes.length === 0)
        return yield* wrongUsage("a gateway needs at least one node; name it with --node URL")
      const { writeError, colours } = yield* Terminal
      const logging = Logging.layer({
        directives: yield* Environment.variable("RUST_LOG"),
        format: logFormat,
        colours: colours.stderr,
        write: writeError,
      })
      const run = Effect.gen(function* () {
        const genesis = yield* GenesisFile.load(genesisFile)
        const serving = Gateway.layer({ ...rest, version, genesis, host, port, names })
        return yield* Effect.scoped(
          Effect.gen(function* () {
            const context = yield* Layer.build(serving)
            const listening = Context.get(context, Server.Server)
            const lines = Sheet.indented([
              ["network", genesis.networkId],
              ["nodes", rest.nodes.join(", ")],
              ["rpc", Server.urlOf(listening)],
            ])
            yield* Console.log(`udg gateway ${version}\n\n${lines}\n`)
            return yield* Context.get(context, Archive.Archive).outdated
          }),
        )
      })
      return yield* Effect.provide(Effect.tapError(run, sayFatal), logging)
    }),
})
