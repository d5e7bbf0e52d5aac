import { Array as Arr, Effect, Option, Schema } from "effect"
import type { Received } from "../../ledger/pending/PendingTransactions.js"
import { Health, type Obstacle, type Report } from "../../node/reads/Health.js"
import { Mempool } from "../../node/reads/Mempool.js"
import { type Figures, Metrics } from "../../node/reads/Metrics.js"
import { type Known, Peers } from "../../node/reads/Peers.js"
import { Search } from "../../node/reads/Search.js"
import { State } from "../../node/reads/State.js"
import { Configuration } from "../../node/start/Configuration.js"
import { Home } from "../../node/start/Home.js"
import type { Versions } from "../../node/start/Versions.js"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import * as Protocol from "../../protocol/epoch/Protocol.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as Network from "../../protocol/identity/Network.js"
import type { Nonce } from "../../protocol/numbers/Natural.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as AccountRecord from "../../protocol/state/AccountRecord.js"
import * as Charges from "../../protocol/transaction/Charges.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type * as Api from "../api/Core.js"
import * as Failure from "../api/Failure.js"
import * as AccountReference from "./AccountReference.js"
import * as Faucet from "./Faucet.js"
import { group, type Of } from "./Group.js"
import * as SnakeCase from "./SnakeCase.js"

const MEMPOOL_SHOWN = 100

const statusOf = (figures: Figures, build: Versions): typeof Api.NodeStatus.Type => ({
  dag_round: figures.dagRound,
  last_finalized_round: figures.finalizedRound,
  peers: figures.peers,
  total_supply: figures.totalSupply,
  total_supply_coin: Sats.toCoin(figures.totalSupply),
  total_staked: figures.totalStaked,
  active_stakers: figures.activeValidators,
  mempool_size: figures.mempoolSize,
  dag_vertices: figures.vertices,
  versions: { program: build.version, protocol: build.protocol, wire: build.wire, database: build.database },
})

const balanceOf = (
  address: Address.Address,
  prefix: Network.AddressPrefix,
  account: AccountRecord.AccountRecord,
  nextNonce: Nonce,
): typeof Api.Balance.Type => {
  const staked = account.stake?.amount ?? Sats.ZERO
  return {
    address,
    address_bech32: Address.toBech32(address, prefix),
    balance: account.balance,
    balance_coin: Sats.toCoin(account.balance),
    nonce: account.nonce,
    staked,
    staked_coin: Sats.toCoin(staked),
    is_council_member: account.isCouncilMember,
    is_smart_account: account.policy !== null,
    next_nonce: nextNonce,
    name: account.name,
    exists: !AccountRecord.isEmpty(account),
  }
}

const reportOf = ({ status, problems, ...parts }: Report): typeof Api.HealthReport.Type => ({
  status,
  problems,
  components: {
    dag: parts.dag,
    finality: SnakeCase.named(parts.finality),
    state: { ...SnakeCase.named(parts.state), supply: parts.state.totalSupply },
    mempool: parts.mempool,
    network: parts.network,
    checkpoints: SnakeCase.named(parts.checkpoints),
    ...Option.match(parts.sync, { onNone: () => ({}), onSome: (sync) => ({ sync: SnakeCase.named(sync) }) }),
    ...Option.match(parts.catchUp, {
      onNone: () => ({}),
      onSome: (catchUp) => ({ catch_up: SnakeCase.named(catchUp) }),
    }),
    ...Option.match(parts.recovery, {
      onNone: () => ({}),
      onSome: (recovery) => ({ recovery: SnakeCase.named(recovery) }),
    }),
    ...Option.match(parts.clock, { onNone: () => ({}), onSome: (clock) => ({ clock: SnakeCase.named(clock) }) }),
  },
})

const unready = ({ reason, message }: Obstacle) => Effect.fail(new Failure.NotReady({ reason, message }))

const movementOf = ({ operation }: Transaction) => {
  const to = Charges.recipientOf(operation)
  return { ...(to === undefined ? {} : { to }), ...("amount" in operation ? { amount: operation.amount } : {}) }
}

const pendingOf = ({ transaction, receivedAt }: Received): (typeof Api.PendingTransactions.Type)[number] => ({
  hash: transaction.id,
  type: transaction.operation._tag,
  from: transaction.from,
  ...movementOf(transaction),
  fee: transaction.fee,
  nonce: transaction.nonce,
  received_at: receivedAt,
})

