import { resolve } from "node:path"
import { Effect, Option } from "effect"
import type * as Configuration from "../node/start/Configuration.js"
import * as Protocol from "../protocol/epoch/Protocol.js"
import type * as Command from "./settings/Command.js"
import * as ConfigFile from "./settings/ConfigFile.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import { type WrongUsage, wrongUsage } from "./settings/WrongUsage.js"

const rpcPortDistance = 1000
const defaultDataDirectory = "./data"

const network = Setting.group("Network")
const rpc = Setting.group("RPC")
const chain = Setting.group("Chain and data")
const validating = Setting.group("Validating")
const logging = Setting.group("Logging")

/** The node's options, in the order of the help page. */
export const settings = {
  port: network.withDefault("--port PORT", "port for other nodes; 0 takes any free port", Reader.port, 9333),
  host: network.optional(
    "--host HOST",
    "address that listens for other nodes; 0.0.0.0 is every interface",
    Reader.host,
    "127.0.0.1 on a solo network, otherwise 0.0.0.0",
  ),
  peers: network.repeated(
    "--peer ADDR",
    "a node to connect to, as HOST:PORT or KEY@HOST:PORT; may be repeated",
    Reader.peer,
  ),
  trustedCheckpoint: network.optional(
    "--trust EPOCH:HASH",
    "a closing checkpoint that you trust; joining starts from it and rejects a history without it",
    Reader.trustedCheckpoint,
  ),
  rpcPort: rpc.optional(
    "--rpc-port PORT",
    "port of the HTTP interface; 0 takes any free port",
    Reader.port,
    `--port + ${rpcPortDistance}; with --port 0 also any free port`,
  ),
  rpcHost: rpc.withDefault(
    "--rpc-host HOST",
    "address that serves HTTP; 0.0.0.0 opens it to other machines",
    Reader.host,
    "127.0.0.1",
  ),
  rpcNames: rpc.repeated(
    "--rpc-name NAME",
    "another name of this machine, or a host whose web pages can use its faucet and key endpoints; may be repeated",
    Reader.host,
    "none",
  ),
  rateLimits: rpc.withDefault(
    "--rate-limits on|off",
    "limits per client IP; off is for private networks and load tests",
    Reader.boolean("on", "off"),
    true,
    "on",
  ),
  trustedProxies: rpc.repeated(
    "--trusted-proxy CIDR",
    "a reverse proxy whose X-Forwarded-For is trusted, such as 10.0.0.0/8; may be repeated",
    Reader.cidr,
    "none",
  ),
  clientIpHeader: rpc.optional(
    "--client-ip-header NAME",
    "the header in which a trusted proxy names the client, such as CF-Connecting-IP",
    Reader.headerName,
    "X-Forwarded-For",
  ),
  metricsPort: rpc.optional(
    "--metrics-port PORT",
    "a separate port for metrics and the log level; 0 takes any free port",
    Reader.port,
    "none",
  ),
  metricsHost: rpc.withDefault(
    "--metrics-host HOST",
    "address that serves them; 0.0.0.0 opens it to other machines",
    Reader.host,
    "127.0.0.1",
  ),
  testnet: chain.optional(
    "--testnet true|false",
    "the kind of network: false is a mainnet, without a faucet and without endpoints that take secret keys",
    Reader.boolean("true", "false"),
    "as in the genesis; a new network is a testnet",
  ),
  dataDir: chain.optional("--data-dir DIR", "where the node stores its data", Reader.directory, defaultDataDirectory),
  genesisFile: chain.optional(
    "--genesis FILE",
    "the genesis file of the network to join",
    Reader.file,
    "the one in the data directory; without one, a new solo network",
  ),
  roundMs: chain.optional(
    "--round-ms MS",
    "round interval of a new solo network, 1 to 60000; ignored with a warning if a network exists",
    Reader.roundMs,
    String(Protocol.standard.roundIntervalMs),
  ),
  archive: chain.flag("--archive", "keep every vertex and checkpoint: prune nothing"),
  history: chain.optional(
    "--history ROUNDS|none",
    "how many rounds of transactions and histories to keep; the running epoch and the one before always stay",
    Reader.history,
    "all",
  ),
  ephemeral: chain.flag("--ephemeral", "store nothing: the data directory is neither read nor written"),
  validatorKeyFile: validating.optional(
    "--validator-key FILE",
    "file with the validator's secret key",
    Reader.file,
    "validator.key in the data directory",
  ),
  signer: validating.optional(
    "--signer KEY@HOST:PORT",
    "the signer that holds the validator's key, as udg signer prints it; the node then stores no validator key",
    Reader.signer,
  ),
  noValidate: validating.flag("--no-validate", "follow the network without making vertices"),
  signingWord: validating.optional(
    "--sign-from-round EPOCH:ROUND:BASE",
    "after a lost disk: confirms that the key has signed nothing from this round on; the log and udg doctor print the value",
    Reader.signingWord,
  ),
  faucetKeyFile: validating.optional(
    "--faucet-key FILE",
    "file with the secret key of the faucet's reserve (testnet)",
    Reader.file,
    "faucet.key in the data directory",
  ),
  keyPassphraseFile: validating.optional(
    "--key-passphrase-file FILE",
    "file with the passphrase of encrypted key files; new keys are encrypted with it too",
    Reader.file,
    "the systemd credential key-passphrase, or asked for at a terminal",
  ),
  logFormat: logging.withDefault(
    "--log-format pretty|json",
    "lines for people, or one JSON object per line; logs go to stderr",
    Reader.choice("pretty", "json"),
    "pretty",
  ),
  config: ConfigFile.setting,
}

