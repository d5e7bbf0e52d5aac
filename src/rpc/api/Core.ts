import { OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Rules from "../../edge/definition/Rules.js"
import * as Group from "../../effect3/http/Group.js"
import * as Protocol from "../../protocol/epoch/Protocol.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as Network from "../../protocol/identity/Network.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import { TransactionJson } from "../../protocol/transaction/TransactionJson.js"
import * as Access from "./Access.js"
import * as Failure from "./Failure.js"
import * as Field from "./Field.js"

const { example } = Field

const Versions = Schema.Struct({
  program: Field.text("version of the program"),
  protocol: Field.count("newest version of the rules that it knows"),
  wire: Field.count("version of the messages between nodes"),
  database: Field.count("version of the database"),
}).annotations({ description: "the node's versions; missing from nodes of other implementations" })

export const NodeStatus = Field.record(
  "NodeStatus",
  "the node's current state",
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
    versions: Schema.optional(Versions),
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
    versions: { program: "0.1.0", protocol: 3, wire: 3, database: 7 },
  },
)

export const Balance = Field.record(
  "Balance",
  "an account; all zeros if it has never been used",
  Schema.Struct({
    address: Field.address("the account in hex"),
    address_bech32: Field.text("the account in bech32m"),
    balance: Field.sats("spendable balance"),
    balance_coin: Field.coin("balance in coins"),
    nonce: Field.nonce("next nonce in finalized state: the number of the account's transactions that had an effect"),
    staked: Field.sats("own stake; below MIN_STAKE_SATS (200,000,000,000) it does not count as staked"),
    staked_coin: Field.coin("staked in coins"),
    is_council_member: Field.boolean("has a seat in the council"),
    is_smart_account: Field.boolean("its keys and threshold are set by a SetAccountPolicyTx"),
    next_nonce: Field.nonce("nonce for the next transaction, after the pending ones"),
    name: Field.textOrNull("registered name without the @"),
    exists: Field.boolean("has an account in finalized state; if not, a transfer to it costs account_fee_sats more"),
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
    exists: true,
  },
)

export const Policy = Field.record(
  "Policy",
  "the keys that sign for a smart account",
  Schema.Struct({
    address: Field.address("the account in hex"),
    threshold: Field.count("how many of the keys must sign"),
    keys: Field.of(
      Schema.Array(Keys.PublicKey),
      "the public keys that may sign, in the order of the SetAccountPolicyTx",
    ),
  }),
  { address: example.address, threshold: 1, keys: [example.publicKey] },
)

export const Health = Field.record(
  "Health",
  "the node runs",
  Schema.Struct({ status: Field.of(Schema.Literal("ok"), "always ok: a stopped node does not answer") }),
  { status: "ok" },
)

export const Ready = Field.record(
  "Ready",
  "the node follows the network and accepts transactions",
  Schema.Struct({ status: Field.of(Schema.Literal("ready"), "always ready: a node that is not ready answers 503") }),
  { status: "ready" },
)

const Status = Schema.Literal("healthy", "degraded", "warning", "unhealthy").annotations({
  identifier: "HealthLevel",
  description: "from best to worst: healthy, degraded (behind, waiting or restarting a part), warning, unhealthy",
})
const status = Field.of(Status, "this part's health")

const Archive = Schema.Struct({
  status,
  finalized_round: Field.round("last finalized round in the archive"),
  lag: Field.count("finalized rounds that the archive lacks"),
}).annotations({ description: "only at a gateway" })

const FastSync = Schema.Struct({
  status,
  epoch: Field.count("the epoch whose closing state is fetched"),
  records: Field.count("records downloaded so far"),
  percent: Field.count("percentage of the whole state"),
  records_per_second: Field.count("how fast they come"),
  eta_seconds: Field.of(Schema.NullOr(Schema.Number), "estimated time until done; null until it can be estimated"),
}).annotations({ description: "only while a new or long-absent node downloads the state" })

const CatchUp = Schema.Struct({
  status,
  epoch: Field.count("the running epoch, as far as this node knows"),
  round: Field.round("highest round for which it has a quorum of vertices"),
  reached_round: Field.round("the round that a quorum has reached"),
  percent: Field.count("percentage of the rounds that were missing at the start"),
  rounds_per_second: Field.count("how fast they come"),
  eta_seconds: Field.of(Schema.NullOr(Schema.Number), "estimated time until done; null until it can be estimated"),
}).annotations({ description: "only while a node fetches missing vertices" })

const Following = Schema.Literal("InStep", "Behind", "EpochOver", "Closing", "Standstill", "Joining")
const Signing = Schema.Literal("NoSeat", "Asking", "Silent", "Forgotten", "Signing")

const Recovery = Schema.Struct({
  status,
  following: Field.of(Following, "how it follows the others' rounds"),
  signing: Field.of(Signing, "whether it signs vertices"),
  waits_for: Field.of(Schema.Array(Schema.String), "what it is waiting for, one phrase each"),
  signs_in_seconds: Field.of(Schema.NullOr(Schema.Number), "seconds of silence left; null if it is not silent"),
  needs_operator: Field.boolean(
    "whether rounds are waiting for this validator, whose disk was lost: see docs/recovery.md",
  ),
}).annotations({ description: "only while the node is behind, joining, or not signing" })

const WrongClock = Schema.Struct({
  status,
  ahead_ms: Field.of(Schema.Number, "how far the wall clock is ahead of the committee's median; negative if behind"),
}).annotations({ description: "only while the wall clock is wrong" })

const Problem = Schema.Struct({
  component: Field.text("the part that is not healthy"),
  status: Field.of(Status, "its health"),
  reason: Field.text("the problem in words"),
  since: Field.timestamp("when it was first seen not to be healthy, by the node's clock"),
  page: Field.text("the page with the remedy, relative to the installation directory"),
}).annotations({ description: "the problem of a part" })

export const HealthReport = Field.record(
  "HealthReport",
  "the health of each part of the node; the overall status is the worst of them",
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
        supply: Field.sats("total supply, the same as total_supply"),
      }),
      mempool: Schema.Struct({
        status,
        size: Field.count("pending transactions"),
        capacity: Field.count("how many it can hold"),
      }),
      network: Schema.Struct({ status, peers: Field.count("connected nodes") }),
      checkpoints: Schema.Struct({ status, latest_round: Field.round("round of the latest quorum checkpoint") }),
      archive: Schema.optional(Archive),
      sync: Schema.optional(FastSync),
      catch_up: Schema.optional(CatchUp),
      recovery: Schema.optional(Recovery),
      clock: Schema.optional(WrongClock),
    }),
    problems: Field.of(Schema.Array(Problem), "one for each part that is not healthy"),
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
    problems: [],
  },
)

