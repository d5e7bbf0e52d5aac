/**
 * A complete node for your tests: in this process, on a free port, with nothing on the disk, its own network, rounds of a
 * few milliseconds, accounts with coins, and no limits. As promises:
 *
 *     const node = await startNode()
 *     const [alice, bob] = node.accounts
 *     const { fee } = await node.client.account(alice.secretKey).send({ to: bob.address, amount: 1 })
 *     expect(fee).toBe(1000)
 *     await node.stop()
 *
 * or as an Effect layer, `TestNode.layer()`.
 */
import { Cause, Clock, Context, Effect, Exit, Layer, Logger, LogLevel, Option, Scope } from "effect"
import { sha256Hex } from "#crypto"
import * as Account from "../client/Account.js"
import * as Client from "../client/Client.js"
import * as Mnemonic from "../client/Mnemonic.js"
import * as Wallet from "../client/Wallet.js"
import type * as Pace from "../node/engine/Pace.js"
import * as Founding from "../node/start/Founding.js"
import * as Binary from "../protocol/encoding/Binary.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import type { Protocol } from "../protocol/epoch/Protocol.js"
import * as Address from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import { SecretKey } from "../protocol/identity/Keys.js"
import * as Name from "../protocol/identity/Name.js"
import { addressPrefix, type Mode } from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import type { Parameters } from "../protocol/numbers/Parameters.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as DevNetwork from "./DevNetwork.js"
import * as Fork from "./Fork.js"
import * as StateFile from "./StateFile.js"

export interface Options {
  /**
   * The round interval. A payment is final after three rounds. By default, rounds come at once while transactions are
   * pending, and every 10 ms otherwise.
   */
  readonly roundMs?: number
  /** The number of funded accounts; 10 by default. Their keys are the same in every test. */
  readonly accounts?: number
  /** Each account's coins; 10,000 by default, five times the minimum stake. */
  readonly coinsEach?: number
  /** "mainnet" for a network without faucet and convenience endpoints. */
  readonly mode?: Mode
  /** Governance parameters. By default, epochs, votes and cooldowns are as short as a network allows. */
  readonly parameters?: Partial<Parameters>
  /** Values fixed for a network's life. */
  readonly protocol?: Partial<Protocol>
  /** Text from which the accounts' keys derive; the same in every test by default. */
  readonly seed?: string
  /** Instead of a seed: 24 words, which open the first account in any wallet, and from which the others derive. */
  readonly mnemonic?: string
  /** Makes rounds only for pending transactions or on request. */
  readonly onDemand?: boolean
  /** Makes rounds on request only: transactions stay pending until `controls.advanceRounds`. */
  readonly manual?: boolean
  /** Whether `snapshot` works. The data is then in a temporary directory instead of memory. */
  readonly snapshots?: boolean
  /** Continues the network that `controls.dump` returned. Only `snapshots`, `onDemand`, `manual` and this then have an effect. */
  readonly state?: Uint8Array
  /**
   * Starts with another network's state, from a node's URL or a file of `udg db export`, with its validators replaced
   * by one of ours. Only `seed`, `mnemonic`, `accounts`, `roundMs`, `onDemand` and `manual` then have an effect, and the accounts
   * own what they own there.
   */
  readonly fork?: string
  /** The content of that network's genesis file, to verify the node; without it the node's checkpoint is trusted. */
  readonly forkGenesis?: Genesis.Json
}

/** A funded account with a method for each type of transaction. */
export type FundedAccount = Wallet.Account & { readonly secretKey: SecretKey }

export type Outcome = Awaited<ReturnType<Client.PromiseClient["transactions"]["lookup"]>>

/** Tests that wait for an epoch or a vote wait for idle rounds. */
const IDLE_MS = 10
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

const SEED = "udg-node/testing"

const refuse = (message: string) => new DevNetwork.ControlRefused({ message })

const derived = (from: string, index: number): SecretKey =>
  Option.getOrThrow(SecretKey.fromHex(sha256Hex(Binary.utf8(`${from} account ${index}`))))

/** The first account's key. The others derive from it, so its words restore all of them. */
const firstOf = ({ mnemonic, seed = SEED }: Pick<Options, "mnemonic" | "seed">) =>
  mnemonic === undefined
    ? Effect.succeed(derived(seed, 0))
    : Effect.mapError(Mnemonic.parse(mnemonic), () => refuse(`mnemonic: ${Mnemonic.complaint}`))

