import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as Network from "../../protocol/identity/Network.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Access from "./Access.js"
import * as Failure from "./Failure.js"
import * as Field from "./Field.js"

const { example } = Field

export const NodeStatus = Field.record(
  "NodeStatus",
  "where the node stands",
  Schema.Struct({
    dag_round: Field.round("highest round seen in the DAG; never decreases"),
    last_finalized_round: Field.round("round of the last committed leader"),
    peers: Field.count("connected nodes"),
    total_supply: Field.sats("everything that exists: liquid, staked, delegated, treasury"),
    total_supply_coin: Field.coin("total_supply in coins"),
    total_staked: Field.sats("own stakes and delegations together"),
    active_stakers: Field.count("validators with an active stake among the 100 largest"),
    mempool_size: Field.count("pending transactions"),
    dag_vertices: Field.count("vertices that the node holds"),
  }),
  {
    dag_round: 1205,
    last_finalized_round: 1203,
    peers: 4,
    total_supply: 1_500_120_300_000_000,
    total_supply_coin: 15_001_203,
    total_staked: 10_400_000_000_000,
    active_stakers: 2,
    mempool_size: 3,
    dag_vertices: 2409,
  },
)

export const Balance = Field.record(
  "Balance",
  "an account; one that was never seen has zeros",
  Schema.Struct({
    address: Field.address("the account in hex"),
    address_bech32: Field.text("the account in bech32m"),
    balance: Field.sats("what it can spend"),
    balance_coin: Field.coin("balance in coins"),
    nonce: Field.nonce("next nonce by finalized state: how many transactions of the account had an effect"),
    staked: Field.sats("own stake; below MIN_STAKE_SATS (200,000,000,000) it does not count as staked"),
    staked_coin: Field.coin("staked in coins"),
    is_council_member: Field.boolean("has a seat in the council"),
    is_smart_account: Field.boolean("acts by several keys, set by a SetAccountPolicyTx"),
    next_nonce: Field.nonce("nonce for the next transaction, after those that are pending"),
    name: Field.textOrNull("registered name without the @"),
  }),
  {
    address: example.address,
    address_bech32: example.addressBech32,
    balance: 150_000_000_000,
    balance_coin: 1500,
    nonce: 7,
    staked: 200_000_000_000,
    staked_coin: 2000,
    is_council_member: false,
    is_smart_account: false,
    next_nonce: 8,
    name: "alice",
  },
)

export const Policy = Field.record(
  "Policy",
  "which keys sign for a smart account",
  Schema.Struct({
    address: Field.address("the account in hex"),
    threshold: Field.count("how many of the keys must sign"),
    keys: Field.of(Schema.Array(Keys.PublicKey), "the public keys that may, in the order of the SetAccountPolicyTx"),
  }),
  { address: example.address, threshold: 1, keys: [example.publicKey] },
)

export const Health = Field.record(
  "Health",
  "the node runs",
  Schema.Struct({ status: Field.of(Schema.Literal("ok"), "always ok: a node that does not run does not answer") }),
  { status: "ok" },
)

const Status = Schema.Literal("healthy", "degraded", "warning", "unhealthy").annotations({
  identifier: "HealthStatus",
  description: "healthy < degraded (cannot be read, or only in part) < warning < unhealthy",
})
const status = Field.of(Status, "how this part is")

const FastSync = Schema.Struct({
  status,
  epoch: Field.count("the epoch whose closing state is fetched"),
  records: Field.count("records of it that are here"),
  percent: Field.count("their part of the whole state"),
  records_per_second: Field.count("how fast they come"),
  eta_seconds: Field.of(Schema.NullOr(Schema.Number), "until the rest is here; null before anything can be said"),
}).annotations({ description: "only while a node that is new or was long away fetches the state" })

const CatchUp = Schema.Struct({
  status,
  epoch: Field.count("the running epoch, as far as this node knows"),
  round: Field.round("highest round of which it has a quorum of vertices"),
  reached_round: Field.round("the round that the others have reached"),
  percent: Field.count("of the rounds that were missing when it began"),
  rounds_per_second: Field.count("how fast they come"),
  eta_seconds: Field.of(Schema.NullOr(Schema.Number), "until the rest is here; null before anything can be said"),
}).annotations({ description: "only while a node that was away fetches the vertices it lacks" })

