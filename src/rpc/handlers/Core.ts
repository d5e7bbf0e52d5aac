import { Effect, Either, Option } from "effect"
import type { Received } from "../../ledger/pending/PendingTransactions.js"
import { Engine } from "../../node/engine/Engine.js"
import { Health, type Report } from "../../node/reads/Health.js"
import { Mempool } from "../../node/reads/Mempool.js"
import { type Figures, Metrics } from "../../node/reads/Metrics.js"
import { type Known, Peers } from "../../node/reads/Peers.js"
import { Configuration } from "../../node/start/Configuration.js"
import { Home } from "../../node/start/Home.js"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as Network from "../../protocol/identity/Network.js"
import type { Nonce } from "../../protocol/numbers/Natural.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type { AccountRecord } from "../../protocol/state/AccountRecord.js"
import * as Charges from "../../protocol/transaction/Charges.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type * as Api from "../api/Core.js"
import * as Failure from "../api/Failure.js"
import * as Answer from "../server/Answer.js"
import type * as Handlers from "../server/Handlers.js"
import * as AccountReference from "./AccountReference.js"
import * as Faucet from "./Faucet.js"

const MEMPOOL_SHOWN = 100

const statusOf = (figures: Figures): typeof Api.NodeStatus.Type => ({
  dag_round: figures.dagRound,
  last_finalized_round: figures.finalizedRound,
  peers: figures.peers,
  total_supply: figures.totalSupply,
  total_supply_coin: Sats.toCoin(figures.totalSupply),
  total_staked: figures.totalStaked,
  active_stakers: figures.activeValidators,
  mempool_size: figures.mempoolSize,
  dag_vertices: figures.vertices,
})

const balanceOf = (
  address: Address.Address,
  prefix: Network.AddressPrefix,
  account: AccountRecord,
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
  }
}

const reportOf = ({ status, ...parts }: Report): typeof Api.HealthReport.Type => ({
  status,
  components: {
    dag: { status: parts.dag.status, round: parts.dag.round, vertices: parts.dag.vertices },
    finality: {
      status: parts.finality.status,
      finalized_round: parts.finality.finalizedRound,
      lag: parts.finality.lag,
    },
    state: {
      status: parts.state.status,
      accounts: parts.state.accounts,
      total_supply: parts.state.totalSupply,
      supply: parts.state.totalSupply,
    },
    mempool: parts.mempool,
    network: parts.network,
    checkpoints: { status: parts.checkpoints.status, latest_round: parts.checkpoints.latestRound },
    ...Option.match(parts.sync, { onNone: () => ({}), onSome: (sync) => ({ sync: syncOf(sync) }) }),
    ...Option.match(parts.catchUp, { onNone: () => ({}), onSome: (catchUp) => ({ catch_up: catchUpOf(catchUp) }) }),
    ...Option.match(parts.recovery, { onNone: () => ({}), onSome: (recovery) => ({ recovery: recoveryOf(recovery) }) }),
    ...Option.match(parts.clock, {
      onNone: () => ({}),
      onSome: ({ status, aheadMs }) => ({ clock: { status, ahead_ms: aheadMs } }),
    }),
  },
})

const syncOf = (sync: Option.Option.Value<Report["sync"]>) => ({
  status: sync.status,
  epoch: sync.epoch,
  records: sync.records,
  percent: sync.percent,
  records_per_second: sync.recordsPerSecond,
  eta_seconds: sync.etaSeconds,
})

const catchUpOf = (catchUp: Option.Option.Value<Report["catchUp"]>) => ({
  status: catchUp.status,
  epoch: catchUp.epoch,
  round: catchUp.round,
  reached_round: catchUp.reachedRound,
  percent: catchUp.percent,
  rounds_per_second: catchUp.roundsPerSecond,
  eta_seconds: catchUp.etaSeconds,
})