export const Keypair = Field.record(
  "Keypair",
  "a new key; anyone who sees this answer can spend from the address",
  Schema.Struct({
    address: Field.address("address of the key, in hex"),
    address_bech32: Field.text("address of the key, in bech32m"),
    secret_key: Field.of(Field.SecretKey, "Ed25519 secret key in plain text"),
    warning: Field.text("what not to do with it"),
  }),
  {
    address: example.address,
    address_bech32: example.addressBech32,
    secret_key: example.secretKey,
    warning: "testnet only: this key travelled in plain text; never use it for anything of value",
  },
)

export const FaucetRequest = Field.record(
  "FaucetRequest",
  "the recipient and the amount",
  Schema.Struct({
    address: Field.account("the account that receives the coins"),
    amount: Field.sats("sats, from 1 to the faucet's limit per request"),
  }),
  { address: example.addressBech32, amount: 100_000_000_000 },
)

export const FaucetResult = Field.record(
  "FaucetResult",
  "the payment, pending",
  Schema.Struct({
    tx_hash: Field.hash("the payment, for GET /tx/:hash"),
    amount: Field.sats("the exact amount that the account receives"),
    amount_coin: Field.coin("amount in coins"),
    message: Field.text("the payment in words"),
  }),
  {
    tx_hash: example.hash,
    amount: 100_000_000_000,
    amount_coin: 1000,
    message: `1000 UDG are on their way to ${example.addressBech32}`,
  },
)

export const TransactionType = Schema.Union(...TransactionJson.members.map(({ fields }) => fields.type)).annotations({
  identifier: "TransactionType",
  description: "the type of a transaction",
})

const PendingTransaction = Schema.Struct({
  hash: Field.hash("the transaction, for GET /tx/:hash"),
  type: Field.of(TransactionType, "its type"),
  from: Field.address("the sender"),
  to: Field.optional(Address.schema, "the recipient, if the type has one"),
  amount: Field.optional(Sats.schema, "the amount in sats, if the type has one"),
  fee: Field.sats("its fee"),
  nonce: Field.nonce("its place among the sender's transactions"),
  received_at: Field.timestamp("when the node received it, in milliseconds since 1970"),
})