const Following = Schema.Literal("InStep", "Behind", "EpochOver", "Closing", "Standstill", "Joining")
const Signing = Schema.Literal("NoSeat", "Asking", "Silent", "Signing")

const Recovery = Schema.Struct({
  status,
  following: Field.of(Following, "where it stands in the rounds of the others"),
  signing: Field.of(Signing, "whether it signs vertices"),
  waits_for: Field.of(Schema.Array(Schema.String), "what it waits for, a sentence each"),
  signs_in_seconds: Field.of(Schema.NullOr(Schema.Number), "what is left of the silence; null where there is none"),
}).annotations({ description: "only while the node is behind, joins, or does not sign" })

const WrongClock = Schema.Struct({
  status,
  ahead_ms: Field.of(Schema.Number, "of the wall clock before the committee's median; negative if it is behind"),
}).annotations({ description: "only while the wall clock is wrong" })

export const HealthReport = Field.record(
  "HealthReport",
  "how each part of the node is; the whole is as its worst part",
  Schema.Struct({
    status: Field.of(Status, "the worst of the components"),
    components: Schema.Struct({
      dag: Schema.Struct({
        status,
        round: Field.round("highest round"),
        vertices: Field.count("vertices held"),
      }),
      finality: Schema.Struct({
        status,
        finalized_round: Field.round("last finalized round"),
        lag: Field.count("rounds between the highest and the last finalized"),
      }),
      state: Schema.Struct({
        status,
        accounts: Field.count("accounts with a record"),
        total_supply: Field.sats("total supply"),
        supply: Field.sats("total supply under its second name"),
      }),
      mempool: Schema.Struct({
        status,
        size: Field.count("pending transactions"),
        capacity: Field.count("how many it can hold"),
      }),
      network: Schema.Struct({ status, peers: Field.count("connected nodes") }),
      checkpoints: Schema.Struct({ status, latest_round: Field.round("round of the latest quorum checkpoint") }),
      sync: Schema.optional(FastSync),
      catch_up: Schema.optional(CatchUp),
      recovery: Schema.optional(Recovery),
      clock: Schema.optional(WrongClock),
    }),
  }),
  {
    status: "healthy",
    components: {
      dag: { status: "healthy", round: 1205, vertices: 2409 },
      finality: { status: "healthy", finalized_round: 1203, lag: 2 },
      state: {
        status: "healthy",
        accounts: 42,
        total_supply: 1_500_120_300_000_000,
        supply: 1_500_120_300_000_000,
      },
      mempool: { status: "healthy", size: 3, capacity: 10_000 },
      network: { status: "healthy", peers: 4 },
      checkpoints: { status: "healthy", latest_round: 1200 },
    },
  },
)

export const Keypair = Field.record(
  "Keypair",
  "a fresh key; whoever sees this answer can spend from the address",
  Schema.Struct({
    address: Field.text("address of the key, in bech32m"),
    secret_key: Field.of(Field.SecretKey, "Ed25519 secret key in plain text"),
    warning: Field.text("what not to do with it"),
  }),
  {
    address: example.addressBech32,
    secret_key: example.secretKey,
    warning: "testnet only: this key travelled in plain text; never use it for anything of value",
  },
)

export const FaucetRequest = Field.record(
  "FaucetRequest",
  "who gets how much",
  Schema.Struct({
    address: Field.account("the account that gets the coins"),
    amount: Field.sats("sats, at least 1 and at most what the network's faucet gives at once"),
  }),
  { address: example.addressBech32, amount: 100_000_000_000 },
)

export const FaucetResult = Field.record(
  "FaucetResult",
  "the payment, pending",
  Schema.Struct({
    tx_hash: Field.hash("the payment, for GET /tx/:hash"),
    amount: Field.sats("what the account gets, exactly"),
    amount_coin: Field.coin("amount in coins"),
    message: Field.text("the same in words"),
  }),
  {
    tx_hash: example.hash,
    amount: 100_000_000_000,
    amount_coin: 1000,
    message: `1000 UDG are on their way to ${example.addressBech32}`,
  },
)