type Values = Command.Values<typeof settings>
type Origins = Command.Origins<typeof settings>

/** Error messages about two settings use the names under which each was given. */
const rpcPort = ({ port, rpcPort }: Values, names: Origins): Effect.Effect<number, WrongUsage> => {
  const chosen = Option.getOrElse(rpcPort, () => (port === 0 ? 0 : port + rpcPortDistance))
  if (chosen > 65_535)
    return wrongUsage(
      `${names.rpcPort} would be ${chosen}, which is ${names.port} ${port} + ${rpcPortDistance} and not a port; set ${names.rpcPort}`,
    )
  if (chosen === port && port !== 0)
    return wrongUsage(
      `${names.rpcPort} and ${names.port} are both ${port}, but each needs its own; choose another ${names.rpcPort}`,
    )
  return Effect.succeed(chosen)
}

/** Rejects --archive together with --history: one keeps everything, the other prunes. */
const history = ({ archive, history }: Values, names: Origins) =>
  archive && Option.isSome(history)
    ? wrongUsage(`${names.archive} keeps everything and ${names.history} prunes old data; use only one of them`)
    : Effect.succeed(history)

const signingWord = ({ signingWord, noValidate }: Values, names: Origins) =>
  noValidate && Option.isSome(signingWord)
    ? wrongUsage(`${names.signingWord} lets a validator sign and ${names.noValidate} runs none; use only one of them`)
    : Effect.succeed(signingWord)

/** What depends on two settings, or why they contradict each other. */
export const together = (values: Values, origins: Origins) =>
  Effect.all({
    rpcPort: rpcPort(values, origins),
    history: history(values, origins),
    signingWord: signingWord(values, origins),
  })

/** Checks the default directory too, so that a start from a read-only place fails at once. */
const dataDirectory = ({ ephemeral, dataDir }: Values) =>
  ephemeral || Option.isSome(dataDir)
    ? Effect.succeed(Option.getOrElse(dataDir, () => resolve(defaultDataDirectory)))
    : Reader.defaultDirectory("--data-dir", defaultDataDirectory)

/** The node's configuration, from its settings. */
export const configurationOf = (version: string, values: Values, origins: Origins) =>
  Effect.gen(function* () {
    const {
      port,
      host,
      rpcPort: _,
      rpcHost,
      metricsHost,
      metricsPort,
      testnet,
      dataDir,
      noValidate,
      logFormat,
      keyPassphraseFile,
      config: _config,
      ...alike
    } = values
    const checked = yield* together(values, origins)
    const configuration: Configuration.Settings = {
      ...alike,
      version,
      p2p: { host, port },
      rpc: { host: rpcHost, port: checked.rpcPort },
      metrics: Option.map(metricsPort, (port) => ({ host: metricsHost, port })),
      mode: Option.map(testnet, (isTestnet) => (isTestnet ? "testnet" : "mainnet")),
      history: checked.history,
      signingWord: checked.signingWord,
      dataDirectory: yield* dataDirectory(values),
      validate: !noValidate,
    }
    return { configuration, logFormat, keyPassphraseFile }
  })
