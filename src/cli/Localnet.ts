/** `udg localnet`: a network of several validators on this machine, stored in one directory. */
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import { Clock, Console, Effect, Either, Option } from "effect"
import * as Server from "../edge/server/Server.js"
import * as Founding from "../node/start/Founding.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import * as Protocol from "../protocol/epoch/Protocol.js"
import * as Address from "../protocol/identity/Address.js"
import type * as Keys from "../protocol/identity/Keys.js"
import * as Network from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Parameters from "../protocol/numbers/Parameters.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as Words from "../protocol/numbers/Words.js"
import { FILES } from "../storage/files/DataDirectory.js"
import * as GenesisFile from "../storage/files/GenesisFile.js"
import * as KeyFile from "../storage/files/KeyFile.js"
import * as NodeProcess from "./NodeProcess.js"
import * as Command from "./settings/Command.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import { wrongUsage } from "./settings/WrongUsage.js"
import * as Figure from "./terminal/Figure.js"
import * as Progress from "./terminal/Progress.js"
import * as Sheet from "./terminal/Sheet.js"

const HOST = "127.0.0.1"
const HIGHEST_PORT = 65_535
const RPC_DISTANCE = 1000
const STAKE = Sats.make(100_000 * Sats.SATS_PER_COIN)
const COMMISSION_PERCENT = 10
const DEFAULT_VALIDATORS = 4
const DEFAULT_DIRECTORY = "./localnet"

const options = Setting.group("Options")

const settings = {
  validators: options.optional(
    "--validators N",
    "number of validators, 1 to 16",
    Reader.validators,
    `${DEFAULT_VALIDATORS}, or the number that the network has`,
  ),
  dir: options.optional(
    "--dir DIR",
    "where to store the keys, the genesis and each node's directory",
    Reader.directory,
    DEFAULT_DIRECTORY,
  ),
  port: options.withDefault(
    "--port PORT",
    `the first node's port; the others follow, with HTTP ${RPC_DISTANCE} above each; 0 takes any free ports`,
    Reader.port,
    9333,
  ),
  roundMs: options.withDefault(
    "--round-ms MS",
    "round interval of a new network, 1 to 60000",
    Reader.roundMs,
    Protocol.standard.roundIntervalMs,
  ),
  rateLimits: options.withDefault(
    "--rate-limits on|off",
    "limits per client, as on a public network",
    Reader.boolean("on", "off"),
    false,
    "off",
  ),
}

type Values = Command.Values<typeof settings>

interface Plan {
  readonly directory: string
  readonly genesisFile: string
  readonly genesis: Genesis.Genesis
}

const directoryOf = (directory: string, n: number): string => join(directory, `node-${n}`)

const makeKey = (directory: string, n: number, name: "validatorKey" | "faucetKey") =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    yield* files.makeDirectory(directoryOf(directory, n), { recursive: true, mode: 0o700 })
    return yield* KeyFile.loadOrCreate(join(directoryOf(directory, n), FILES[name]))
  })

const firstValidator = ({ publicKey }: Keys.SecretKey): Genesis.FirstValidator => ({
  publicKey,
  stake: STAKE,
  commissionPercent: COMMISSION_PERCENT,
})

/** Writes the keys before the genesis, so that a start after a crash in between reuses the keys. */
const found = (directory: string, genesisFile: string, validators: number, roundMs: number) =>
  Effect.gen(function* () {
    const numbers = Array.from({ length: validators }, (_, n) => n)
    const keys = yield* Effect.forEach(numbers, (n) => makeKey(directory, n, "validatorKey"))
    const faucet = yield* makeKey(directory, 0, "faucetKey")
    const protocol = Protocol.every(roundMs)
    const genesis = Founding.several({
      networkId: Founding.drawnNetworkId(Network.OWN_NAMES.local),
      mode: "testnet",
      time: Natural.nearestTimestamp(yield* Clock.currentTimeMillis),
      protocol,
      validators: keys.map(firstValidator),
      allocations: [],
      council: [],
      faucet: Address.fromPublicKey(faucet.publicKey),
      // The network has one operator, so the reserve outvotes nobody.
      faucetReserve: Founding.FAUCET_RESERVE,
      parameters: Parameters.standard(protocol.epochRounds),
    })
    yield* GenesisFile.write(genesisFile, Either.getOrThrow(genesis))
    return Either.getOrThrow(genesis)
  })

