import { Context, Option } from "effect"
import type * as PeerAddress from "../../network/PeerAddress.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import type * as Cidr from "./Cidr.js"

export type Mode = "testnet" | "mainnet"

/** An interface to listen on. Port 0 lets the system choose a free one. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** A closing checkpoint that the operator vouches for: its epoch and its hash, 64 lower-case hex characters. */
export interface TrustedCheckpoint {
  readonly epoch: number
  readonly hash: string
}

/**
 * The operator's word after a lost disk that the validator's key has signed nothing from this round of this epoch on.
 * The first 16 hex characters of the epoch's base bind the word to one network.
 */
export interface SigningWord {
  readonly epoch: number
  readonly round: number
  readonly base: string
}

/** Everything an operator decides about one run of the node, validated. Files named here existed at that time. */
export interface Settings {
  readonly version: string
  /** Without a host, a solo network listens only on this machine, any other on all interfaces. */
  readonly p2p: { readonly host: Option.Option<string>; readonly port: number }
  readonly rpc: Endpoint
  /** Where metrics and the log level are served, apart from the HTTP interface. */
  readonly metrics: Option.Option<Endpoint>
  /** None: that of an existing genesis; a new network is a testnet. */
  readonly mode: Option.Option<Mode>
  readonly dataDirectory: string
  /** Nothing is written to the data directory. */
  readonly ephemeral: boolean
  /** Old vertices and checkpoints are kept instead of pruned. */
  readonly archive: boolean
  /** Executed transactions and histories older than this many rounds are pruned. None: all are kept. */
  readonly history: Option.Option<number>
  readonly genesisFile: Option.Option<string>
  readonly validatorKeyFile: Option.Option<string>
  /** Holds the validator's key in another process; see docs/operations/signer.md. */
  readonly signer: Option.Option<{ readonly host: string; readonly port: number; readonly key: PeerId }>
  readonly faucetKeyFile: Option.Option<string>
  /** False: follow the network without making vertices. */
  readonly validate: boolean
  readonly signingWord: Option.Option<SigningWord>
  readonly peers: ReadonlyArray<PeerAddress.PeerAddress>
  readonly trustedCheckpoint: Option.Option<TrustedCheckpoint>
  /** The round interval of a new network; an existing one keeps its own. */
  readonly roundMs: Option.Option<number>
  /** Host names that a node on the loopback interface answers to, besides the loopback's own. */
  readonly rpcNames: ReadonlyArray<string>
  readonly trustedProxies: ReadonlyArray<Cidr.Cidr>
  /** In lower case; used only if it comes from a trusted proxy. */
  readonly clientIpHeader: Option.Option<string>
  readonly rateLimits: boolean
}

/** A node inside another program: alone, in memory, and with HTTP for this machine only. */
export const embedded: Omit<Settings, "version"> = {
  p2p: { host: Option.none(), port: 0 },
  rpc: { host: "127.0.0.1", port: 0 },
  metrics: Option.none(),
  mode: Option.none(),
  dataDirectory: "",
  ephemeral: true,
  archive: true,
  history: Option.none(),
  genesisFile: Option.none(),
  validatorKeyFile: Option.none(),
  signer: Option.none(),
  faucetKeyFile: Option.none(),
  validate: true,
  peers: [],
  trustedCheckpoint: Option.none(),
  signingWord: Option.none(),
  roundMs: Option.none(),
  rpcNames: [],
  trustedProxies: [],
  clientIpHeader: Option.none(),
  rateLimits: false,
}

/** The node's settings from the command line. No other part of the program reads the environment. */
export class Configuration extends Context.Tag("udg/Configuration")<Configuration, Settings>() {}
