/**
 * A complete node for your tests: in this process, on a free port, with nothing on the disk, its own network, rounds of a
 * few milliseconds, accounts with coins, and no limits. As promises:
 *
 *     const node = await startNode()
 *     const [alice, bob] = node.accounts
 *     const { tx_hash } = await node.client.transactions.submit({
 *       payload: alice.transfer({ to: bob.address, amount: 1, fee: 1000, nonce: 0 }),
 *     })
 *     expect((await node.finalized(tx_hash)).applied).toBe(true)
 *     await node.stop()
 *
 * or as an Effect layer, `TestNode.layer()`.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Clock, Context, Effect, Exit, Layer, Logger, LogLevel, Option, Scope } from "effect"
import { sha256Hex } from "#crypto"
import * as Client from "../client/Client.js"
import * as Wallet from "../client/Wallet.js"
import * as Network from "../network/Network.js"
import * as Engine from "../node/engine/Engine.js"
import * as Node from "../node/Node.js"
import { RpcUrl } from "../node/RpcUrl.js"
import { Configuration } from "../node/start/Configuration.js"
import * as Founding from "../node/start/Founding.js"
import { Home } from "../node/start/Home.js"
import * as Binary from "../protocol/encoding/Binary.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import type { Protocol } from "../protocol/epoch/Protocol.js"
import * as Address from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import { addressPrefix, type Mode } from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import type { Parameters } from "../protocol/numbers/Parameters.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as HttpInterface from "../rpc/HttpInterface.js"

export interface Options {
  /** The round interval; 10 by default. A payment is final after three rounds. */
  readonly roundMs?: number
  /** The number of accounts with coins; 10 by default. Their keys are the same in every test. */
  readonly accounts?: number
  /** The coins of each of them; 10,000 by default, five times the smallest stake. */
  readonly coinsEach?: number
  /** "mainnet" for a network without faucet and convenience endpoints. */
  readonly mode?: Mode
  /** Parameters of governance. By default epochs, votes and cooldowns are as short as a network allows. */
  readonly parameters?: Partial<Parameters>
  /** Values that are fixed for the life of a network. */
  readonly protocol?: Partial<Protocol>
}

/** An account with coins, and a method for each type of transaction. */
export type FundedAccount = Wallet.Account & { readonly secretKey: Wallet.SecretKey }

export type Outcome = Awaited<ReturnType<Client.PromiseClient["transactions"]["lookup"]>>

const ROUND_MS = 10
const ACCOUNTS = 10
const COINS_EACH = 10_000
const EPOCH_ROUNDS = 40

const shortProtocol: Partial<Protocol> = { epochRounds: EPOCH_ROUNDS, collectionDepthRounds: EPOCH_ROUNDS / 2 }

const shortParameters: Partial<Parameters> = {
  cooldownRounds: EPOCH_ROUNDS,
  votingPeriodRounds: 100,
  executionDelayRounds: 5,
  checkpointIntervalRounds: 20,
}

/** The same in every test, so that addresses in logs are recognisable. Worthless on any other network. */
export const keyOf = (index: number): Wallet.SecretKey =>
  Wallet.secretKey(sha256Hex(Binary.utf8(`udg-node/testing account ${index}`)))

const home = (accounts: ReadonlyArray<Wallet.SecretKey>, options: Options) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const { roundMs = ROUND_MS, mode = "testnet", coinsEach = COINS_EACH } = options
    const validator = Wallet.generate()
    const faucet = mode === "testnet" ? Option.some(Wallet.generate()) : Option.none()
    const amount = Sats.make(coinsEach * Sats.SATS_PER_COIN)
    const genesis = Founding.solo({
      mode,
      time: Natural.timestamp(now),
      roundIntervalMs: roundMs,
      validator: validator.publicKey,
      faucet: Option.match(faucet, { onNone: () => null, onSome: ({ publicKey }) => publicKey }),
      otherwise: {
        allocations: accounts.map(({ publicKey }) => ({ address: Address.fromPublicKey(publicKey), amount })),
        parameters: { ...shortParameters, ...options.parameters },
        protocol: { ...shortProtocol, ...options.protocol },
      },
    })
    return Home.of({
      location: { _tag: "Ephemeral" },
      genesis,
      isFounded: true,
      validatorKey: Option.some(validator),
      faucetKey: faucet,
    })
  })

const configuration = Layer.succeed(Configuration, {
  version: "testing",
  p2p: { host: "127.0.0.1", port: 0 },
  rpc: { host: "127.0.0.1", port: 0 },
  mode: Option.none(),
  dataDirectory: "",
  ephemeral: true,
  archive: true,
  history: Option.none(),
  genesisFile: Option.none(),
  validatorKeyFile: Option.none(),
  faucetKeyFile: Option.none(),
  validate: true,
  peers: [],
  trustedCheckpoint: Option.none(),
  roundMs: Option.none(),
  rpcNames: [],
  trustedProxies: [],
  clientIpHeader: Option.none(),
  rateLimits: false,
})

/** A running node, with everything a test needs. */
export class TestNode extends Context.Tag("udg/TestNode")<
  TestNode,
  {
    /** The URL of the HTTP interface. */
    readonly url: string
    /** It does not repeat requests: a test should see every answer of the node. */
    readonly client: Client.PromiseClient
    readonly network: Wallet.WalletNetwork
    /** What the file of the network's genesis says, for a client that checks the node. */
    readonly genesis: Genesis.Json
    readonly accounts: ReadonlyArray<FundedAccount>
    /** Waits for the outcome of a transaction. Rejects if the node no longer knows it. */
    readonly finalized: (hash: Hash) => Promise<Outcome>
  }
>() {
  static layer(options: Options = {}) {
    const keys = Array.from({ length: options.accounts ?? ACCOUNTS }, (_, i) => keyOf(i))
    const node = Layer.provideMerge(HttpInterface.layer, Node.servicesOver(Engine.layer, Network.offline)).pipe(
      Layer.provideMerge(Layer.effect(Home, home(keys, options))),
      Layer.provide(configuration),
      Layer.provide(NodeFileSystem.layer),
      Layer.provide(Logger.minimumLogLevel(LogLevel.None)),
    )
    return Layer.provide(Layer.effect(TestNode, face(keys)), node)
  }
}

const face = (keys: ReadonlyArray<Wallet.SecretKey>) =>
  Effect.gen(function* () {
    const { url } = yield* RpcUrl
    const { genesis } = yield* Home
    const client = Client.connect(url, { retries: 0 })
    const network = { networkId: genesis.networkId, prefix: addressPrefix(genesis.mode) }
    return TestNode.of({
      url,
      client,
      network,
      genesis: Genesis.toJson(genesis),
      accounts: keys.map((secretKey) => ({ ...Wallet.account(network, secretKey), secretKey })),
      finalized: async (hash) => {
        for (;;) {
          const outcome = await client.transactions.lookup({ path: { hash } })
          if (outcome.status === "finalized") return outcome
          await new Promise((resolve) => setTimeout(resolve, genesis.protocol.roundIntervalMs))
        }
      },
    })
  })

/** Runs until `stop` is called; `await using` calls it automatically. */
export type StartedNode = Context.Tag.Service<typeof TestNode> &
  AsyncDisposable & { readonly stop: () => Promise<void> }

export const startNode = async (options: Options = {}): Promise<StartedNode> => {
  const scope = await Effect.runPromise(Scope.make())
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const context = await Effect.runPromise(
    Layer.buildWithScope(TestNode.layer(options), scope).pipe(
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause))),
    ),
  )
  return { ...Context.get(context, TestNode), stop, [Symbol.asyncDispose]: stop }
}