const peersOf = ({ connected, bootstrap }: Known): typeof Api.Peers.Type => ({
  connected: connected.length,
  peers: connected.map(SnakeCase.named),
  bootstrap_nodes: bootstrap.map(({ address, isConnected }) => ({ address, connected: isConnected })),
})

const networkOf = (
  genesis: Genesis.Genesis,
  hash: ReturnType<typeof Genesis.hash>,
  version: string,
  hasArchive: boolean,
  parameters: Parameters.Parameters,
): typeof Api.NetworkInfo.Type => {
  const { networkId, mode, protocol, faucet } = genesis
  return {
    network_id: networkId,
    genesis_hash: hash,
    mode,
    address_prefix: Network.addressPrefix(mode),
    version,
    has_archive: hasArchive,
    parameters: {
      ...Parameters.toJson(parameters),
      ...Protocol.toJson(protocol),
      min_stake_sats: Sats.MIN_STAKE_SATS,
      faucet_max_sats: faucet === null ? null : faucet.maxRequest,
    },
  }
}

const addressOf = Schema.decodeUnknownOption(Address.schema)

const KEYGEN_WARNING = "testnet only: this key travelled in plain text; never use it for anything of value"

/** Handlers for accounts and their network. */
export const accounts = (version: string, { hasArchive }: { readonly hasArchive: boolean }) =>
  Effect.gen(function* () {
    const state = yield* State
    const { genesis } = state
    const account = yield* AccountReference.resolver
    const prefix = Network.addressPrefix(genesis.mode)
    const genesisHash = Genesis.hash(genesis)

    return {
      balance: ({ path }) =>
        Effect.gen(function* () {
          const address = yield* account("address", path.address)
          const sender = yield* state.sender(address)
          return balanceOf(address, prefix, sender.account, sender.nextNonce)
        }),
      names: ({ urlParams: { addresses } }) =>
        Effect.map(state.namesOf(Arr.getSomes(addresses.split(",").map((text) => addressOf(text)))), (names) => ({
          names,
        })),
      policy: ({ path }) =>
        Effect.gen(function* () {
          const { address, policy } = yield* Effect.flatMap(account("address", path.address), state.account)
          if (policy !== null) return { address, ...policy }
          const message = `${address} has no policy: its own key alone signs for it`
          return yield* Effect.fail(new Failure.PolicyNotFound({ message }))
        }),
      network: () =>
        Effect.map(state.summary, ({ parameters }) => networkOf(genesis, genesisHash, version, hasArchive, parameters)),
    } satisfies Partial<Of<"core">>
  })

export const layer = group("core", (handlers) =>
  Effect.gen(function* () {
    const search = yield* Search
    const { genesis } = yield* Home
    const [mempool, metrics, health, peers] = yield* Effect.all([Mempool, Metrics, Health, Peers])
    const faucet = yield* Faucet.make
    const account = yield* AccountReference.resolver
    const prefix = Network.addressPrefix(genesis.mode)

    const { balance, names, policy, network } = yield* accounts((yield* Configuration).version, { hasArchive: false })

    return handlers
      .handle("status", () => Effect.map(metrics.current, (figures) => statusOf(figures, metrics.build)))
      .handle("balance", balance)
      .handle("policy", policy)
      .handle("names", names)
      .handle("search", ({ urlParams: { prefix } }) => search.beginningWith(prefix))
      .handle("health", () => Effect.succeed({ status: "ok" }))
      .handle("ready", () =>
        Effect.flatMap(
          health.obstacle,
          Option.match({ onNone: () => Effect.succeed({ status: "ready" as const }), onSome: unready }),
        ),
      )
      .handle("healthReport", () => Effect.map(health.report, reportOf))
      .handle("keygen", () =>
        Effect.sync(() => {
          const key = Keys.SecretKey.generate()
          const address = Address.fromPublicKey(key.publicKey)
          return {
            address,
            address_bech32: Address.toBech32(address, prefix),
            secret_key: key,
            warning: KEYGEN_WARNING,
          }
        }),
      )
      .handle("faucet", ({ payload: { address, amount } }) =>
        Effect.flatMap(account("address", address), (to) => faucet(to, amount)),
      )
      .handle("mempool", () => Effect.map(mempool.top(MEMPOOL_SHOWN), (top) => top.map(pendingOf)))
      .handle("peers", () => Effect.map(peers.known, peersOf))
      .handle("network", network)
  }),
)
