import { resolve } from "node:path"
import { Effect, Option } from "effect"
import type * as Logging from "../node/log/Logging.js"
import type * as Configuration from "../node/start/Configuration.js"
import * as Command from "./settings/Command.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import { WrongUsage } from "./settings/WrongUsage.js"

const defaultPort = 9333
const rpcPortDistance = 1000
const defaultDataDirectory = "./data"

const network = "Network"
const rpc = "RPC"
const chain = "Chain and data"
const validating = "Validating"
const logging = "Logging"

/** The options of the node, in the order in which help shows them. */
export const settings = {
  port: Setting.value(
    "port",
    {
      group: network,
      placeholder: "PORT",
      about: "port for other nodes; 0 takes any free port",
      otherwise: String(defaultPort),
    },
    Reader.port,
  ),
  host: Setting.value(
    "host",
    {
      group: network,
      placeholder: "HOST",
      about: "address of the interface that other nodes connect to",
      otherwise: "0.0.0.0, all interfaces",
    },
    Reader.host,
  ),
  peer: Setting.values(
    "peer",
    {
      group: network,
      placeholder: "ADDR",
      about: "a node to connect to, as host:port or /ip4|ip6|dns/…/tcp/PORT[/p2p/ID]; may be repeated",
    },
    Reader.peer,
  ),
  trust: Setting.value(
    "trust",
    {
      group: network,
      placeholder: "EPOCH:HASH",
      about: "a closing checkpoint you vouch for; joining starts from it and refuses a chain without it",
    },
    Reader.trustedCheckpoint,
  ),
  rpcPort: Setting.value(
    "rpc-port",
    {
      group: rpc,
      placeholder: "PORT",
      about: "port of the HTTP interface; 0 takes any free port",
      otherwise: `--port + ${rpcPortDistance}; with --port 0 also any free port`,
    },
    Reader.port,
  ),
  rpcHost: Setting.value(
    "rpc-host",
    {
      group: rpc,
      placeholder: "HOST",
      about: "address of the interface that serves HTTP; 0.0.0.0 opens it to other machines",
      otherwise: "127.0.0.1",
    },
    Reader.host,
  ),
  rpcName: Setting.values(
    "rpc-name",
    {
      group: rpc,
      placeholder: "NAME",
      about: "another name of this machine, under which a node on the loopback answers too; may be repeated",
      otherwise: "none",
    },
    Reader.host,
  ),
  rateLimits: Setting.value(
    "rate-limits",
    {
      group: rpc,
      placeholder: "on|off",
      about: "limits per client IP; off is for private networks and load tests",
      otherwise: "on",
    },
    Reader.boolean("on", "off"),
  ),
  trustedProxy: Setting.values(
    "trusted-proxy",
    {
      group: rpc,
      placeholder: "CIDR",
      about: "a reverse proxy whose X-Forwarded-For is believed, such as 10.0.0.0/8; may be repeated",
      otherwise: "none",
    },
    Reader.cidr,
  ),
  clientIpHeader: Setting.value(
    "client-ip-header",
    {
      group: rpc,
      placeholder: "NAME",
      about: "the header in which a trusted proxy names the client, such as CF-Connecting-IP",
      otherwise: "X-Forwarded-For",
    },
    Reader.headerName,
  ),
  testnet: Setting.value(
    "testnet",
    {
      group: chain,
      placeholder: "true|false",
      about: "the kind of network: false is mainnet, without faucet and without endpoints that take private keys",
      otherwise: "as an existing genesis says; a new network is a testnet",
    },
    Reader.boolean("true", "false"),
  ),
  dataDir: Setting.value(
    "data-dir",
    { group: chain, placeholder: "DIR", about: "where the node keeps everything", otherwise: defaultDataDirectory },
    Reader.directory,
  ),
  genesis: Setting.value(
    "genesis",
    {
      group: chain,
      placeholder: "FILE",
      about: "the genesis file of the network to join",
      otherwise: "the one in the data directory; without one, a new solo network",
    },
    Reader.file,
  ),
  roundMs: Setting.value(
    "round-ms",
    {
      group: chain,
      placeholder: "MS",
      about: "round interval of a new solo network, 1 to 60000; ignored with a warning where a network exists",
      otherwise: "500",
    },
    Reader.roundMs,
  ),
  archive: Setting.flag(
    "archive",
    { group: chain, placeholder: "", about: "keep every vertex and checkpoint: nothing old is pruned" },
    Reader.boolean("true", "false"),
  ),
  ephemeral: Setting.flag(
    "ephemeral",
    { group: chain, placeholder: "", about: "keep nothing: the data directory is neither read nor written" },
    Reader.boolean("true", "false"),
  ),
  validatorKey: Setting.value(
    "validator-key",
    {
      group: validating,
      placeholder: "FILE",
      about: "file with the validator's secret key",
      otherwise: "validator.key in the data directory",
    },
    Reader.file,
  ),
  noValidate: Setting.flag(
    "no-validate",
    { group: validating, placeholder: "", about: "follow the network without making vertices" },
    Reader.boolean("true", "false"),
  ),
  faucetKey: Setting.value(
    "faucet-key",
    {
      group: validating,
      placeholder: "FILE",
      about: "file with the secret key of the faucet's reserve (testnet)",
      otherwise: "faucet.key in the data directory",
    },
    Reader.file,
  ),
  logFormat: Setting.value(
    "log-format",
    {
      group: logging,
      placeholder: "pretty|json",
      about: "lines for people, or one JSON object a line; logs go to stderr",
      otherwise: "pretty",
    },
    Reader.choice("pretty", "json"),
  ),
}