export const PendingTransactions = Field.record(
  "PendingTransactions",
  "the 100 pending transactions with the highest fees, highest first",
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

const BeginningInUrl = Schema.String.pipe(
  Schema.pattern(/^@?[0-9a-z-]{3,64}$/, {
    message: () => "3 to 64 characters of a name, of hex digits or of an address, in lower case",
  }),
)

export const Beginning = Field.record(
  "SearchResult",
  "entries that begin with the text, at most five of each kind",
  Schema.Struct({
    names: Schema.Array(Schema.Struct({ address: Field.address("the account"), name: Field.text("without the @") })),
    accounts: Schema.Array(Address.schema),
    transactions: Schema.Array(Hash.schema).annotations({ description: "finalized" }),
    vertices: Schema.Array(Hash.schema),
  }),
  { names: [], accounts: [], transactions: [example.hash], vertices: [] },
)

const ADDRESSES = /^[0-9a-f]{40}(?:,[0-9a-f]{40}){0,99}$/

/** Comma-separated addresses in hex. */
const AddressesInUrl = Schema.String.pipe(
  Schema.filter((text) => ADDRESSES.test(text), {
    description: "in hex, with commas between them",
    jsonSchema: { type: "string", pattern: ADDRESSES.source },
    message: () => "1 to 100 addresses of 40 lower-case hex characters, with commas between them",
  }),
)

export const Names = Field.record(
  "Names",
  "the names of those addresses that have one",
  Schema.Struct({
    names: Schema.Array(Schema.Struct({ address: Field.address("the account"), name: Field.text("without the @") })),
  }),
  { names: [{ address: example.address, name: "alice" }] },
)

export const Peers = Field.record(
  "Peers",
  "the connected nodes and the configured ones",
  Schema.Struct({
    connected: Field.count("how many nodes are connected"),
    peers: Schema.Array(
      Schema.Struct({
        id: Field.text("the node's peer id"),
        address: Field.text("its address, as KEY@HOST:PORT"),
        direction: Field.of(Schema.Literal("inbound", "outbound"), "who opened the connection"),
        agent: Field.text("the program it claims to run"),
        latency_ms: Field.of(Schema.NullOr(Schema.Number), "last measured round trip; null before the first"),
        connected_since: Field.timestamp("milliseconds since 1970"),
      }),
    ),
    bootstrap_nodes: Schema.Array(
      Schema.Struct({
        address: Field.text("as given with --peer"),
        connected: Field.boolean("connected now"),
      }),
    ),
  }),
  {
    connected: 1,
    peers: [
      {
        id: "6a4c1f7d0e5b92c83d14a6f70b9e28d5c3f1a07e4b6d8290f5c7e3a1b2d4f608",
        address: "6a4c1f7d0e5b92c83d14a6f70b9e28d5c3f1a07e4b6d8290f5c7e3a1b2d4f608@203.0.113.7:9333",
        direction: "outbound",
        agent: "udg/0.1.0 (protocol 3, database 7)",
        latency_ms: 12.4,
        connected_since: example.timestamp,
      },
    ],
    bootstrap_nodes: [{ address: "203.0.113.7:9333", connected: true }],
  },
)

const NetworkParameters = Schema.extend(
  Schema.typeSchema(Parameters.Json),
  Schema.Struct({
    round_interval_ms: Field.count("milliseconds between rounds"),
    epoch_rounds: Field.count("rounds per epoch"),
    collection_depth_rounds: Field.count("how many rounds below its leader a commit still orders"),
    round_reward: Field.sats("minted per round before the first halving"),
    halving_rounds: Field.count("rounds between halvings"),
    default_commission_percent: Field.percent("commission of validators that have not set one"),
    min_stake_sats: Field.sats("minimum active stake"),
    faucet_max_sats: Field.of(
      Schema.NullOr(Sats.schema),
      "the most that the faucet pays per request; null if there is no faucet",
    ),
  }),
)

export const NetworkInfo = Field.record(
  "NetworkInfo",
  "the network and its parameters for wallets",
  Schema.Struct({
    network_id: Field.of(Network.NetworkId, "covered by every signature, which prevents replays on other networks"),
    genesis_hash: Field.hash("identity of the network"),
    mode: Field.of(Network.Mode, "testnet or mainnet"),
    address_prefix: Field.of(Schema.Literal("tudg", "udg"), "prefix of bech32m addresses"),
    version: Field.text("version of this node"),
    has_archive: Field.boolean("whether it answers queries that need an archive"),
    parameters: Field.of(NetworkParameters, "the values fixed by genesis and the current values set by governance"),
  }),
  {
    network_id: "udg-solo-0123456789abcdef",
    genesis_hash: example.hash,
    mode: "testnet",
    address_prefix: "tudg",
    version: "0.1.0",
    has_archive: false,
    parameters: {
      ...Parameters.toJson(Parameters.solo),
      ...Protocol.toJson(Protocol.standard),
      min_stake_sats: Sats.MIN_STAKE_SATS,
      faucet_max_sats: 10_000_000_000_000,
    },
  },
)

const addressPath = Schema.Struct({ address: Field.AccountText })

export const group = Group.of("core", "Core", "The node and its accounts; on a testnet also keys and free coins.", [
  Group.get("status", "/status", "The node's current state")
    .annotate(Rules.Cached, { until: "written" })
    .addSuccess(NodeStatus),
  Group.get("balance", "/balance/:address", "Balance and state of an account")
    .annotate(OpenApi.Description, "An account that has never been used has zeros. Takes hex, bech32m or @name.")
    .setPath(addressPath)
    .annotate(Rules.Cached, { until: "state" })
    .addSuccess(Balance)
    .addError(Failure.OfAccount),
  Group.get("policy", "/account/:address/policy", "The keys of a smart account")
    .annotate(OpenApi.Description, "404 for an account with a single key. Takes hex, bech32m or @name.")
    .setPath(addressPath)
    .annotate(Rules.Cached, { until: "commit" })
    .addSuccess(Policy)
    .addError(Schema.Union(Failure.OfAccount, Failure.PolicyNotFound)),
  Group.get("names", "/names", "The names of up to 100 accounts")
    .annotate(OpenApi.Description, "An account has at most one name. Accounts without one are left out.")
    .setUrlParams(Schema.Struct({ addresses: AddressesInUrl }))
    .annotate(Rules.Cached, { until: "state" })
    .addSuccess(Names)
    .addError(Failure.InvalidRequest),
  Group.get("search", "/search", "Names, accounts, transactions and vertices by prefix")
    .annotate(
      OpenApi.Description,
      "Finds names by at least three characters, with or without the @; accounts and hashes by at least four hex digits; " +
        "accounts also by the beginning of their bech32m address, at least `tudg1` and four characters.",
    )
    .setUrlParams(Schema.Struct({ prefix: BeginningInUrl }))
    .annotate(Rules.Cached, { until: "state" })
    .addSuccess(Beginning)
    .addError(Failure.InvalidRequest),
  Group.get("health", "/health", "Whether the node is running").addSuccess(Health),
  Group.get("ready", "/ready", "Whether the node follows the network and can take traffic")
    .annotate(
      OpenApi.Description,
      "For load balancers. A node that is behind, waits for a quorum or is about to end answers 503 with the reason, as does a " +
        "gateway whose archive does not answer. Do not restart a node because of it.",
    )
    .addSuccess(Ready)
    .addError(Failure.NotReady),
  Group.get("healthReport", "/health/detailed", "The health of each part of the node")
    .annotate(OpenApi.Description, "Always 200 while the node runs, whatever the health.")
    .addSuccess(HealthReport),
  Group.get("keygen", "/keygen", "A fresh key pair (testnet)")
    .annotate(Rules.RateLimit, { requests: 10, windowSeconds: 60 })
    .annotate(
      Access.TestnetOnly,
      "make keys on your own machine (udg keygen, or udg-node/wallet), then sign a Transfer or any other type with " +
        "them and send it to /tx/submit",
    )
    .addSuccess(Keypair)
    .addError(Failure.OfTestnet),
  Group.post("faucet", "/faucet", "Free coins (testnet)")
    .annotate(Rules.RateLimit, {
      requests: 1,
      windowSeconds: 600,
      hint: "pay further accounts from the first one; on a network of your own, --rate-limits off lifts all limits",
    })
    .annotate(
      Access.TestnetOnly,
      "there is no faucet on a mainnet; get coins by a Transfer from another account, sent to /tx/submit",
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
  Group.get("mempool", "/mempool", "Pending transactions, highest fee first")
    .annotate(Rules.Cached, { until: "state" })
    .addSuccess(PendingTransactions),
  Group.get("peers", "/peers", "Connected and bootstrap nodes").addSuccess(Peers),
  Group.get("network", "/network", "The network and its parameters")
    .annotate(Rules.Cached, { until: "commit" })
    .addSuccess(NetworkInfo),
])