/** The same at every start, so that addresses in logs are recognizable. Worthless on any other network. */
export const keyOf = (index: number, first = derived(SEED, 0)): SecretKey =>
  index === 0 ? first : derived(first.toSecretHex(), index)

/** The content of a new network. */
const founded = (options: Options & { readonly roundMs: number }) =>
  Effect.gen(function* () {
    const { roundMs, mode = "testnet", coinsEach = COINS_EACH } = options
    const accounts = yield* accountsOf(options)
    const validator = SecretKey.generate()
    const reserve = mode === "testnet" ? Option.some(SecretKey.generate()) : Option.none()
    const amount = Sats.make(coinsEach * Sats.SATS_PER_COIN)
    const genesis = Founding.solo({
      mode,
      time: Natural.nearestTimestamp(yield* Clock.currentTimeMillis),
      roundIntervalMs: roundMs,
      validator: validator.publicKey,
      faucet: Option.match(reserve, { onNone: () => null, onSome: ({ publicKey }) => publicKey }),
      otherwise: {
        allocations: accounts.map(({ publicKey }) => ({ address: Address.fromPublicKey(publicKey), amount })),
        parameters: { ...shortParameters, ...options.parameters },
        protocol: { ...shortProtocol, ...options.protocol },
      },
    })
    return { genesis, validator, reserve, purse: genesis.faucet?.address ?? null, accounts }
  })

/** The accounts whose keys are shown. */
const accountsOf = (options: Options) =>
  Effect.map(firstOf(options), (first) =>
    Array.from({ length: options.accounts ?? ACCOUNTS }, (_, i) => keyOf(i, first)),
  )

/** A resumed network, or a forked one. */
const begun = (options: Options) =>
  Effect.gen(function* () {
    if (options.state !== undefined) return { kept: yield* StateFile.decode(options.state), origin: undefined }
    if (options.fork === undefined) return { kept: undefined, origin: undefined }
    const { fork, forkGenesis, roundMs } = options
    const genesis =
      forkGenesis === undefined
        ? undefined
        : yield* Effect.mapError(Genesis.fromJson(forkGenesis), ({ message }) => refuse(`forkGenesis: ${message}`))
    return yield* Fork.made(fork, { accounts: yield* accountsOf(options), roundMs, genesis })
  })

/** The program's version and port, and the idle interval if the options set none. */
interface Around extends Pick<DevNetwork.Options, "version" | "port"> {
  readonly idleMs: number
}

/** A new network with these accounts, or the one whose state is given. */
export const found = (options: Options, { idleMs, ...around }: Around) =>
  Effect.gen(function* () {
    const { onDemand = false, manual = false, snapshots = false, roundMs = idleMs } = options
    const { kept, origin } = yield* begun(options)
    const pace: Pace.Way = options.roundMs === undefined && !manual ? "at once" : "evenly"
    const roundsFor = manual ? ("requests" as const) : onDemand ? ("transactions" as const) : ("time" as const)
    const network = { ...(kept ?? (yield* founded({ ...options, roundMs }))), roundsFor, pace }
    const { genesis, accounts } = network
    const started = yield* DevNetwork.make(
      kept === undefined
        ? { ...network, hasSnapshots: snapshots, ...around }
        : { ...network, hasSnapshots: true, from: kept, ...around },
    )
    return { network: started, genesis, accounts, origin }
  })

/** Controls for tests; see docs/dev.md. */
export interface Controls {
  /** Makes rounds at once and advances the network's clock by the time that they would have taken. */
  readonly advanceRounds: (count: number) => Promise<DevNetwork.Position>
  /** Advances the network's clock and makes the rounds needed to apply it. */
  readonly advanceTime: (ms: number) => Promise<DevNetwork.Position>
  /** Stores the state and returns its number. */
  readonly snapshot: () => Promise<number>
  /** Reverts the network to a snapshot and drops later ones. */
  readonly revert: (snapshot: number) => Promise<DevNetwork.Position>
  /** The whole network as bytes, for `load` here or `startNode({ state })` in another run. */
  readonly dump: () => Promise<Uint8Array>
  readonly load: (state: Uint8Array) => Promise<DevNetwork.Position>
  /** Sets a balance by a payment from the network's reserve or back to it. Returns the balance. */
  readonly setBalance: (account: string, amount: number) => Promise<number>
  /** Raises a nonce by transfers of the account to itself. Returns the nonce. */
  readonly setNonce: (account: string, nonce: number) => Promise<number>
  /** Raises a stake with coins of the reserve, or ends it with 0. Returns the stake. */
  readonly setStake: (account: string, amount: number) => Promise<number>
  /** Registers a name for an account that has none. */
  readonly setName: (account: string, name: string) => Promise<string>
  /**
   * Any account, with the methods of `client.account`. Its transactions are signed without its key, which only this
   * network accepts.
   */
  readonly impersonate: (account: string) => Promise<Client.Account>
}