type Given = Command.Values<typeof settings>

/** A complaint about two settings uses the names by which they were given. */
const rpcPort = (
  port: number,
  given: Option.Option<number>,
  { port: portName, rpcPort: rpcPortName }: Command.Origins<typeof settings>,
): Effect.Effect<number, WrongUsage> => {
  const derived = port === 0 ? 0 : port + rpcPortDistance
  const chosen = Option.getOrElse(given, () => derived)
  if (chosen > 65_535)
    return new WrongUsage({
      message: `${rpcPortName} would be ${chosen}, which is ${portName} ${port} + ${rpcPortDistance} and not a port; give ${rpcPortName}`,
    })
  if (chosen === port && port !== 0)
    return new WrongUsage({
      message: `${rpcPortName} and ${portName} are both ${port}, but each needs its own; give another ${rpcPortName}`,
    })
  return Effect.succeed(chosen)
}

/** Checked also when nobody named it, so that a start from a read-only place says so at once. */
const dataDirectory = (given: Given) =>
  given.ephemeral || Option.isSome(given.dataDir)
    ? Effect.succeed(Option.getOrElse(given.dataDir, () => resolve(defaultDataDirectory)))
    : Effect.mapError(
        Reader.directory(defaultDataDirectory),
        (complaint) =>
          new WrongUsage({ message: `--data-dir is not given and "${defaultDataDirectory}" ${complaint}` }),
      )

const toConfiguration = (version: string, { values: given, origins }: Command.Read<typeof settings>) =>
  Effect.gen(function* () {
    const port = Option.getOrElse(given.port, () => defaultPort)
    const configuration: Configuration.Settings = {
      version,
      p2p: { host: Option.getOrElse(given.host, () => "0.0.0.0"), port },
      rpc: {
        host: Option.getOrElse(given.rpcHost, () => "127.0.0.1"),
        port: yield* rpcPort(port, given.rpcPort, origins),
      },
      mode: Option.map(given.testnet, (testnet) => (testnet ? "testnet" : "mainnet")),
      dataDirectory: yield* dataDirectory(given),
      ephemeral: given.ephemeral,
      archive: given.archive,
      genesisFile: given.genesis,
      validatorKeyFile: given.validatorKey,
      faucetKeyFile: given.faucetKey,
      validate: !given.noValidate,
      peers: given.peer,
      trustedCheckpoint: given.trust,
      roundMs: given.roundMs,
      rpcNames: given.rpcName,
      trustedProxies: given.trustedProxy,
      clientIpHeader: given.clientIpHeader,
      rateLimits: Option.getOrElse(given.rateLimits, () => true),
    }
    return { configuration, logFormat: Option.getOrElse(given.logFormat, (): Logging.Format => "pretty") }
  })

/** Reads how to run the node from the words of the command line and the environment. */
export const read = (version: string, words: ReadonlyArray<string>) =>
  Effect.flatMap(Command.read(settings, words), (read) => toConfiguration(version, read))