/** Checks that every port is valid and free before anything is created. */
const requirePorts = (first: number, nodes: number) =>
  Effect.gen(function* () {
    if (first === 0) return
    const most = HIGHEST_PORT - RPC_DISTANCE - nodes + 1
    if (first > most) {
      const count = Figure.counted(nodes, "node")
      return yield* wrongUsage(`--port ${first} leaves too few ports for ${count} and their HTTP; use at most ${most}`)
    }
    const ports = Array.from({ length: nodes }, (_, n) => [first + n, first + n + RPC_DISTANCE]).flat()
    yield* Effect.forEach(ports, (port) =>
      Effect.mapError(Server.probe({ host: HOST, port }), ({ isInUse, reason }) =>
        wrongUsage(
          isInUse
            ? `port ${port} is in use; stop what uses it, or choose another --port`
            : `port ${port} cannot be used: ${reason}; choose another --port`,
        ),
      ),
    )
  })

const plan = ({ dir, validators, roundMs, port }: Values) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const directory = Option.isSome(dir) ? dir.value : yield* Reader.defaultDirectory("--dir", DEFAULT_DIRECTORY)
    const genesisFile = join(directory, FILES.genesis)
    if (!(yield* Effect.orElseSucceed(files.exists(genesisFile), () => true))) {
      const wanted = Option.getOrElse(validators, () => DEFAULT_VALIDATORS)
      yield* requirePorts(port, wanted)
      yield* Effect.mapError(files.makeDirectory(directory, { recursive: true }), ({ message }) =>
        wrongUsage(`--dir ${directory} cannot be created: ${message}`),
      )
      return { directory, genesisFile, genesis: yield* found(directory, genesisFile, wanted, roundMs) }
    }
    const genesis = yield* GenesisFile.load(genesisFile)
    const count = genesis.validators.length
    if (Option.exists(validators, (asked) => asked !== count)) {
      return yield* wrongUsage(
        `${directory} holds a network of ${count} validators; leave out --validators or choose another --dir`,
      )
    }
    yield* requirePorts(port, count)
    return { directory, genesisFile, genesis }
  })

const startNode = (
  { directory, genesisFile }: Plan,
  n: number,
  { port, rateLimits }: Values,
  peers: ReadonlyArray<NodeProcess.NodeProcess>,
) => {
  const own = directoryOf(directory, n)
  const ports =
    port === 0 ? ["--port", "0"] : ["--port", String(port + n), "--rpc-port", String(port + n + RPC_DISTANCE)]
  const words = [
    "--data-dir",
    own,
    "--genesis",
    genesisFile,
    "--host",
    HOST,
    ...ports,
    "--rate-limits",
    rateLimits ? "on" : "off",
  ]
  return NodeProcess.start({
    name: `node-${n}`,
    logFile: join(own, "node.log"),
    words: [...words, ...peers.flatMap(({ p2p }) => ["--peer", p2p])],
  })
}

const describe = ({ directory, genesis }: Plan, nodes: ReadonlyArray<NodeProcess.NodeProcess>): string => {
  const { networkId, mode, validators, protocol, faucet } = genesis
  const lines: ReadonlyArray<Sheet.Line> = [
    [
      "network",
      `${networkId} (${mode}), ${Words.counted(validators.length, "validator")}, rounds every ${protocol.roundIntervalMs} ms`,
    ],
    ["genesis", Genesis.hash(genesis)],
    ["directory", directory],
    ...nodes.map(({ name, rpc, p2p }) => [name, [rpc, p2p]] as const),
    ["faucet", faucet && [`${Address.toBech32(faucet.address, Network.addressPrefix(mode))}, served by node-0`]],
    ["keys", [join("node-N", FILES.validatorKey), join("node-0", FILES.faucetKey)]],
  ]
  return `${Sheet.indented(lines)}\n  Ctrl-C stops all of them.`
}

export const command = Command.make({
  name: "localnet",
  about: "runs a network of several validators on this machine",
  settings,
  examples: [
    ["four validators in ./localnet; Ctrl-C stops them all, the same command resumes the network", "udg localnet"],
    ["seven, with faster rounds, elsewhere", "udg localnet --validators 7 --round-ms 50 --dir /tmp/seven"],
  ],
  footer: [
    "Each node listens on 127.0.0.1 only and logs to node.log in its own directory. The first one has the faucet's key.",
  ],
  runsUntilStopped: true,
  run: (given) =>
    Effect.gen(function* () {
      const made = yield* plan(given)
      const begun = Effect.gen(function* () {
        const first = yield* startNode(made, 0, given, [])
        const others = yield* Effect.forEach(
          made.genesis.validators.slice(1),
          (_, i) => startNode(made, i + 1, given, [first]),
          { concurrency: "unbounded" },
        )
        return [first, ...others]
      })
      const count = Figure.counted(made.genesis.validators.length, "node")
      const nodes = yield* Progress.during(`starting ${count}`, begun)
      yield* Console.log(describe(made, nodes))
      return yield* Effect.raceAll(nodes.map(({ ended }) => ended))
    }).pipe(Effect.scoped),
})
