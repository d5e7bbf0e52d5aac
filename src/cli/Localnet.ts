/** `udg localnet`: a network of several validators on this machine, kept in one directory. */
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import { Clock, Console, Effect, Either, Option } from "effect"
import * as Founding from "../node/start/Founding.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import * as Protocol from "../protocol/epoch/Protocol.js"
import * as Address from "../protocol/identity/Address.js"
import type * as Keys from "../protocol/identity/Keys.js"
import * as Network from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Sats from "../protocol/numbers/Sats.js"
import { FILES } from "../storage/files/DataDirectory.js"
import * as GenesisFile from "../storage/files/GenesisFile.js"
import * as KeyFile from "../storage/files/KeyFile.js"
import * as NodeProcess from "./NodeProcess.js"
import * as Command from "./settings/Command.js"
import type * as Help from "./settings/Help.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import { WrongUsage } from "./settings/WrongUsage.js"

const group = "Options"
const DEFAULT_VALIDATORS = 4
const DEFAULT_PORT = 9333
const RPC_DISTANCE = 1000
const STAKE = Sats.make(100_000 * Sats.SATS_PER_COIN)
const COMMISSION_PERCENT = 10

const settings = {
  validators: Setting.value(
    "validators",
    {
      group,
      placeholder: "N",
      about: "how many validators, 1 to 16",
      otherwise: `${DEFAULT_VALIDATORS}, or as many as there are`,
    },
    Reader.validators,
  ),
  dir: Setting.value(
    "dir",
    {
      group,
      placeholder: "DIR",
      about: "where keys, genesis and each node's directory are kept",
      otherwise: "./localnet",
    },
    Reader.directory,
  ),
  port: Setting.value(
    "port",
    {
      group,
      placeholder: "PORT",
      about: `the first node's port; the others follow, and HTTP ${RPC_DISTANCE} above each; 0 takes any free ports`,
      otherwise: String(DEFAULT_PORT),
    },
    Reader.port,
  ),
  roundMs: Setting.value(
    "round-ms",
    { group, placeholder: "MS", about: "round interval of a new network, 1 to 60000", otherwise: "500" },
    Reader.roundMs,
  ),
}

export const about = "runs a network of several validators on this machine"
export const runsUntilStopped = true

export const page = (version: string): Help.Page => ({
  title: `udg ${version}: a network of several validators on this machine`,
  usage: "udg localnet [options]",
  settings: Object.values(settings),
  examples: [
    ["four validators in ./localnet; Ctrl-C stops them all, the same command goes on with them", "udg localnet"],
    ["seven, with fast rounds, elsewhere", "udg localnet --validators 7 --round-ms 100 --dir /tmp/seven"],
  ],
  footer: [
    "Each node listens on 127.0.0.1 only and logs to node.log in its own directory. The first one holds the faucet's key.",
  ],
})

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

/** Keys first, the genesis last: what a crash leaves before that is taken up again. */
const found = (directory: string, genesisFile: string, validators: number, roundMs: Option.Option<number>) =>
  Effect.gen(function* () {
    const numbers = Array.from({ length: validators }, (_, n) => n)
    const keys = yield* Effect.forEach(numbers, (n) => makeKey(directory, n, "validatorKey"))
    const faucet = yield* makeKey(directory, 0, "faucetKey")
    const genesis = Founding.several({
      networkId: Founding.drawnNetworkId(Network.OWN_NAMES.local),
      mode: "testnet",
      time: Natural.timestamp(yield* Clock.currentTimeMillis),
      roundIntervalMs: Option.getOrElse(roundMs, () => Protocol.standard.roundIntervalMs),
      epochRounds: Protocol.standard.epochRounds,
      validators: keys.map(firstValidator),
      allocations: [],
      council: [],
      faucet: Address.fromPublicKey(faucet.publicKey),
      parameters: Founding.localParameters(Protocol.standard.epochRounds),
    })
    yield* GenesisFile.write(genesisFile, Either.getOrThrow(genesis))
    return Either.getOrThrow(genesis)
  })

const plan = ({ values: { dir, validators, roundMs } }: Command.Read<typeof settings>) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const directory = yield* Option.match(dir, {
      onSome: Effect.succeed,
      onNone: () =>
        Effect.mapError(
          Reader.directory("./localnet"),
          (complaint) => new WrongUsage({ message: `--dir is not given and "./localnet" ${complaint}` }),
        ),
    })
    const genesisFile = join(directory, FILES.genesis)
    if (!(yield* Effect.orElseSucceed(files.exists(genesisFile), () => true))) {
      yield* Effect.mapError(
        files.makeDirectory(directory, { recursive: true }),
        ({ message }) => new WrongUsage({ message: `--dir ${directory} cannot be made: ${message}` }),
      )
      const wanted = Option.getOrElse(validators, () => DEFAULT_VALIDATORS)
      return { directory, genesisFile, genesis: yield* found(directory, genesisFile, wanted, roundMs) }
    }
    const genesis = yield* GenesisFile.load(genesisFile)
    const count = genesis.validators.length
    if (Option.exists(validators, (asked) => asked !== count)) {
      return yield* new WrongUsage({
        message: `${directory} holds a network of ${count} validators; leave --validators out or give another --dir`,
      })
    }
    return { directory, genesisFile, genesis }
  })

const startNode = (
  { directory, genesisFile }: Plan,
  n: number,
  port: number,
  peers: ReadonlyArray<NodeProcess.NodeProcess>,
) => {
  const own = directoryOf(directory, n)
  const ports =
    port === 0 ? ["--port", "0"] : ["--port", String(port + n), "--rpc-port", String(port + n + RPC_DISTANCE)]
  const words = ["--data-dir", own, "--genesis", genesisFile, "--host", "127.0.0.1", ...ports, "--rate-limits", "off"]
  return NodeProcess.start({
    name: `node-${n}`,
    logFile: join(own, "node.log"),
    words: [...words, ...peers.flatMap(({ p2p }) => ["--peer", p2p])],
  })
}

const table = ({ directory, genesis }: Plan, nodes: ReadonlyArray<NodeProcess.NodeProcess>): string =>
  [
    `  network    ${genesis.networkId} (${genesis.mode}), ${genesis.validators.length} validators, rounds every ${genesis.protocol.roundIntervalMs} ms`,
    `  genesis    ${Genesis.hash(genesis)}`,
    `  directory  ${directory}`,
    ...nodes.map(({ name, rpc, p2p }) => `  ${name.padEnd(9)}  ${rpc}  ${p2p}`),
    ...(genesis.faucet === null
      ? []
      : [
          `  faucet     ${Address.toBech32(genesis.faucet.address, Network.addressPrefix(genesis.mode))}, served by node-0`,
        ]),
    "  Ctrl-C stops all of them.",
  ].join("\n")

/** Runs all until it is asked to stop, or one of them ends. */
export const run = (words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const read = yield* Command.read(settings, words)
    const made = yield* plan(read)
    const port = Option.getOrElse(read.values.port, () => DEFAULT_PORT)
    const first = yield* startNode(made, 0, port, [])
    const others = made.genesis.validators.slice(1)
    const nodes = [
      first,
      ...(yield* Effect.forEach(others, (_, i) => startNode(made, i + 1, port, [first]), { concurrency: "unbounded" })),
    ]
    yield* Console.log(table(made, nodes))
    return yield* Effect.raceAll(nodes.map(({ ended }) => ended))
  }).pipe(Effect.scoped)
