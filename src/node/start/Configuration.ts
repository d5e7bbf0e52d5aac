import { Context, Option } from "effect"
import * as PeerAddress from "../../network/PeerAddress.js"
import * as Cidr from "./Cidr.js"

/** Which kind of network a node is told to be on. */
export type Mode = "testnet" | "mainnet"

/** An interface to listen on. Port 0 lets the system choose a free one. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** A closing checkpoint that the operator vouches for: its epoch and its content hash, 64 lower-case hex characters. */
export interface TrustedCheckpoint {
  readonly epoch: number
  readonly hash: string
}

/** Everything an operator decides about one run of the node, checked. Files named here existed when it was made. */
export interface Settings {
  readonly version: string
  readonly p2p: Endpoint
  readonly rpc: Endpoint
  /** None: an existing genesis decides, and a network made here is a testnet. */
  readonly mode: Option.Option<Mode>
  readonly dataDirectory: string
  /** Nothing is written to the data directory. */
  readonly ephemeral: boolean
  /** Old vertices and checkpoints are kept instead of pruned. */
  readonly archive: boolean
  readonly genesisFile: Option.Option<string>
  readonly validatorKeyFile: Option.Option<string>
  readonly faucetKeyFile: Option.Option<string>
  /** False: follow the network without making vertices. */
  readonly validate: boolean
  readonly peers: ReadonlyArray<PeerAddress.PeerAddress>
  readonly trustedCheckpoint: Option.Option<TrustedCheckpoint>
  /** The round interval of a network made here; one that exists keeps its own. */
  readonly roundMs: Option.Option<number>
  /** Under which a node on the loopback answers, beside the loopback's own. */
  readonly rpcNames: ReadonlyArray<string>
  readonly trustedProxies: ReadonlyArray<Cidr.Cidr>
  /** Lower case; believed only from a trusted proxy. */
  readonly clientIpHeader: Option.Option<string>
  readonly rateLimits: boolean
}

/** The node's settings, as the command line read them. No other part of the program looks at the environment. */
export class Configuration extends Context.Tag("udg/Configuration")<Configuration, Settings>() {}

const endpoint = ({ host, port }: Endpoint): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port === 0 ? "(any free port)" : port}`

const fileOr = (settings: Settings, file: Option.Option<string>, otherwise: string): string =>
  Option.getOrElse(file, () => (settings.ephemeral ? otherwise : `from the data directory, else ${otherwise}`))

const list = (items: ReadonlyArray<string>): string => (items.length === 0 ? "none" : items.join(", "))

/** The settings as a person reads them: what it is, and its value. */
export const describe = (settings: Settings): ReadonlyArray<readonly [name: string, value: string]> => [
  ["peer-to-peer", endpoint(settings.p2p)],
  ["rpc", endpoint(settings.rpc)],
  ["mode", Option.getOrElse(settings.mode, () => "as the genesis says (a new network: testnet)")],
  ["data directory", settings.ephemeral ? "none, nothing is kept" : settings.dataDirectory],
  ["history", settings.archive ? "kept" : "pruned"],
  ["genesis", fileOr(settings, settings.genesisFile, "a new solo network")],
  ["validator key", fileOr(settings, settings.validatorKeyFile, "a new one")],
  ["faucet key", fileOr(settings, settings.faucetKeyFile, "a new one on a new solo network")],
  ["makes vertices", settings.validate ? "yes" : "no"],
  ["peers", list(settings.peers.map(PeerAddress.toMultiaddr))],
  [
    "trusted checkpoint",
    Option.match(settings.trustedCheckpoint, {
      onNone: () => "none",
      onSome: ({ epoch, hash }) => `epoch ${epoch}, ${hash}`,
    }),
  ],
  [
    "round interval",
    Option.match(settings.roundMs, { onNone: () => "as the genesis says", onSome: (ms) => `${ms} ms` }),
  ],
  ["names of the rpc", list(settings.rpcNames)],
  ["trusted proxies", list(settings.trustedProxies.map(Cidr.format))],
  ["client IP header", Option.getOrElse(settings.clientIpHeader, () => "x-forwarded-for")],
  ["rate limits", settings.rateLimits ? "on" : "off"],
]