/** Runs for a caller without Effect: nothing is logged into the test's output, and errors are not wrapped. */
const promised = async <A, E>(effect: Effect.Effect<A, E>): Promise<A> => {
  const exit = await Effect.runPromiseExit(Logger.withMinimumLogLevel(effect, LogLevel.None))
  if (Exit.isSuccess(exit)) return exit.value
  throw Cause.squash(exit.cause)
}

const satsOf = (amount: number) =>
  Effect.try({
    try: () => Sats.make(amount),
    catch: () => refuse(`amount: expected a number of sats from 0 to ${Sats.MAX_SUPPLY}`),
  })

const nameOf = (text: string) =>
  Name.isName(text) ? Effect.succeed(text) : refuse("name: expected 3 to 20 characters of a-z, 0-9 and -")

const controlsOf = (network: DevNetwork.DevNetwork, client: Client.PromiseClient): Controls => {
  const accountOf = Account.over({ url: network.url, options: { retries: 0 }, methods: () => client })
  return {
    impersonate: (account) =>
      promised(Effect.map(network.find(account), (address) => accountOf(network.standIn, address))),
    advanceRounds: (count) => promised(network.advanceRounds(count)),
    advanceTime: (ms) => promised(network.advanceTime(ms)),
    snapshot: () => promised(network.snapshot),
    revert: (snapshot) => promised(network.revert(snapshot)),
    dump: () => promised(network.dump),
    load: (state) => promised(network.load(state)),
    setBalance: (account, amount) =>
      promised(
        Effect.flatMap(Effect.all([network.find(account), satsOf(amount)]), (set) => network.setBalance(...set)),
      ),
    setNonce: (account, nonce) =>
      promised(Effect.flatMap(network.find(account), (address) => network.setNonce(address, nonce))),
    setStake: (account, amount) =>
      promised(Effect.flatMap(Effect.all([network.find(account), satsOf(amount)]), (set) => network.setStake(...set))),
    setName: (account, name) =>
      promised(Effect.flatMap(Effect.all([network.find(account), nameOf(name)]), (set) => network.setName(...set))),
  }
}

/** A running node with everything that a test needs. */
export class TestNode extends Context.Tag("udg/TestNode")<
  TestNode,
  {
    /** The URL of the HTTP interface. */
    readonly url: string
    /** Does not retry, so that a test sees every response. */
    readonly client: Client.PromiseClient
    readonly network: Wallet.WalletNetwork
    /** The content of the network's genesis file, for a client that verifies the node. */
    readonly genesis: Genesis.Json
    readonly accounts: ReadonlyArray<FundedAccount>
    /** Waits for a transaction's outcome. Rejects if the node no longer knows it. */
    readonly finalized: (hash: Hash) => Promise<Outcome>
    readonly controls: Controls
  }
>() {
  static layer(options: Options = {}) {
    return Layer.scoped(TestNode, face(options)).pipe(Layer.provide(Logger.minimumLogLevel(LogLevel.None)))
  }
}

const face = (options: Options) =>
  Effect.gen(function* () {
    const { network: dev, genesis, accounts } = yield* found(options, { version: "testing", port: 0, idleMs: IDLE_MS })
    const { url } = dev
    const client = Client.connect(url, { retries: 0 })
    const network = { networkId: genesis.networkId, prefix: addressPrefix(genesis.mode) }
    return TestNode.of({
      url,
      client,
      network,
      genesis: Genesis.toJson(genesis),
      controls: controlsOf(dev, client),
      accounts: accounts.map((secretKey) => ({ ...Wallet.account(network, secretKey), secretKey })),
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
  const scope = await promised(Scope.make())
  const stop = () => promised(Scope.close(scope, Exit.void))
  const context = await promised(
    Layer.buildWithScope(TestNode.layer(options), scope).pipe(
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause))),
    ),
  )
  return { ...Context.get(context, TestNode), stop, [Symbol.asyncDispose]: stop }
}