export const TransactionType = Schema.Literal(
  "Transfer",
  "StakeTx",
  "UnstakeTx",
  "DelegateTx",
  "UndelegateTx",
  "SetCommissionTx",
  "CreateProposalTx",
  "VoteTx",
  "RegisterNameTx",
  "SetAccountPolicyTx",
).annotations({ identifier: "TransactionType", description: "one of the ten types" })

const PendingTransaction = Schema.Struct({
  hash: Field.hash("the transaction, for GET /tx/:hash"),
  type: Field.of(TransactionType, "what it does"),
  from: Field.address("who signed it"),
  to: Field.optional(Address.schema, "who gets the amount, where the type has a receiver"),
  amount: Field.optional(Sats.schema, "sats that it moves, where the type has an amount"),
  fee: Field.sats("what it pays"),
  nonce: Field.nonce("its place among the sender's transactions"),
  received_at: Field.timestamp("when the node got it, milliseconds since 1970"),
})

export const PendingTransactions = Field.record(
  "PendingTransactions",
  "the 100 pending transactions that pay most, highest fee first",
  Schema.Array(PendingTransaction),
  [
    {
      hash: example.hash,
      type: "Transfer",
      from: example.address,
      to: example.other,
      amount: 100_000_000,
      fee: 1000,
      nonce: 7,
      received_at: example.timestamp,
    },
  ],
)

export const Peers = Field.record(
  "Peers",
  "who the node is connected to, and whom it was told to connect to",
  Schema.Struct({
    connected: Field.count("how many nodes are connected"),
    peers: Schema.Array(
      Schema.Struct({
        id: Field.text("the node's own identity"),
        address: Field.text("where it is, as a multiaddress"),
        direction: Field.of(Schema.Literal("inbound", "outbound"), "who opened the connection"),
        agent: Field.text("what program it says it is"),
        latency_ms: Field.of(Schema.NullOr(Schema.Number), "last measured round trip; null before the first"),
        connected_since: Field.timestamp("milliseconds since 1970"),
      }),
    ),
    bootstrap_nodes: Schema.Array(
      Schema.Struct({
        address: Field.text("as it was given with --peer"),
        connected: Field.boolean("connected now"),
      }),
    ),
  }),
  {
    connected: 1,
    peers: [
      {
        id: "12D3KooWGzxzKZYveHXtpG6AsrUJBcWxHBFS2HsEoGTxrMLvKXtf",
        address: "/ip4/203.0.113.7/tcp/9333",
        direction: "outbound",
        agent: "udg/0.1.0",
        latency_ms: 12.4,
        connected_since: example.timestamp,
      },
    ],
    bootstrap_nodes: [{ address: "/ip4/203.0.113.7/tcp/9333", connected: true }],
  },
)

const NetworkParameters = Schema.extend(
  Schema.typeSchema(Parameters.Json),
  Schema.Struct({
    round_interval_ms: Field.count("milliseconds between rounds"),
    epoch_rounds: Field.count("rounds of an epoch"),
    collection_depth_rounds: Field.count("rounds below a commit that it can still order"),
    round_reward: Field.sats("minted a round before the first halving"),
    halving_rounds: Field.count("rounds between halvings"),
    default_commission_percent: Field.percent("commission of a validator that set none"),
    min_stake_sats: Field.sats("least active stake"),
    faucet_max_sats: Field.of(Schema.NullOr(Sats.schema), "most that the faucet gives at once; null without a faucet"),
  }),
)

export const NetworkInfo = Field.record(
  "NetworkInfo",
  "which network this is, and what a wallet needs to know of it",
  Schema.Struct({
    network_id: Field.of(Network.NetworkId, "what every signature covers, so nothing replays elsewhere"),
    genesis_hash: Field.hash("identity of the network"),
    mode: Field.of(Network.Mode, "testnet or mainnet"),
    address_prefix: Field.of(Schema.Literal("tudg", "udg"), "what bech32m addresses begin with"),
    version: Field.text("version of this node"),
    parameters: Field.of(NetworkParameters, "what genesis fixed and governance set, as of now"),
  }),
  {
    network_id: "udg-solo-0123456789abcdef",
    genesis_hash: example.hash,
    mode: "testnet",
    address_prefix: "tudg",
    version: "0.1.0",
    parameters: {
      ...Parameters.toJson(Parameters.standard),
      round_interval_ms: 500,
      epoch_rounds: 240,
      collection_depth_rounds: 60,
      round_reward: 10_000_000,
      halving_rounds: 105_000_000,
      default_commission_percent: 10,
      min_stake_sats: Sats.MIN_STAKE_SATS,
      faucet_max_sats: 10_000_000_000_000,
    },
  },
)