const recoveryOf = (recovery: Option.Option.Value<Report["recovery"]>) => ({
  status: recovery.status,
  following: recovery.following,
  signing: recovery.signing,
  waits_for: recovery.waitsFor,
  signs_in_seconds: recovery.signsInSeconds,
})

/** The amount and the recipient of a transaction, if its type has them. */
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
  peers: connected.map(({ id, address, direction, agent, latencyMs, connectedSince }) => ({
    id,
    address,
    direction,
    agent,
    latency_ms: latencyMs,
    connected_since: connectedSince,
  })),
  bootstrap_nodes: bootstrap.map(({ address, isConnected }) => ({ address, connected: isConnected })),
})

const networkOf = (
  genesis: Genesis.Genesis,
  hash: ReturnType<typeof Genesis.hash>,
  version: string,
  parameters: Parameters.Parameters,
): typeof Api.NetworkInfo.Type => {
  const { networkId, mode, protocol, faucet } = genesis
  return {
    network_id: networkId,
    genesis_hash: hash,
    mode,
    address_prefix: Network.addressPrefix(mode),
    version,
    parameters: {
      ...Parameters.toJson(parameters),
      round_interval_ms: protocol.roundIntervalMs,
      epoch_rounds: protocol.epochRounds,
      collection_depth_rounds: protocol.collectionDepthRounds,
      round_reward: protocol.roundReward,
      halving_rounds: protocol.halvingRounds,
      default_commission_percent: protocol.defaultCommissionPercent,
      min_stake_sats: Sats.MIN_STAKE_SATS,
      faucet_max_sats: faucet === null ? null : faucet.maxRequest,
    },
  }
}

const KEYGEN_WARNING = "testnet only: this key travelled in plain text; never use it for anything of value"

export const handlers = Effect.gen(function* () {
  const { genesis } = yield* Home
  const { version } = yield* Configuration
  const { view, revision } = yield* Engine
  const [mempool, metrics, health, peers] = yield* Effect.all([Mempool, Metrics, Health, Peers])
  const faucet = yield* Faucet.make
  const account = yield* AccountReference.resolver
  const prefix = Network.addressPrefix(genesis.mode)
  const genesisHash = Genesis.hash(genesis)

  const handlers: Handlers.Of<"core"> = {
    status: () => Effect.succeed(Answer.atVersion(revision, () => statusOf(metrics.figures()))),
    balance: ({ path }) => {
      const found = account("address", path.address)
      if (Either.isLeft(found)) return Effect.fail(found.left)
      const address = found.right
      return Effect.succeed(
        Answer.atVersion(revision, () =>
          balanceOf(address, prefix, view.read.account(address), view.pool.nextNonce(address)),
        ),
      )
    },
    policy: ({ path }) =>
      Either.flatMap(account("address", path.address), (address) => {
        const { policy } = view.read.account(address)
        return policy === null
          ? Either.left(
              new Failure.PolicyNotFound({ message: `${address} has no policy: its own key alone signs for it` }),
            )
          : Either.right({ address, ...policy })
      }),
    health: () => Effect.succeed({ status: "ok" }),
    healthReport: () => Effect.map(health.report, reportOf),
    keygen: () =>
      Effect.sync(() => {
        const key = Keys.SecretKey.generate()
        const address = Address.toBech32(Address.fromPublicKey(key.publicKey), prefix)
        return { address, secret_key: key, warning: KEYGEN_WARNING }
      }),
    faucet: ({ body }) => Effect.flatMap(account("address", body.address), (to) => faucet(to, body.amount)),
    mempool: () => Effect.succeed(Answer.atVersion(revision, () => mempool.top(MEMPOOL_SHOWN).map(pendingOf))),
    peers: () => Effect.map(peers.known, peersOf),
    network: () =>
      Effect.succeed(
        Answer.atVersion(
          () => view.read.head.index,
          () => networkOf(genesis, genesisHash, version, view.read.parameters),
        ),
      ),
  }
  return handlers
})
