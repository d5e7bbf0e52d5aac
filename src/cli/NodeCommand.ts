import { FileSystem } from "@effect/platform"
import { Cause, Data, Effect, Either, Layer, Option, Ref } from "effect"
import * as Server from "../edge/server/Server.js"
import { Network } from "../network/Network.js"
import * as Transport from "../network/tls/Transport.js"
import { Engine } from "../node/engine/Engine.js"
import * as Ending from "../node/lifecycle/Ending.js"
import { Supervisor } from "../node/lifecycle/Supervisor.js"
import * as Log from "../node/log/Log.js"
import * as LogFilter from "../node/log/LogFilter.js"
import * as Logging from "../node/log/Logging.js"
import * as Node from "../node/Node.js"
import * as Configuration from "../node/start/Configuration.js"
import { Home } from "../node/start/Home.js"
import * as ValidatorKeys from "../node/start/ValidatorKeys.js"
import type { Address } from "../protocol/identity/Address.js"
import * as HttpInterface from "../rpc/HttpInterface.js"
import * as NodePassphrase from "./keys/NodePassphrase.js"
import * as NodeSettings from "./NodeSettings.js"
import * as NodeStatus from "./NodeStatus.js"
import * as RunningFacts from "./RunningFacts.js"
import * as ServiceManager from "./ServiceManager.js"
import * as Command from "./settings/Command.js"
import * as Environment from "./terminal/Environment.js"
import { StatusLine } from "./terminal/StatusLine.js"
import { Terminal } from "./terminal/Terminal.js"
import * as TraceSettings from "./tracing/TraceSettings.js"

const log = Log.for("supervisor")

/** Logs as the last line, after everything is closed, that a process manager must not restart the node. */
export const sayFatal = (ending: Command.Failed) => {
  const exitCode = Ending.exitCodeOf(ending)
  if (exitCode < 100) return Effect.void
  const last = log.error(ending.message, { exitCode })
  if (!(ending instanceof Ending.InternalFault)) return last
  const { _tag, cause } = ending.fault
  const what = _tag === "ExecutionFault" ? "an assertion failed in execution" : "a bug ended a part of the node"
  return Effect.zipRight(log.error(what, {}, Cause.die(cause)), last)
}

class PortsTaken extends Data.TaggedError("PortsTaken")<{ readonly p2p: number; readonly rpc: number }> {
  override get message(): string {
    return (
      `cannot listen for other nodes on port ${this.p2p} or serve HTTP on port ${this.rpc}: both are in use, probably by ` +
      "another node; stop it, or choose another --port, to which HTTP adds 1000 unless --rpc-port is given"
    )
  }
}

/** Checks the ports first, so that a node that cannot listen creates no data directory. */
const canListen = ({ dataDirectory, ephemeral, rpc, p2p, genesisFile }: Configuration.Settings) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    if (ephemeral || (yield* Effect.orElseSucceed(files.exists(dataDirectory), () => true))) return
    const host = Option.getOrElse(p2p.host, () => (Option.isNone(genesisFile) ? "127.0.0.1" : "0.0.0.0"))
    const http = yield* Effect.either(Server.probe(rpc))
    const nodes = yield* Effect.either(Transport.probe({ host, port: p2p.port }))
    if (Either.isLeft(http) && Either.isLeft(nodes) && http.left.isInUse && nodes.left.isInUse) {
      return yield* new PortsTaken({ p2p: p2p.port, rpc: rpc.port })
    }
    yield* http
    yield* nodes
  })

/** The module is loaded only if OpenTelemetry's variables name a collector. */
const tracing = (version: string) =>
  Effect.gen(function* () {
    const settings = yield* TraceSettings.read(version)
    if (Option.isNone(settings)) return { layer: Layer.empty, beside: Effect.never }
    const { make } = yield* Effect.promise(() => import("./tracing/Tracing.js"))
    const { layer, follow } = make(settings.value)
    const traced = Effect.all([Home, Network, Engine, Supervisor])
    const beside = Effect.flatMap(traced, ([{ genesis }, { listensAt }, { events, view }, { restarted }]) =>
      follow({
        ...{ networkId: genesis.networkId, listensAt, events, restarted },
        accountOf: (key) => view.read.accountOf(key),
      }),
    )
    return { layer, beside }
  })

export const command = Command.make({
  name: "",
  about: "a node of a DAG ledger network",
  usage: "udg [options] to run a node, or udg COMMAND",
  settings: NodeSettings.settings,
  examples: [
    ["a network of your own in ./data, RPC on http://127.0.0.1:10333", "udg"],
    ["the same with faster rounds, stored nowhere", "udg --ephemeral --round-ms 100"],
    ["join a network", "udg --genesis genesis.json --peer 203.0.113.7:9333 --data-dir /var/lib/udg"],
    ["mainnet rules, RPC behind a proxy on the same host", "udg --testnet false --trusted-proxy 127.0.0.1"],
    ["a key and coins for it, while your node runs", "udg keygen && udg faucet"],
    ["four validators on this machine", "udg localnet"],
    ["log every action of the mempool", "RUST_LOG=info,mempool=debug udg"],
  ],
  footer: [
    "Each command has its own page: udg COMMAND --help.",
    "Every option is also an environment variable: --rpc-port is UDG_RPC_PORT; options that may be repeated take a " +
      "list separated by commas. The command line wins, and an empty variable counts as unset.",
    `RUST_LOG sets the log level: a level (${LogFilter.levels.join(", ")}; default info) and module=level pairs, ` +
      `separated by commas. Modules: ${LogFilter.modules.join(", ")}.`,
    "Exit codes: 0 stopped on request; 1 cannot start or run, with one line that says why; 100 finality rollback, 101 " +
      "supply invariant violated and 102 internal fault: after these three, read docs/operations/exit-CODE.md before a " +
      "restart; 103 the network has upgraded its protocol: install a newer version.",
  ],
  runsUntilStopped: true,
  run: (values, { version, origins }) =>
    Effect.gen(function* () {
      const terminal = yield* Terminal
      const { configuration, logFormat, keyPassphraseFile } = yield* NodeSettings.configurationOf(
        version,
        values,
        origins,
      )
      const status = new StatusLine({ write: terminal.writeError, columns: terminal.columns })
      const logging = Logging.layer({
        directives: yield* Environment.variable("RUST_LOG"),
        format: logFormat,
        colours: terminal.colours.stderr,
        write: (text) => status.write(text),
      })
      const traces = yield* tracing(version)
      const layers = Layer.mergeAll(
        logging,
        Layer.succeed(Configuration.Configuration, configuration),
        NodePassphrase.layer(keyPassphraseFile),
      )
      const shown = terminal.isWatched && logFormat === "pretty" ? NodeStatus.show(status) : Effect.never
      const beside = Effect.raceAll([shown, ServiceManager.beside, RunningFacts.beside, traces.beside])
      const key = yield* Ref.make(Option.none<Address>())
      const run = Ref.get(key).pipe(
        Effect.flatMap((preferred) =>
          Effect.provideService(Node.run(HttpInterface.layer, beside), ValidatorKeys.Preferred, preferred),
        ),
        Effect.tapErrorTag("KeyReplaced", ({ address }) => Ref.set(key, Option.some(address))),
        Effect.retry({ while: ({ _tag }) => _tag === "KeyReplaced" }),
      )
      // Traces are sent before the last line is written.
      const node = Effect.provide(Effect.zipRight(canListen(configuration), run), traces.layer)
      return yield* Effect.provide(Effect.tapError(node, sayFatal), layers)
    }),
})