const addressPath = Schema.Struct({ address: Field.AccountText })

export const group = HttpApiGroup.make("core")
  .annotate(OpenApi.Title, "Core")
  .annotate(OpenApi.Description, "The node, its accounts, and on a testnet keys and coins to begin with.")
  .add(
    HttpApiEndpoint.get("status", "/status").annotate(OpenApi.Summary, "Where the node stands").addSuccess(NodeStatus),
  )
  .add(
    HttpApiEndpoint.get("balance", "/balance/:address")
      .annotate(OpenApi.Summary, "Balance and state of an account")
      .annotate(OpenApi.Description, "An account that was never seen has zeros. Takes hex, bech32m or @name.")
      .setPath(addressPath)
      .addSuccess(Balance)
      .addError(Failure.OfAccount),
  )
  .add(
    HttpApiEndpoint.get("policy", "/account/:address/policy")
      .annotate(OpenApi.Summary, "Who signs for a smart account")
      .annotate(OpenApi.Description, "404 for an account whose own key alone signs. Takes hex, bech32m or @name.")
      .setPath(addressPath)
      .addSuccess(Policy)
      .addError(Schema.Union(Failure.OfAccount, Failure.PolicyNotFound)),
  )
  .add(HttpApiEndpoint.get("health", "/health").annotate(OpenApi.Summary, "Whether the node runs").addSuccess(Health))
  .add(
    HttpApiEndpoint.get("healthReport", "/health/detailed")
      .annotate(OpenApi.Summary, "How each part of the node is")
      .annotate(OpenApi.Description, "Answered with 200 while the node runs, whatever the report says.")
      .addSuccess(HealthReport),
  )
  .add(
    HttpApiEndpoint.get("keygen", "/keygen")
      .annotate(OpenApi.Summary, "A fresh key pair (testnet)")
      .annotate(Access.RateLimit, { requests: 10, windowSeconds: 60 })
      .annotate(
        Access.TestnetOnly,
        "make keys on your own machine (udg keygen, or udg-node/wallet), then sign a Transfer or any other type with " +
          "them and send it to /tx/submit",
      )
      .addSuccess(Keypair)
      .addError(Failure.OfTestnet),
  )
  .add(
    HttpApiEndpoint.post("faucet", "/faucet")
      .annotate(OpenApi.Summary, "Free coins (testnet)")
      .annotate(Access.RateLimit, {
        requests: 1,
        windowSeconds: 600,
        hint: "on a network of your own, start the node with --rate-limits off",
      })
      .annotate(
        Access.TestnetOnly,
        "there is no faucet on a mainnet; coins come from whoever has some, by a Transfer sent to /tx/submit",
      )
      .setPayload(FaucetRequest)
      .addSuccess(FaucetResult)
      .addError(
        Schema.Union(
          Failure.OfBody,
          Failure.NameNotFound,
          Failure.OfTestnet,
          Failure.FaucetUnavailable,
          Failure.MempoolFull,
          Failure.NotReady,
        ),
      ),
  )
  .add(
    HttpApiEndpoint.get("mempool", "/mempool")
      .annotate(OpenApi.Summary, "Pending transactions, highest fee first")
      .addSuccess(PendingTransactions),
  )
  .add(
    HttpApiEndpoint.get("peers", "/peers").annotate(OpenApi.Summary, "Connected and bootstrap nodes").addSuccess(Peers),
  )
  .add(
    HttpApiEndpoint.get("network", "/network")
      .annotate(OpenApi.Summary, "Which network this is, and its parameters")
      .addSuccess(NetworkInfo),
  )
