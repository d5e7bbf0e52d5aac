/** Written by scripts/client.ts from the definition of the HTTP interface: `npm run client`. */
import type * as Kinds from "../../protocol/numbers/Kinds.js"

/** The node's current state. */
export interface NodeStatus {
  /** Highest round seen in the DAG; never decreases. */
  readonly dag_round: Kinds.Round
  /** Round of the last committed leader. */
  readonly last_finalized_round: Kinds.Round
  /** Connected nodes. */
  readonly peers: number
  /** Everything that exists: liquid, staked, delegated, treasury. */
  readonly total_supply: Kinds.Sats
  /** total_supply in coins. */
  readonly total_supply_coin: number
  /** Own stakes and delegations together. */
  readonly total_staked: Kinds.Sats
  /** Validators with an active stake among the 100 largest. */
  readonly active_stakers: number
  /** Pending transactions. */
  readonly mempool_size: number
  /** Vertices that the node holds. */
  readonly dag_vertices: number
  readonly versions?: {
    /** Version of the program. */
    readonly program: string
    /** Newest version of the rules that it knows. */
    readonly protocol: number
    /** Version of the messages between nodes. */
    readonly wire: number
    /** Version of the database. */
    readonly database: number
  } | undefined
}

/** An account; all zeros if it has never been used. */
export interface Balance {
  /** The account in hex. */
  readonly address: Kinds.Address
  /** The account in bech32m. */
  readonly address_bech32: string
  /** Spendable balance. */
  readonly balance: Kinds.Sats
  /** Balance in coins. */
  readonly balance_coin: number
  /** Next nonce in finalized state: the number of the account's transactions that had an effect. */
  readonly nonce: Kinds.Nonce
  /** Own stake; below MIN_STAKE_SATS (200,000,000,000) it does not count as staked. */
  readonly staked: Kinds.Sats
  /** Staked in coins. */
  readonly staked_coin: number
  /** Has a seat in the council. */
  readonly is_council_member: boolean
  /** Its keys and threshold are set by a SetAccountPolicyTx. */
  readonly is_smart_account: boolean
  /** Nonce for the next transaction, after the pending ones. */
  readonly next_nonce: Kinds.Nonce
  /** Registered name without the @. */
  readonly name: string | null
  /** Has an account in finalized state; if not, a transfer to it costs account_fee_sats more. */
  readonly exists: boolean
}

/** The keys that sign for a smart account. */
export interface Policy {
  /** The account in hex. */
  readonly address: Kinds.Address
  /** How many of the keys must sign. */
  readonly threshold: number
  /** The public keys that may sign, in the order of the SetAccountPolicyTx. */
  readonly keys: ReadonlyArray<Kinds.PublicKey>
}

/** The names of those addresses that have one. */
export interface Names {
  readonly names: ReadonlyArray<{
    /** The account. */
    readonly address: Kinds.Address
    /** Without the @. */
    readonly name: string
  }>
}

/** Entries that begin with the text, at most five of each kind. */
export interface SearchResult {
  readonly names: ReadonlyArray<{
    /** The account. */
    readonly address: Kinds.Address
    /** Without the @. */
    readonly name: string
  }>
  readonly accounts: ReadonlyArray<Kinds.Address>
  readonly transactions: ReadonlyArray<Kinds.Hash>
  readonly vertices: ReadonlyArray<Kinds.Hash>
}

/** The node runs. */
export interface Health {
  /** Always ok: a stopped node does not answer. */
  readonly status: "ok"
}

/** The node follows the network and accepts transactions. */
export interface Ready {
  /** Always ready: a node that is not ready answers 503. */
  readonly status: "ready"
}

/** From best to worst: healthy, degraded (behind, waiting or restarting a part), warning, unhealthy. */
export type HealthLevel = "healthy" | "degraded" | "warning" | "unhealthy"

/** The health of each part of the node; the overall status is the worst of them. */
export interface HealthReport {
  /** The worst of the components. */
  readonly status: HealthLevel
  readonly components: {
    readonly dag: {
      /** This part's health. */
      readonly status: HealthLevel
      /** Highest round. */
      readonly round: Kinds.Round
      /** Vertices held. */
      readonly vertices: number
    }
    readonly finality: {
      /** This part's health. */
      readonly status: HealthLevel
      /** Last finalized round. */
      readonly finalized_round: Kinds.Round
      /** Rounds between the highest and the last finalized. */
      readonly lag: number
    }
    readonly state: {
      /** This part's health. */
      readonly status: HealthLevel
      /** Accounts with a record. */
      readonly accounts: number
      /** Total supply. */
      readonly total_supply: Kinds.Sats
      /** Total supply, the same as total_supply. */
      readonly supply: Kinds.Sats
    }
    readonly mempool: {
      /** This part's health. */
      readonly status: HealthLevel
      /** Pending transactions. */
      readonly size: number
      /** How many it can hold. */
      readonly capacity: number
    }
    readonly network: {
      /** This part's health. */
      readonly status: HealthLevel
      /** Connected nodes. */
      readonly peers: number
    }
    readonly checkpoints: {
      /** This part's health. */
      readonly status: HealthLevel
      /** Round of the latest quorum checkpoint. */
      readonly latest_round: Kinds.Round
    }
    readonly archive?: {
      /** This part's health. */
      readonly status: HealthLevel
      /** Last finalized round in the archive. */
      readonly finalized_round: Kinds.Round
      /** Finalized rounds that the archive lacks. */
      readonly lag: number
    } | undefined
    readonly sync?: {
      /** This part's health. */
      readonly status: HealthLevel
      /** The epoch whose closing state is fetched. */
      readonly epoch: number
      /** Records downloaded so far. */
      readonly records: number
      /** Percentage of the whole state. */
      readonly percent: number
      /** How fast they come. */
      readonly records_per_second: number
      /** Estimated time until done; null until it can be estimated. */
      readonly eta_seconds: number | null
    } | undefined
    readonly catch_up?: {
      /** This part's health. */
      readonly status: HealthLevel
      /** The running epoch, as far as this node knows. */
      readonly epoch: number
      /** Highest round for which it has a quorum of vertices. */
      readonly round: Kinds.Round
      /** The round that a quorum has reached. */
      readonly reached_round: Kinds.Round
      /** Percentage of the rounds that were missing at the start. */
      readonly percent: number
      /** How fast they come. */
      readonly rounds_per_second: number
      /** Estimated time until done; null until it can be estimated. */
      readonly eta_seconds: number | null
    } | undefined
    readonly recovery?: {
      /** This part's health. */
      readonly status: HealthLevel
      /** How it follows the others' rounds. */
      readonly following: "InStep" | "Behind" | "EpochOver" | "Closing" | "Standstill" | "Joining"
      /** Whether it signs vertices. */
      readonly signing: "NoSeat" | "Asking" | "Silent" | "Forgotten" | "Signing"
      /** What it is waiting for, one phrase each. */
      readonly waits_for: ReadonlyArray<string>
      /** Seconds of silence left; null if it is not silent. */
      readonly signs_in_seconds: number | null
      /** Whether rounds are waiting for this validator, whose disk was lost: see docs/recovery.md. */
      readonly needs_operator: boolean
    } | undefined
    readonly clock?: {
      /** This part's health. */
      readonly status: HealthLevel
      /** How far the wall clock is ahead of the committee's median; negative if behind. */
      readonly ahead_ms: number
    } | undefined
  }
  /** One for each part that is not healthy. */
  readonly problems: ReadonlyArray<{
    /** The part that is not healthy. */
    readonly component: string
    /** Its health. */
    readonly status: HealthLevel
    /** The problem in words. */
    readonly reason: string
    /** When it was first seen not to be healthy, by the node's clock. */
    readonly since: Kinds.Timestamp
    /** The page with the remedy, relative to the installation directory. */
    readonly page: string
  }>
}

/** A new key; anyone who sees this answer can spend from the address. */
export interface Keypair {
  /** Address of the key, in hex. */
  readonly address: Kinds.Address
  /** Address of the key, in bech32m. */
  readonly address_bech32: string
  /** Ed25519 secret key in plain text. */
  readonly secret_key: Kinds.SecretKey
  /** What not to do with it. */
  readonly warning: string
}

/** The payment, pending. */
export interface FaucetResult {
  /** The payment, for GET /tx/:hash. */
  readonly tx_hash: Kinds.Hash
  /** The exact amount that the account receives. */
  readonly amount: Kinds.Sats
  /** Amount in coins. */
  readonly amount_coin: number
  /** The payment in words. */
  readonly message: string
}

/** The recipient and the amount. */
export interface FaucetRequest {
  /** The account that receives the coins. */
  readonly address: string
  /** Sats, from 1 to the faucet's limit per request. */
  readonly amount: number
}

/** The type of a transaction. */
export type TransactionType = "Transfer" | "StakeTx" | "UnstakeTx" | "DelegateTx" | "UndelegateTx" | "SetCommissionTx" | "CreateProposalTx" | "VoteTx" | "RegisterNameTx" | "SetAccountPolicyTx" | "RotateKeyTx"

/** The 100 pending transactions with the highest fees, highest first. */
export type PendingTransactions = ReadonlyArray<{
  /** The transaction, for GET /tx/:hash. */
  readonly hash: Kinds.Hash
  /** Its type. */
  readonly type: TransactionType
  /** The sender. */
  readonly from: Kinds.Address
  /** The recipient, if the type has one. */
  readonly to?: Kinds.Address
  /** The amount in sats, if the type has one. */
  readonly amount?: Kinds.Sats
  /** Its fee. */
  readonly fee: Kinds.Sats
  /** Its place among the sender's transactions. */
  readonly nonce: Kinds.Nonce
  /** When the node received it, in milliseconds since 1970. */
  readonly received_at: Kinds.Timestamp
}>

/** The connected nodes and the configured ones. */
export interface Peers {
  /** How many nodes are connected. */
  readonly connected: number
  readonly peers: ReadonlyArray<{
    /** The node's peer id. */
    readonly id: string
    /** Its address, as KEY@HOST:PORT. */
    readonly address: string
    /** Who opened the connection. */
    readonly direction: "inbound" | "outbound"
    /** The program it claims to run. */
    readonly agent: string
    /** Last measured round trip; null before the first. */
    readonly latency_ms: number | null
    /** Milliseconds since 1970. */
    readonly connected_since: Kinds.Timestamp
  }>
  readonly bootstrap_nodes: ReadonlyArray<{
    /** As given with --peer. */
    readonly address: string
    /** Connected now. */
    readonly connected: boolean
  }>
}

/** The network and its parameters for wallets. */
export interface NetworkInfo {
  /** Covered by every signature, which prevents replays on other networks. */
  readonly network_id: Kinds.NetworkId
  /** Identity of the network. */
  readonly genesis_hash: Kinds.Hash
  /** Testnet or mainnet. */
  readonly mode: "testnet" | "mainnet"
  /** Prefix of bech32m addresses. */
  readonly address_prefix: "tudg" | "udg"
  /** Version of this node. */
  readonly version: string
  /** Whether it answers queries that need an archive. */
  readonly has_archive: boolean
  /** The values fixed by genesis and the current values set by governance. */
  readonly parameters: {
    readonly min_fee_sats: number
    readonly name_fee_sats: number
    readonly min_delegation_sats: number
    readonly min_stake_to_propose_sats: number
    readonly cooldown_rounds: number
    readonly voting_period_rounds: number
    readonly execution_delay_rounds: number
    readonly quorum_percent: number
    readonly approval_percent: number
    readonly max_active_proposals: number
    readonly treasury_percent: number
    readonly council_percent: number
    readonly slash_percent: number
    readonly checkpoint_interval_rounds: number
    readonly proposal_bond_sats: number
    readonly max_active_per_proposer: number
    readonly account_fee_sats: number
    /** Milliseconds between rounds. */
    readonly round_interval_ms: number
    /** Rounds per epoch. */
    readonly epoch_rounds: number
    /** How many rounds below its leader a commit still orders. */
    readonly collection_depth_rounds: number
    /** Minted per round before the first halving. */
    readonly round_reward: Kinds.Sats
    /** Rounds between halvings. */
    readonly halving_rounds: number
    /** Commission of validators that have not set one. */
    readonly default_commission_percent: number
    /** Minimum active stake. */
    readonly min_stake_sats: Kinds.Sats
    /** The most that the faucet pays per request; null if there is no faucet. */
    readonly faucet_max_sats: Kinds.Sats | null
  }
}

/** An accepted transaction. */
export interface Accepted {
  /** The transaction, for GET /tx/:hash. */
  readonly tx_hash: Kinds.Hash
  /** It is in the mempool. */
  readonly status: "accepted"
  /** The nonce it uses. */
  readonly nonce: Kinds.Nonce
}

/** A transfer that the node signs. */
export interface TransferRequest {
  /** Secret key of the account that acts, 64 hex characters. */
  readonly secret_key: Kinds.SecretKey | string
  /** The recipient. */
  readonly to: string
  /** Sats, at least 1. */
  readonly amount: number
  /** Sats, at least the network's min_fee_sats. */
  readonly fee: number
  /** Text for the recipient, at most 256 bytes in UTF-8. */
  readonly memo?: string
}

export interface AcceptedAnswer {
  readonly status_code: 200
  /** The transaction, for GET /tx/:hash. */
  readonly tx_hash: Kinds.Hash
  /** It is in the mempool. */
  readonly status: "accepted"
  /** The nonce it uses. */
  readonly nonce: Kinds.Nonce
}

export type RefusedAnswer = {
  /** The transaction's status if submitted alone. */
  readonly status_code: number
  /** As in any error. */
  readonly code: string
  /** As in any error. */
  readonly error: string
  readonly [name: string]: unknown
}

/** The answer for one transaction of an array, as if submitted alone. */
export type SubmissionAnswer = AcceptedAnswer | RefusedAnswer

/** One answer for each transaction, in their order. */
export type SubmissionAnswers = ReadonlyArray<SubmissionAnswer>

export interface KeySignature {
  readonly pub_key: Kinds.PublicKey
  readonly signature: Kinds.Signature
}

export interface Transfer {
  readonly type: "Transfer"
  readonly from: string
  readonly nonce: Kinds.Nonce
  readonly pub_key?: Kinds.PublicKey
  readonly signature?: Kinds.Signature
  readonly signatures?: ReadonlyArray<KeySignature>
  readonly to: string
  readonly amount: Kinds.Sats
  readonly memo?: string
  readonly fee: Kinds.Sats
}

export interface StakeTx {
  readonly type: "StakeTx"
  readonly from: string
  readonly nonce: Kinds.Nonce
  readonly pub_key?: Kinds.PublicKey
  readonly signature?: Kinds.Signature
  readonly signatures?: ReadonlyArray<KeySignature>
  readonly amount: Kinds.Sats
  readonly fee?: Kinds.Sats
}

export interface UnstakeTx {
  readonly type: "UnstakeTx"
  readonly from: string
  readonly nonce: Kinds.Nonce
  readonly pub_key?: Kinds.PublicKey
  readonly signature?: Kinds.Signature
  readonly signatures?: ReadonlyArray<KeySignature>
  readonly fee?: Kinds.Sats
}

export interface DelegateTx {
  readonly type: "DelegateTx"
  readonly from: string
  readonly nonce: Kinds.Nonce
  readonly pub_key?: Kinds.PublicKey
  readonly signature?: Kinds.Signature
  readonly signatures?: ReadonlyArray<KeySignature>
  readonly validator: string
  readonly amount: Kinds.Sats
  readonly fee?: Kinds.Sats
}

export interface UndelegateTx {
  readonly type: "UndelegateTx"
  readonly from: string
  readonly nonce: Kinds.Nonce
  readonly pub_key?: Kinds.PublicKey
  readonly signature?: Kinds.Signature
  readonly signatures?: ReadonlyArray<KeySignature>
  readonly fee?: Kinds.Sats
}

export interface SetCommissionTx {
  readonly type: "SetCommissionTx"
  readonly from: string
  readonly nonce: Kinds.Nonce
  readonly pub_key?: Kinds.PublicKey
  readonly signature?: Kinds.Signature
  readonly signatures?: ReadonlyArray<KeySignature>
  readonly commission_percent: number
  readonly fee?: Kinds.Sats
}

export interface TextProposal {
  readonly Text: Readonly<Record<never, never>>
}

export interface ParameterChangeProposal {
  readonly ParameterChange: {
    readonly param: string
    readonly value: number
  }
}

export interface CouncilMembershipProposal {
  readonly CouncilMembership: {
    readonly action: "add" | "remove"
    readonly address: string
  }
}

export interface TreasurySpendProposal {
  readonly TreasurySpend: {
    readonly recipient: string
    readonly amount: Kinds.Sats
  }
}

export type ProposalType = TextProposal | ParameterChangeProposal | CouncilMembershipProposal | TreasurySpendProposal

export interface CreateProposalTx {
  readonly type: "CreateProposalTx"
  readonly from: string
  readonly nonce: Kinds.Nonce
  readonly pub_key?: Kinds.PublicKey
  readonly signature?: Kinds.Signature
  readonly signatures?: ReadonlyArray<KeySignature>
  readonly title: string
  readonly description: string
  readonly proposal_type: ProposalType
  readonly fee: Kinds.Sats
}

export interface VoteTx {
  readonly type: "VoteTx"
  readonly from: string
  readonly nonce: Kinds.Nonce
  readonly pub_key?: Kinds.PublicKey
  readonly signature?: Kinds.Signature
  readonly signatures?: ReadonlyArray<KeySignature>
  readonly proposal_id: Kinds.ProposalId
  readonly vote: boolean
  readonly fee: Kinds.Sats
}

export interface RegisterNameTx {
  readonly type: "RegisterNameTx"
  readonly from: string
  readonly nonce: Kinds.Nonce
  readonly pub_key?: Kinds.PublicKey
  readonly signature?: Kinds.Signature
  readonly signatures?: ReadonlyArray<KeySignature>
  readonly name: Kinds.Name
  readonly fee: Kinds.Sats
}

export interface SetAccountPolicyTx {
  readonly type: "SetAccountPolicyTx"
  readonly from: string
  readonly nonce: Kinds.Nonce
  readonly pub_key?: Kinds.PublicKey
  readonly signature?: Kinds.Signature
  readonly signatures?: ReadonlyArray<KeySignature>
  readonly threshold: number
  readonly keys: ReadonlyArray<Kinds.PublicKey>
  readonly fee: Kinds.Sats
}

export interface RotateKeyTx {
  readonly type: "RotateKeyTx"
  readonly from: string
  readonly nonce: Kinds.Nonce
  readonly pub_key?: Kinds.PublicKey
  readonly signature?: Kinds.Signature
  readonly signatures?: ReadonlyArray<KeySignature>
  readonly validator_key: Kinds.PublicKey
  readonly proof: Kinds.Signature
  readonly fee: Kinds.Sats
}

export interface KeySignatureInput {
  readonly pub_key: string
  readonly signature: string
}

export interface TransferInput {
  readonly type: "Transfer"
  readonly from: string
  readonly nonce: number
  readonly pub_key?: string
  readonly signature?: string
  readonly signatures?: ReadonlyArray<KeySignatureInput>
  readonly to: string
  readonly amount: number
  readonly memo?: string
  readonly fee: number
}

export interface StakeTxInput {
  readonly type: "StakeTx"
  readonly from: string
  readonly nonce: number
  readonly pub_key?: string
  readonly signature?: string
  readonly signatures?: ReadonlyArray<KeySignatureInput>
  readonly amount: number
  readonly fee?: number
}

export interface UnstakeTxInput {
  readonly type: "UnstakeTx"
  readonly from: string
  readonly nonce: number
  readonly pub_key?: string
  readonly signature?: string
  readonly signatures?: ReadonlyArray<KeySignatureInput>
  readonly fee?: number
}

export interface DelegateTxInput {
  readonly type: "DelegateTx"
  readonly from: string
  readonly nonce: number
  readonly pub_key?: string
  readonly signature?: string
  readonly signatures?: ReadonlyArray<KeySignatureInput>
  readonly validator: string
  readonly amount: number
  readonly fee?: number
}

export interface UndelegateTxInput {
  readonly type: "UndelegateTx"
  readonly from: string
  readonly nonce: number
  readonly pub_key?: string
  readonly signature?: string
  readonly signatures?: ReadonlyArray<KeySignatureInput>
  readonly fee?: number
}

export interface SetCommissionTxInput {
  readonly type: "SetCommissionTx"
  readonly from: string
  readonly nonce: number
  readonly pub_key?: string
  readonly signature?: string
  readonly signatures?: ReadonlyArray<KeySignatureInput>
  readonly commission_percent: number
  readonly fee?: number
}

export interface TreasurySpendProposalInput {
  readonly TreasurySpend: {
    readonly recipient: string
    readonly amount: number
  }
}

export type ProposalTypeInput = TextProposal | ParameterChangeProposal | CouncilMembershipProposal | TreasurySpendProposalInput

export interface CreateProposalTxInput {
  readonly type: "CreateProposalTx"
  readonly from: string
  readonly nonce: number
  readonly pub_key?: string
  readonly signature?: string
  readonly signatures?: ReadonlyArray<KeySignatureInput>
  readonly title: string
  readonly description: string
  readonly proposal_type: ProposalTypeInput
  readonly fee: number
}

export interface VoteTxInput {
  readonly type: "VoteTx"
  readonly from: string
  readonly nonce: number
  readonly pub_key?: string
  readonly signature?: string
  readonly signatures?: ReadonlyArray<KeySignatureInput>
  readonly proposal_id: number
  readonly vote: boolean
  readonly fee: number
}

export interface RegisterNameTxInput {
  readonly type: "RegisterNameTx"
  readonly from: string
  readonly nonce: number
  readonly pub_key?: string
  readonly signature?: string
  readonly signatures?: ReadonlyArray<KeySignatureInput>
  readonly name: string
  readonly fee: number
}

export interface SetAccountPolicyTxInput {
  readonly type: "SetAccountPolicyTx"
  readonly from: string
  readonly nonce: number
  readonly pub_key?: string
  readonly signature?: string
  readonly signatures?: ReadonlyArray<KeySignatureInput>
  readonly threshold: number
  readonly keys: ReadonlyArray<string>
  readonly fee: number
}

export interface RotateKeyTxInput {
  readonly type: "RotateKeyTx"
  readonly from: string
  readonly nonce: number
  readonly pub_key?: string
  readonly signature?: string
  readonly signatures?: ReadonlyArray<KeySignatureInput>
  readonly validator_key: string
  readonly proof: string
  readonly fee: number
}

/** A signed transaction. */
export type TransactionInput = TransferInput | StakeTxInput | UnstakeTxInput | DelegateTxInput | UndelegateTxInput | SetCommissionTxInput | CreateProposalTxInput | VoteTxInput | RegisterNameTxInput | SetAccountPolicyTxInput | RotateKeyTxInput

/** A signed transaction. */
export type Transaction = Transfer | StakeTx | UnstakeTx | DelegateTx | UndelegateTx | SetCommissionTx | CreateProposalTx | VoteTx | RegisterNameTx | SetAccountPolicyTx | RotateKeyTx

/** A transaction and its outcome. */
export interface TransactionLookup {
  /** The transaction. */
  readonly hash: Kinds.Hash
  /** Finalized: on disk and reflected by every other read. */
  readonly status: "pending" | "finalized"
  /** Round of its vertex; null while pending. */
  readonly round: Kinds.Round | null
  /** Its vertex; null while pending. */
  readonly vertex_hash: Kinds.Hash | null
  /** Validator of that vertex; null while pending. */
  readonly validator: Kinds.Address | null
  /** false: only the fee was taken; null while pending. */
  readonly applied: boolean | null
  /** Why it was not applied; null otherwise. */
  readonly failure: string | null
  /** Number of the proposal it created; null otherwise. */
  readonly proposal_id: Kinds.ProposalId | null
  /** Time of the commit, milliseconds since 1970; null while pending. */
  readonly timestamp: Kinds.Timestamp | null
  /** The transaction in its canonical form. */
  readonly transaction: Transaction
}

/** Transactions of an account, newest first. */
export interface TransactionHistory {
  readonly transactions: ReadonlyArray<{
    /** The transaction. */
    readonly hash: Kinds.Hash
    /** Sent includes transfers to itself. */
    readonly direction: "sent" | "received"
    /** Finalized: on disk and reflected by every other read. */
    readonly status: "pending" | "finalized"
    /** Round of its vertex; null while pending. */
    readonly round: Kinds.Round | null
    /** Its vertex; null while pending. */
    readonly vertex_hash: Kinds.Hash | null
    /** Validator of that vertex; null while pending. */
    readonly validator: Kinds.Address | null
    /** false: only the fee was taken; null while pending. */
    readonly applied: boolean | null
    /** Why it was not applied; null otherwise. */
    readonly failure: string | null
    /** Number of the proposal it created; null otherwise. */
    readonly proposal_id: Kinds.ProposalId | null
    /** Time of the commit, milliseconds since 1970; null while pending. */
    readonly timestamp: Kinds.Timestamp | null
    /** The transaction in its canonical form. */
    readonly transaction: Transaction
  }>
  /** Pass it as ?cursor= to get the next page; null on the last page. */
  readonly next_cursor: string | null
}

/** An account's balance changes, newest first. */
export interface AccountStatement {
  /** The account. */
  readonly address: Kinds.Address
  /** Sats, as of the newest existing entry: the sum of all changes, if this node has them all. */
  readonly balance: Kinds.Sats
  readonly entries: ReadonlyArray<{
    /** Sent and received are transactions; reward, fees and council are sums over up to 10,000 commits. */
    readonly kind: "sent" | "received" | "genesis" | "reward" | "fees" | "council" | "treasury_payment" | "bond_returned" | "stake_released" | "delegation_released" | "stake_slashed" | "delegations_slashed"
    /** Change of the balance, in sats; 0 if only a stake or delegations were burned. */
    readonly change: number
    /** Sats moved or burned, without the fee. */
    readonly amount: Kinds.Sats
    /** The fee paid by the sender, in sats; null for other kinds. */
    readonly fee: Kinds.Sats | null
    /** The transaction's type; null for other kinds. */
    readonly type: TransactionType | null
    /** The transaction; null for other kinds. */
    readonly hash: Kinds.Hash | null
    /** The other account of a transaction; null if there is none. */
    readonly counterparty: Kinds.Address | null
    /** false: only the fee was taken; null for other kinds. */
    readonly applied: boolean | null
    /** The proposal behind it; null if there is none. */
    readonly proposal_id: Kinds.ProposalId | null
    /** The memo of a transfer; null if there is none. */
    readonly memo: string | null
    /** Leader round of the commit, or of the last one in a sum. */
    readonly round: Kinds.Round
    /** Time of the first commit, milliseconds since 1970. */
    readonly since: Kinds.Timestamp
    /** Time of the commit, or of the last one in a sum. */
    readonly timestamp: Kinds.Timestamp
  }>
  /** Pass it as ?cursor= to get the next page; null on the last page. */
  readonly next_cursor: string | null
}

/** Finalized transactions, newest first. */
export interface LatestTransactions {
  readonly transactions: ReadonlyArray<{
    /** The transaction. */
    readonly hash: Kinds.Hash
    /** Finalized: on disk and reflected by every other read. */
    readonly status: "pending" | "finalized"
    /** Round of its vertex; null while pending. */
    readonly round: Kinds.Round | null
    /** Its vertex; null while pending. */
    readonly vertex_hash: Kinds.Hash | null
    /** Validator of that vertex; null while pending. */
    readonly validator: Kinds.Address | null
    /** false: only the fee was taken; null while pending. */
    readonly applied: boolean | null
    /** Why it was not applied; null otherwise. */
    readonly failure: string | null
    /** Number of the proposal it created; null otherwise. */
    readonly proposal_id: Kinds.ProposalId | null
    /** Time of the commit, milliseconds since 1970; null while pending. */
    readonly timestamp: Kinds.Timestamp | null
    /** The transaction in its canonical form. */
    readonly transaction: Transaction
  }>
  /** Pass it as ?cursor= to get the next page; null on the last page. */
  readonly next_cursor: string | null
}

/** An account's balance after commits, newest first. */
export interface Balances {
  /** The account. */
  readonly address: Kinds.Address
  readonly balances: ReadonlyArray<{
    /** Index of the commit. */
    readonly commit: number
    /** Time of the commit, milliseconds since 1970. */
    readonly timestamp: Kinds.Timestamp
    /** After the commit. */
    readonly balance: Kinds.Sats
    /** After the commit. */
    readonly nonce: Kinds.Nonce
  }>
  /** Pass it as ?commit= for older entries; null at the end. */
  readonly next_commit: Kinds.CommitIndex | null
}

/** Accounts by balance, richest first. */
export interface RichAccounts {
  readonly accounts: ReadonlyArray<{
    /** The account. */
    readonly address: Kinds.Address
    /** Its @name without the @. */
    readonly name: string | null
    /** Spendable balance. */
    readonly balance: Kinds.Sats
  }>
  /** Pass it as ?cursor= to get the next page; null on the last page. */
  readonly next_cursor: string | null
}

/** Activity per hour or day (UTC), newest first; periods without a commit are left out. */
export interface Statistics {
  readonly statistics: ReadonlyArray<{
    /** When it begins, milliseconds since 1970. */
    readonly timestamp: Kinds.Timestamp
    /** Commits in it. */
    readonly commits: number
    /** Vertices that these commits ordered. */
    readonly vertices: number
    /** Executed transactions, applied or failed. */
    readonly transactions: number
    /** Those of them that failed and only paid the fee. */
    readonly failed: number
    /** Sats paid in fees. */
    readonly fees: number
    /** Total supply at the end. */
    readonly total_supply: Kinds.Sats
  }>
}

/** The length of an entry. */
export type Interval = "hour" | "day"

/** A new stake or a top-up. */
export interface StakeRequest {
  /** Secret key of the account that acts, 64 hex characters. */
  readonly secret_key: Kinds.SecretKey | string
  /** Sats, at least 200,000,000,000, also for top-ups. */
  readonly amount: number
}

/** The account that acts. */
export interface KeyOnlyRequest {
  /** Secret key of the account that acts, 64 hex characters. */
  readonly secret_key: Kinds.SecretKey | string
}

/** An account's stake; zeros if it has never staked. */
export interface StakeDetails {
  /** The account. */
  readonly address: Kinds.Address
  /** Own stake, leaving or not. */
  readonly staked_amount: Kinds.Sats
  /** staked_amount in coins. */
  readonly staked_coin: number
  /** Its share of its delegators' rewards. */
  readonly commission_percent: number
  /** Own stake plus delegations. */
  readonly effective_stake: Kinds.Sats
  /** Number of delegators. */
  readonly delegator_count: number
  /** Among the 100 largest active stakes. */
  readonly is_active_validator: boolean
  /** Its stake is leaving. */
  readonly unstaking: boolean
  /** First round at which a leaving stake is paid out; null otherwise. */
  readonly unlock_at_round: Kinds.Round | null
  /** Makes vertices in this epoch. */
  readonly in_committee: boolean
}

/** All accounts with a stake, largest effective stake first, at most 500. */
export interface ValidatorList {
  readonly validators: ReadonlyArray<{
    /** The validator. */
    readonly address: Kinds.Address
    /** Own stake plus delegations. */
    readonly effective_stake: Kinds.Sats
    /** Its share of its delegators' rewards. */
    readonly commission_percent: number
    /** Number of delegators. */
    readonly delegator_count: number
    /** Among the 100 largest active stakes. */
    readonly is_active: boolean
    /** Makes vertices in this epoch. */
    readonly in_committee: boolean
  }>
  /** Sum of all stakes and delegations. */
  readonly total_staked: Kinds.Sats
  /** Number of active validators. */
  readonly active_count: number
  /** Seats in a committee. */
  readonly max_validators: number
}

/** A delegation, or more of it. */
export interface DelegateRequest {
  /** Secret key of the account that acts, 64 hex characters. */
  readonly secret_key: Kinds.SecretKey | string
  /** An active validator, not the account itself. */
  readonly validator: string
  /** Sats, at least the network's min_delegation_sats; an amount too small for a whole pool share stays in the balance. */
  readonly amount: number
}

/** A validator's commission. */
export interface CommissionRequest {
  /** Secret key of the account that acts, 64 hex characters. */
  readonly secret_key: Kinds.SecretKey | string
  /** The validator's share of its delegators' rewards, 0 to 100. */
  readonly commission_percent: number
}

/** An account's delegation. */
export interface Delegation {
  /** The account. */
  readonly delegator: Kinds.Address
  /** Its validator. */
  readonly validator: Kinds.Address
  /** Its present value; rewards increase it. */
  readonly amount: Kinds.Sats
  /** Amount in coins. */
  readonly amount_coin: number
  /** It is leaving. */
  readonly undelegating: boolean
  /** First round at which it is paid out; null if it is not leaving. */
  readonly unlock_at_round: Kinds.Round | null
}

/** A validator's delegators, largest first, at most 500. */
export interface DelegatorList {
  /** The validator. */
  readonly validator: Kinds.Address
  /** All of them, including those beyond the 500. */
  readonly delegator_count: number
  /** The sum of all delegations. */
  readonly total_delegated: Kinds.Sats
  readonly delegators: ReadonlyArray<{
    /** The delegator. */
    readonly address: Kinds.Address
    /** The present value of its delegation. */
    readonly amount: Kinds.Sats
    /** Amount in coins. */
    readonly amount_coin: number
    /** It is leaving. */
    readonly undelegating: boolean
  }>
}

/** A proposal. */
export interface ProposalRequest {
  /** Secret key of the account that acts, 64 hex characters. */
  readonly secret_key: Kinds.SecretKey | string
  /** 1 to 128 bytes in UTF-8. */
  readonly title: string
  /** At most 4,096 bytes in UTF-8; may be empty. */
  readonly description: string
  /** The proposal's effect. */
  readonly proposal_type: ProposalTypeInput
  /** Sats, at least the network's min_fee_sats. */
  readonly fee: number
}

/** A vote. */
export interface VoteRequest {
  /** Secret key of the account that acts, 64 hex characters. */
  readonly secret_key: Kinds.SecretKey | string
  /** Number of the proposal. */
  readonly proposal_id: number
  /** true means yes. */
  readonly vote: boolean
  /** Sats, at least the network's min_fee_sats. */
  readonly fee: number
}

export interface ParameterChangePayload {
  /** The parameter. */
  readonly param: string
  /** Its new value. */
  readonly value: number
}

export interface CouncilMembershipPayload {
  /** Whether the account gets or loses a seat. */
  readonly action: "add" | "remove"
  /** The account. */
  readonly address: Kinds.Address
}

export interface TreasurySpendPayload {
  /** The recipient. */
  readonly recipient: Kinds.Address
  /** From the treasury. */
  readonly amount: Kinds.Sats
}

/** The fields of the proposal's type. */
export type ProposalPayload = ParameterChangePayload | CouncilMembershipPayload | TreasurySpendPayload | Readonly<Record<never, never>>

/** Active until voting ends, then Passed or Rejected; Passed becomes Executed or Failed. */
export type ProposalStatus = "Active" | "Passed" | "Rejected" | "Executed" | "Failed"

/** Proposals, newest first, at most 200; /proposal/:id lists the votes. */
export interface ProposalList {
  /** Number of proposals in the list. */
  readonly count: number
  readonly proposals: ReadonlyArray<{
    /** Counted from 1. */
    readonly id: Kinds.ProposalId
    /** Title; empty once the texts are pruned. */
    readonly title: string
    /** Description; empty once the texts are pruned. */
    readonly description: string
    /** Whether the ledger has dropped title and description; the transaction still has them. */
    readonly texts_pruned: boolean
    /** The transaction that made it. */
    readonly tx_hash: Kinds.Hash
    /** Name of the type. */
    readonly proposal_type: "Text" | "ParameterChange" | "CouncilMembership" | "TreasurySpend"
    /** The type's fields. */
    readonly payload: ProposalPayload
    /** Its status. */
    readonly status: ProposalStatus
    /** The proposer. */
    readonly proposer: Kinds.Address
    /** Stake that voted yes. */
    readonly votes_for: Kinds.Sats
    /** Stake that voted no. */
    readonly votes_against: Kinds.Sats
    /** Stake that could vote, as of its creation. */
    readonly snapshot_total_stake: Kinds.Sats
    /** The round of its creation. */
    readonly created_at_round: Kinds.Round
    /** Last round in which a vote counts. */
    readonly voting_ends_at_round: Kinds.Round
    /** First round in which a passed proposal is executed. */
    readonly executes_at_round: Kinds.Round
    /** Why execution failed; null otherwise. */
    readonly failure: string | null
    /** The amount taken from the proposer's balance at creation. */
    readonly bond: Kinds.Sats
    /** Held until the decision; then returned, or forfeited to the treasury after too low a turnout. */
    readonly bond_status: "held" | "returned" | "forfeited"
  }>
}

/** Yes or no. */
export type VoteChoice = "yes" | "no"

/** A proposal with all its votes. */
export interface Proposal {
  /** Counted from 1. */
  readonly id: Kinds.ProposalId
  /** Title; empty once the texts are pruned. */
  readonly title: string
  /** Description; empty once the texts are pruned. */
  readonly description: string
  /** Whether the ledger has dropped title and description; the transaction still has them. */
  readonly texts_pruned: boolean
  /** The transaction that made it. */
  readonly tx_hash: Kinds.Hash
  /** Name of the type. */
  readonly proposal_type: "Text" | "ParameterChange" | "CouncilMembership" | "TreasurySpend"
  /** The type's fields. */
  readonly payload: ProposalPayload
  /** Its status. */
  readonly status: ProposalStatus
  /** The proposer. */
  readonly proposer: Kinds.Address
  /** Stake that voted yes. */
  readonly votes_for: Kinds.Sats
  /** Stake that voted no. */
  readonly votes_against: Kinds.Sats
  /** Stake that could vote, as of its creation. */
  readonly snapshot_total_stake: Kinds.Sats
  /** The round of its creation. */
  readonly created_at_round: Kinds.Round
  /** Last round in which a vote counts. */
  readonly voting_ends_at_round: Kinds.Round
  /** First round in which a passed proposal is executed. */
  readonly executes_at_round: Kinds.Round
  /** Why execution failed; null otherwise. */
  readonly failure: string | null
  /** The amount taken from the proposer's balance at creation. */
  readonly bond: Kinds.Sats
  /** Held until the decision; then returned, or forfeited to the treasury after too low a turnout. */
  readonly bond_status: "held" | "returned" | "forfeited"
  readonly voters: ReadonlyArray<{
    /** The validator. */
    readonly address: Kinds.Address
    /** Its vote. */
    readonly vote: VoteChoice
    /** Its effective stake in the snapshot. */
    readonly weight: Kinds.Sats
  }>
}

/** An account's vote on a proposal. */
export interface VoteRecord {
  /** The proposal. */
  readonly proposal_id: Kinds.ProposalId
  /** The account. */
  readonly address: Kinds.Address
  /** null if it has not voted. */
  readonly vote: VoteChoice | null
  /** Its effective stake in the snapshot; 0 if it cannot vote, or had not voted by the decision. */
  readonly weight: Kinds.Sats
}

/** The current parameters and the bounds for changing them. */
export interface GovernanceConfig {
  readonly min_fee_sats: number
  readonly name_fee_sats: number
  readonly min_delegation_sats: number
  readonly min_stake_to_propose_sats: number
  readonly cooldown_rounds: number
  readonly voting_period_rounds: number
  readonly execution_delay_rounds: number
  readonly quorum_percent: number
  readonly approval_percent: number
  readonly max_active_proposals: number
  readonly treasury_percent: number
  readonly council_percent: number
  readonly slash_percent: number
  readonly checkpoint_interval_rounds: number
  readonly proposal_bond_sats: number
  readonly max_active_per_proposer: number
  readonly account_fee_sats: number
  /** Version of the protocol that is in force. */
  readonly protocol_version: number
  readonly governable_params: ReadonlyArray<{
    /** Name for a ParameterChange. */
    readonly name: string
    /** Current value. */
    readonly value: number
    /** Lowest allowed value. */
    readonly min: number
    /** Highest allowed value. */
    readonly max: number
  }>
}

/** All vertices of a round that the node knows. */
export interface RoundAnswer {
  /** The round; 0 is the genesis and has no vertices. */
  readonly round: Kinds.Round
  /** Time of the commit that finalized it, milliseconds since 1970; null before. */
  readonly timestamp: Kinds.Timestamp | null
  /** The round is at or below the last finalized one. */
  readonly finalized: boolean
  readonly vertices: ReadonlyArray<{
    /** The vertex. */
    readonly hash: Kinds.Hash
    /** The validator that signed it. */
    readonly validator: Kinds.Address
    /** Its coinbase reward. */
    readonly reward: Kinds.Sats
    /** Transactions that it carries. */
    readonly tx_count: number
    /** Vertices that it names as parents. */
    readonly parent_count: number
  }>
}

/** A vertex of the DAG. */
export interface Vertex {
  /** The vertex. */
  readonly hash: Kinds.Hash
  /** Its round. */
  readonly round: Kinds.Round
  /** The validator that signed it. */
  readonly validator: Kinds.Address
  /** How many parents. */
  readonly parent_count: number
  readonly parents: ReadonlyArray<Kinds.Hash>
  /** Minted when it is finalized. */
  readonly coinbase_reward: Kinds.Sats
  /** Its validator's clock, milliseconds since 1970. */
  readonly timestamp: Kinds.Timestamp
  /** Its order is final. */
  readonly finalized: boolean
  readonly transactions: ReadonlyArray<{
    /** Its type. */
    readonly type: TransactionType
    /** The transaction. */
    readonly hash: Kinds.Hash
    /** Its fee. */
    readonly fee: Kinds.Sats
    /** Its result in this vertex; failed: only the fee was taken; no effect: nothing was taken, and another vertex may contain it too; null until the vertex is finalized. */
    readonly outcome: "applied" | "failed" | "no effect" | null
  }>
}

/** A stretch of the DAG for drawing: rounds from low to high, their leaders, and the edges between vertices. */
export interface DagColumns {
  /** Highest round seen. */
  readonly dag_round: Kinds.Round
  /** Last finalized round. */
  readonly finalized_round: Kinds.Round
  readonly validators: ReadonlyArray<Kinds.Address>
  readonly columns: ReadonlyArray<{
    /** The round. */
    readonly round: Kinds.Round
    /** Its epoch. */
    readonly epoch: Kinds.Epoch
    /** Time of the last commit that ordered one of its vertices; null before. */
    readonly timestamp: Kinds.Timestamp | null
    /** The round is at or below the last finalized one. */
    readonly finalized: boolean
    /** Its leader; null if the node no longer knows the committee. */
    readonly leader: {
      /** A validator, as its index in `validators`. */
      readonly validator: number
      /** Whether the leader was committed, or skipped by the others. */
      readonly verdict: "undecided" | "committed" | "skipped"
    } | null
    readonly vertices: ReadonlyArray<{
      /** The vertex. */
      readonly hash: Kinds.Hash
      /** A validator, as its index in `validators`. */
      readonly validator: number
      /** Transactions that it carries. */
      readonly tx_count: number
      /** The commit that ordered it; null while none has. */
      readonly commit_index: Kinds.CommitIndex | null
      readonly parents: ReadonlyArray<number>
      readonly older_parents: ReadonlyArray<{
        /** The parent's round. */
        readonly round: Kinds.Round
        /** A validator, as its index in `validators`. */
        readonly validator: number
      }>
    }>
  }>
}

/** The committee and rules of an epoch. */
export interface EpochRecord {
  /** Number of the epoch. */
  readonly epoch: number
  /** Its first round. */
  readonly first_round: Kinds.Round
  /** The seed that draws its leaders. */
  readonly seed: Kinds.Hash
  readonly rules: {
    /** Number of rounds, from the first to the nominal last. */
    readonly epoch_rounds: number
    /** Version of the protocol by whose rules the epoch runs. */
    readonly protocol_version: number
    /** How many rounds below its leader a commit still orders. */
    readonly collection_depth_rounds: number
    /** Rounds between checkpoints. */
    readonly checkpoint_interval_rounds: number
    /** Minted per round before the first halving. */
    readonly round_reward: Kinds.Sats
    /** Rounds between halvings. */
    readonly halving_rounds: number
    /** The treasury's share of a reward. */
    readonly treasury_percent: number
    /** The council's share of a reward. */
    readonly council_percent: number
  }
  readonly members: ReadonlyArray<{
    /** The validator. */
    readonly address: Kinds.Address
    /** The key that verifies its signatures. */
    readonly pub_key: Kinds.PublicKey
    /** Its weight in quorums, leader draws and rewards. */
    readonly weight: Kinds.Sats
  }>
}

/** The state after a commit, signed by a quorum of the committee. */
export interface Checkpoint {
  /** Its epoch. */
  readonly epoch: number
  /** Leader round of the commit. */
  readonly round: Kinds.Round
  /** Index of the commit. */
  readonly commit_index: number
  /** The commit. */
  readonly commit_hash: Kinds.Hash
  /** Chained over the effects of every commit. */
  readonly effects_digest: Kinds.Hash
  /** Root of the state trie. */
  readonly state_root: Kinds.Hash
  /** Total supply. */
  readonly total_supply: Kinds.Sats
  /** The epoch that this checkpoint opens; null if it opens none. */
  readonly next_epoch: EpochRecord | null
  /** The checkpoint that closed the epoch before, for GET /checkpoint/hash/:hash. */
  readonly previous: Kinds.Hash
  /** Hash of everything here except the signatures. */
  readonly hash: Kinds.Hash
  readonly signatures: ReadonlyArray<{
    /** Who signed. */
    readonly validator: Kinds.Address
    /** Ed25519 over the content. */
    readonly signature: Kinds.Signature
  }>
}

/** Checkpoints signed by a quorum, newest first. */
export interface Checkpoints {
  readonly checkpoints: ReadonlyArray<{
    /** Its epoch. */
    readonly epoch: number
    /** Leader round of the commit, for GET /checkpoint/:round. */
    readonly round: Kinds.Round
    /** Index of the commit. */
    readonly commit_index: number
    /** Hash of its content. */
    readonly hash: Kinds.Hash
    /** It is the last one of its epoch, and opens the next. */
    readonly closes_epoch: boolean
    /** Members of the committee that it opens; null if it opens none. */
    readonly members: number | null
    /** Total supply. */
    readonly total_supply: Kinds.Sats
    /** Number of members that signed. */
    readonly signatures: number
    /** Time of the commit; null if this node lacks the commit. */
    readonly timestamp: Kinds.Timestamp | null
  }>
  /** Pass it as ?before= for older checkpoints; null at the end. */
  readonly next_round: Kinds.Round | null
}

/** A part of the state at the end of an epoch, with its proof. */
export interface StatePiece {
  /** Root of the state. */
  readonly state_root: Kinds.Hash
  /** Its place, the siblings on the path to it and the records below it, as nodes send it. */
  readonly piece: Uint8Array
}

/** The path from a transaction to a checkpoint signed by a quorum. */
export interface TransactionProof {
  /** The transaction. */
  readonly hash: Kinds.Hash
  /** The network that the transaction was signed for. */
  readonly network_id: Kinds.NetworkId
  /** The vertex that contains it. */
  readonly vertex: Uint8Array
  /** From the commit's leader down to a child of the vertex; empty if the vertex is the leader. */
  readonly headers: ReadonlyArray<Uint8Array>
  /** The commit before the first of these. */
  readonly previous: Kinds.Hash
  /** The leader's commit and its successors, up to the checkpoint's. */
  readonly commits: ReadonlyArray<{
    /** Number of the commit. */
    readonly index: Kinds.CommitIndex
    /** Its epoch. */
    readonly epoch: Kinds.Epoch
    /** Round of its leader. */
    readonly leader_round: Kinds.Round
    /** Its leader. */
    readonly leader_hash: Kinds.Hash
  }>
  /** The first checkpoint at or after the commit. */
  readonly checkpoint: Checkpoint
}

/** A proof of what the state holds under one key. */
export interface StateProof {
  readonly siblings: ReadonlyArray<{
    readonly hash: Kinds.Hash
    readonly records: number
  }>
  readonly leaf: ReadonlyArray<{
    readonly key: Kinds.Hash
    readonly value: Uint8Array
  }>
}

/** An account's record with its path to the state root of a quorum checkpoint. */
export interface AccountProof {
  /** The account. */
  readonly address: Kinds.Address
  /** The account's key in the state. */
  readonly key: Kinds.Hash
  /** The account's record as stored in the state, in hex; null proves that there is none. */
  readonly record: string | null
  /** The leaf with the record's place, and the siblings along its path. */
  readonly proof: StateProof
  /** The checkpoint whose state_root the proof leads to. */
  readonly checkpoint: Checkpoint
}

/** Key figures for monitoring. */
export interface Metrics {
  /** Highest round seen. */
  readonly dag_round: Kinds.Round
  /** Last finalized round. */
  readonly finalized_round: Kinds.Round
  /** Their difference; 2 or 3 is healthy, above 10 critical. */
  readonly finality_lag: number
  /** Connected nodes; 3 or more is healthy, below 2 critical. */
  readonly peer_count: number
  /** Pending transactions; below 5,000 is healthy, above 8,000 critical. */
  readonly mempool_size: number
  /** Total supply. */
  readonly total_supply: Kinds.Sats
  /** Own stakes and delegations together. */
  readonly total_staked: Kinds.Sats
  /** Validators with an active stake among the 100 largest. */
  readonly active_validators: number
  /** Round of the latest quorum checkpoint. */
  readonly checkpoint_latest: Kinds.Round
  /** Since the node started. */
  readonly uptime_seconds: number
}

/** How far back. */
export type Range = "hour" | "day" | "year"

/** The network's figures over time; all lists have one entry for each point, oldest first. */
export interface MetricsHistory {
  /** How far back. */
  readonly range: Range
  /** The length of one point, in milliseconds. */
  readonly step_ms: number
  readonly at: ReadonlyArray<Kinds.Timestamp>
  readonly measured_ms: ReadonlyArray<number>
  readonly transactions: ReadonlyArray<number>
  readonly rounds: ReadonlyArray<number>
  readonly fees: ReadonlyArray<Kinds.Sats>
  readonly finality_ms: ReadonlyArray<number | null>
  readonly total_supply: ReadonlyArray<Kinds.Sats>
  readonly total_staked: ReadonlyArray<Kinds.Sats>
  readonly mempool_size: ReadonlyArray<number>
}

/** For each committee member, the rounds with and without a final vertex, as far as this node counted. */
export interface Attendance {
  /** How far back. */
  readonly range: Range
  /** When counting within the range began on this node, to the minute; null before the first count. */
  readonly since: Kinds.Timestamp | null
  readonly validators: ReadonlyArray<{
    /** The validator. */
    readonly address: Kinds.Address
    /** Rounds with a final vertex. */
    readonly made: number
    /** Rounds without one. */
    readonly missed: number
  }>
}

/** One validator's rounds and delegations over time, while it had a seat; all lists have one entry for each point, oldest first. */
export interface ValidatorRounds {
  /** The validator. */
  readonly validator: Kinds.Address
  /** How far back. */
  readonly range: Range
  /** The length of one point, in milliseconds. */
  readonly step_ms: number
  readonly at: ReadonlyArray<Kinds.Timestamp>
  readonly made: ReadonlyArray<number>
  readonly missed: ReadonlyArray<number>
  readonly delegators: ReadonlyArray<number | null>
  readonly delegated: ReadonlyArray<Kinds.Sats | null>
}

export interface InvalidRequest {
  readonly _tag: "InvalidRequest"
  readonly message: string
  readonly field?: string
}

export interface RequestTimeout {
  readonly _tag: "RequestTimeout"
  readonly message: string
}

export interface BodyTooLarge {
  readonly _tag: "BodyTooLarge"
  readonly message: string
  readonly limit: number
}

export interface UnsupportedMediaType {
  readonly _tag: "UnsupportedMediaType"
  readonly message: string
}

export interface Overloaded {
  readonly _tag: "Overloaded"
  readonly message: string
  readonly retry_after_seconds: number
}

export interface NotAllowed {
  readonly _tag: "NotAllowed"
  readonly message: string
}

export interface NameNotFound {
  readonly _tag: "NameNotFound"
  readonly message: string
}

export interface TestnetOnly {
  readonly _tag: "TestnetOnly"
  readonly message: string
}

export interface ForeignOrigin {
  readonly _tag: "ForeignOrigin"
  readonly message: string
}

export interface NotServed {
  readonly _tag: "NotServed"
  readonly message: string
}

export interface InvalidTransaction {
  readonly _tag: "InvalidTransaction"
  readonly message: string
  readonly rule: string
  readonly field?: string
}

export interface InsufficientBalance {
  readonly _tag: "InsufficientBalance"
  readonly message: string
  readonly balance: number
  readonly required: number
  readonly pending: number
}

export interface NonceTooHigh {
  readonly _tag: "NonceTooHigh"
  readonly message: string
  readonly next_nonce: number
  readonly max_nonce: number
}

export interface AccountThrottled {
  readonly _tag: "AccountThrottled"
  readonly message: string
  readonly next_nonce: number
  readonly retry_after_seconds: number
}

export interface MempoolFull {
  readonly _tag: "MempoolFull"
  readonly message: string
  readonly capacity: number
}

export interface NotReady {
  readonly _tag: "NotReady"
  readonly message: string
  readonly reason: "behind" | "no_quorum" | "signer" | "halted"
}

export interface ForeignHost {
  readonly _tag: "ForeignHost"
  readonly message: string
}

export interface RateLimited {
  readonly _tag: "RateLimited"
  readonly message: string
  readonly limit: number
  readonly window_seconds: number
  readonly retry_after_seconds: number
}

export interface HeadersTooLarge {
  readonly _tag: "HeadersTooLarge"
  readonly message: string
}

export interface InternalError {
  readonly _tag: "InternalError"
  readonly message: string
}

export interface Unavailable {
  readonly _tag: "Unavailable"
  readonly message: string
  readonly retry_after_seconds: number
}

export interface ShuttingDown {
  readonly _tag: "ShuttingDown"
  readonly message: string
}

export interface TooManyStreams {
  readonly _tag: "TooManyStreams"
  readonly message: string
  readonly limit: number
  readonly retry_after_seconds: number
}

export interface PathNotFound {
  readonly _tag: "PathNotFound"
  readonly message: string
}

export interface MethodNotAllowed {
  readonly _tag: "MethodNotAllowed"
  readonly message: string
  readonly allowed: ReadonlyArray<string>
}

export interface InvalidSignature {
  readonly _tag: "InvalidSignature"
  readonly message: string
}

export interface NonceTooLow {
  readonly _tag: "NonceTooLow"
  readonly message: string
  readonly next_nonce: number
}

export interface NoncePending {
  readonly _tag: "NoncePending"
  readonly message: string
  readonly min_fee: number
}

export interface AlreadyVoted {
  readonly _tag: "AlreadyVoted"
  readonly message: string
}

export interface NameTaken {
  readonly _tag: "NameTaken"
  readonly message: string
}

export interface TooManyActiveProposals {
  readonly _tag: "TooManyActiveProposals"
  readonly message: string
  readonly limit: number
}

export interface TransactionNotFound {
  readonly _tag: "TransactionNotFound"
  readonly message: string
  readonly vertex_hash?: string
  readonly round?: number
  readonly reason?: string
}

export interface DelegationNotFound {
  readonly _tag: "DelegationNotFound"
  readonly message: string
}

export interface PolicyNotFound {
  readonly _tag: "PolicyNotFound"
  readonly message: string
}

export interface ProposalNotFound {
  readonly _tag: "ProposalNotFound"
  readonly message: string
}

export interface RoundNotFound {
  readonly _tag: "RoundNotFound"
  readonly message: string
  readonly reason: "not_reached" | "pruned"
}

export interface VertexNotFound {
  readonly _tag: "VertexNotFound"
  readonly message: string
}

export interface CheckpointNotFound {
  readonly _tag: "CheckpointNotFound"
  readonly message: string
}

export interface FaucetUnavailable {
  readonly _tag: "FaucetUnavailable"
  readonly message: string
}

export interface RoundEvent {
  readonly type: "round"
  /** Highest round now. */
  readonly round: Kinds.Round
  /** Last finalized round now. */
  readonly finalized_round: Kinds.Round
}

export interface VertexEvent {
  readonly type: "vertex"
  /** A finalized vertex. */
  readonly hash: Kinds.Hash
  /** Its round. */
  readonly round: Kinds.Round
  /** The validator that signed it. */
  readonly validator: Kinds.Address
  /** Its coinbase reward. */
  readonly reward: Kinds.Sats
  /** Transactions that it carries. */
  readonly tx_count: number
}

export interface TransactionEvent {
  readonly type: "transaction"
  /** The transaction. */
  readonly hash: Kinds.Hash
  /** Its type. */
  readonly transaction_type: TransactionType
  /** The sender. */
  readonly from: Kinds.Address
  /** The recipient, if the type has one. */
  readonly to?: Kinds.Address
  /** In the mempool, or final. */
  readonly status: "pending" | "finalized"
  /** false: only the fee was taken; null while pending. */
  readonly applied: boolean | null
}

export interface AlertEvent {
  readonly type: "alert"
  /** How serious; info: the part is healthy again. */
  readonly severity: "info" | "warning" | "critical"
  /** The alert in words. */
  readonly message: string
}

export interface ResetEvent {
  readonly type: "reset"
  /** Events were missed; read the state again. */
  readonly message: string
}

/** An event. */
export type Event = RoundEvent | VertexEvent | TransactionEvent | AlertEvent | ResetEvent

/** Everything that a node answers instead of what was asked for, told apart by `_tag`. */
export type Failure =
  | InvalidRequest
  | RequestTimeout
  | BodyTooLarge
  | UnsupportedMediaType
  | Overloaded
  | NotAllowed
  | NameNotFound
  | TestnetOnly
  | ForeignOrigin
  | NotServed
  | InvalidTransaction
  | InsufficientBalance
  | NonceTooHigh
  | AccountThrottled
  | MempoolFull
  | NotReady
  | ForeignHost
  | RateLimited
  | HeadersTooLarge
  | InternalError
  | Unavailable
  | ShuttingDown
  | TooManyStreams
  | PathNotFound
  | MethodNotAllowed
  | InvalidSignature
  | NonceTooLow
  | NoncePending
  | AlreadyVoted
  | NameTaken
  | TooManyActiveProposals
  | TransactionNotFound
  | DelegationNotFound
  | PolicyNotFound
  | ProposalNotFound
  | RoundNotFound
  | VertexNotFound
  | CheckpointNotFound
  | FaucetUnavailable

/** A method for each endpoint, by its group. */
export interface Methods {
  readonly core: {
    /**
     * The node's current state.
     *
     * `GET /status`
     *
     * @example
     * ```ts
     * const answer = await client.core.status()
     * ```
     */
    readonly status: () => Promise<NodeStatus>
    /**
     * Balance and state of an account.
     * An account that has never been used has zeros. Takes hex, bech32m or @name.
     *
     * `GET /balance/:address`
     *
     * @example
     * ```ts
     * const answer = await client.core.balance({ path: { address: "@alice" } })
     * ```
     */
    readonly balance: (request: { readonly path: {
      readonly address: string
    } }) => Promise<Balance>
    /**
     * The keys of a smart account.
     * 404 for an account with a single key. Takes hex, bech32m or @name.
     *
     * `GET /account/:address/policy`
     *
     * @example
     * ```ts
     * const answer = await client.core.policy({ path: { address: "@alice" } })
     * ```
     */
    readonly policy: (request: { readonly path: {
      readonly address: string
    } }) => Promise<Policy>
    /**
     * The names of up to 100 accounts.
     * An account has at most one name. Accounts without one are left out.
     *
     * `GET /names`
     *
     * @example
     * ```ts
     * const answer = await client.core.names({ urlParams: { addresses: addresses } })
     * ```
     */
    readonly names: (request: { readonly urlParams: {
      readonly addresses: string
    } }) => Promise<Names>
    /**
     * Names, accounts, transactions and vertices by prefix.
     * Finds names by at least three characters, with or without the @; accounts and hashes by at least four hex digits; accounts also by the beginning of their bech32m address, at least `tudg1` and four characters.
     *
     * `GET /search`
     *
     * @example
     * ```ts
     * const answer = await client.core.search({ urlParams: { prefix: "3f9a" } })
     * ```
     */
    readonly search: (request: { readonly urlParams: {
      readonly prefix: string
    } }) => Promise<SearchResult>
    /**
     * Whether the node is running.
     *
     * `GET /health`
     *
     * @example
     * ```ts
     * const answer = await client.core.health()
     * ```
     */
    readonly health: () => Promise<Health>
    /**
     * Whether the node follows the network and can take traffic.
     * For load balancers. A node that is behind, waits for a quorum or is about to end answers 503 with the reason, as does a gateway whose archive does not answer. Do not restart a node because of it.
     *
     * `GET /ready`
     *
     * @example
     * ```ts
     * const answer = await client.core.ready()
     * ```
     */
    readonly ready: () => Promise<Ready>
    /**
     * The health of each part of the node.
     * Always 200 while the node runs, whatever the health.
     *
     * `GET /health/detailed`
     *
     * @example
     * ```ts
     * const answer = await client.core.healthReport()
     * ```
     */
    readonly healthReport: () => Promise<HealthReport>
    /**
     * A fresh key pair (testnet).
     *
     * `GET /keygen`
     *
     * @example
     * ```ts
     * const answer = await client.core.keygen()
     * ```
     */
    readonly keygen: () => Promise<Keypair>
    /**
     * Free coins (testnet).
     *
     * `POST /faucet`
     *
     * @example
     * ```ts
     * const answer = await client.core.faucet({ payload: { address: "@alice", amount } })
     * ```
     */
    readonly faucet: (request: { readonly payload: FaucetRequest }) => Promise<FaucetResult>
    /**
     * Pending transactions, highest fee first.
     *
     * `GET /mempool`
     *
     * @example
     * ```ts
     * const answer = await client.core.mempool()
     * ```
     */
    readonly mempool: () => Promise<PendingTransactions>
    /**
     * Connected and bootstrap nodes.
     *
     * `GET /peers`
     *
     * @example
     * ```ts
     * const answer = await client.core.peers()
     * ```
     */
    readonly peers: () => Promise<Peers>
    /**
     * The network and its parameters.
     *
     * `GET /network`
     *
     * @example
     * ```ts
     * const answer = await client.core.network()
     * ```
     */
    readonly network: () => Promise<NetworkInfo>
  }
  readonly transactions: {
    /**
     * Send a transfer (testnet).
     * The node signs with the secret key in the body and the account's next nonce.
     *
     * `POST /tx`
     *
     * @example
     * ```ts
     * const answer = await client.transactions.send({ payload: { secret_key, to, amount, fee } })
     * ```
     */
    readonly send: (request: { readonly payload: TransferRequest }) => Promise<Accepted>
    /**
     * Submit a signed transaction, or up to 1,000 of them.
     * The only way to submit on a mainnet. An array (body up to 1 MiB) is answered by an array, in order, of each transaction's answer as if submitted alone, with its status as status_code. It counts as that many requests. Submitting a pending transaction again gets the same answer.
     *
     * `POST /tx/submit`
     *
     * @example
     * ```ts
     * const answer = await client.transactions.submit({ payload: transaction })
     * ```
     */
    readonly submit: {
      (request: { readonly payload: TransactionInput }): Promise<Accepted>
      (request: { readonly payload: ReadonlyArray<TransactionInput> }): Promise<SubmissionAnswers>
    }
    /**
     * A transaction and its outcome.
     * Transactions that were replaced, evicted, expired or without effect are not found.
     *
     * `GET /tx/:hash`
     *
     * @example
     * ```ts
     * const answer = await client.transactions.lookup({ path: { hash: hash } })
     * ```
     */
    readonly lookup: (request: { readonly path: {
      readonly hash: string
    } }) => Promise<TransactionLookup>
    /**
     * Transactions that an account sent or received, newest first.
     * With a type or direction, a page covers the account's last 500 transactions, so it can have fewer entries than requested, or none, and still a next_cursor.
     *
     * `GET /account/:address/transactions`
     *
     * @example
     * ```ts
     * const answer = await client.transactions.history({ path: { address: "@alice" } })
     * ```
     */
    readonly history: (request: { readonly path: {
      readonly address: string
    }; readonly urlParams?: {
      /** How many, 1 to 100; defaults to 50. */
      readonly limit?: number
      /** Only transactions of this type. */
      readonly type?: TransactionType
      /** Only transactions that the account sent, or only those it received. */
      readonly direction?: "sent" | "received"
      /** Only from this time on, milliseconds since 1970. */
      readonly from?: number
      /** Only before this moment. */
      readonly until?: number
      /** The next_cursor of the previous page; any other text is rejected. */
      readonly cursor?: string
    } }) => Promise<TransactionHistory>
    /**
     * An account's balance changes, newest first.
     * Transactions and credits by the network: genesis allocations, rewards, fees earned, payments from the treasury, returned bonds, released stakes and delegations. Slashes are listed as well. All changes add up to the balance on a node that has executed every commit; one that joined later or has pruned lists its recorded part.
     *
     * `GET /account/:address/statement`
     *
     * @example
     * ```ts
     * const answer = await client.transactions.statement({ path: { address: "@alice" } })
     * ```
     */
    readonly statement: (request: { readonly path: {
      readonly address: string
    }; readonly urlParams?: {
      /** How many, 1 to 100; defaults to 50. */
      readonly limit?: number
      /** next_cursor from the previous page. */
      readonly cursor?: string
    } }) => Promise<AccountStatement>
    /**
     * Finalized transactions of all accounts, newest first.
     * With a type, a node's page covers the last 500 transactions, so it can have fewer entries than requested, or none, and still a next_cursor. Only a gateway supports `words` and returns full pages of a type; a node answers `words` with 501.
     *
     * `GET /transactions`
     *
     * @example
     * ```ts
     * const answer = await client.transactions.latest()
     * ```
     */
    readonly latest: (request?: { readonly urlParams?: {
      /** How many, 1 to 100; defaults to 50. */
      readonly limit?: number
      /** Only transactions of this type. */
      readonly type?: TransactionType
      /** Only with these words in the memo or the proposal's texts; "in this order", -without. */
      readonly words?: string
      /** Only from this time on, milliseconds since 1970. */
      readonly from?: number
      /** Only before this moment. */
      readonly until?: number
      /** The next_cursor of the previous page; any other text is rejected. */
      readonly cursor?: string
    } }) => Promise<LatestTransactions>
  }
  readonly archive: {
    /**
     * An account's balance after any commit, and over time.
     * Lists the balance after each commit that changed the account or, with `step`, after every `step`-th commit. The first entry is the balance after `commit`, whenever it last changed.
     *
     * `GET /account/:address/balances`
     *
     * @example
     * ```ts
     * const answer = await client.archive.balances({ path: { address: "@alice" } })
     * ```
     */
    readonly balances: (request: { readonly path: {
      readonly address: string
    }; readonly urlParams?: {
      /** How many, 1 to 100; defaults to 50. */
      readonly limit?: number
      /** The newest commit; defaults to the last one. */
      readonly commit?: number
      /** Commits between two entries. */
      readonly step?: number
    } }) => Promise<Balances>
    /**
     * Accounts by balance, richest first.
     *
     * `GET /accounts`
     *
     * @example
     * ```ts
     * const answer = await client.archive.richest()
     * ```
     */
    readonly richest: (request?: { readonly urlParams?: {
      /** How many, 1 to 100; defaults to 50. */
      readonly limit?: number
      /** The next_cursor of the previous page; any other text is rejected. */
      readonly cursor?: string
    } }) => Promise<RichAccounts>
    /**
     * Activity per hour or day.
     *
     * `GET /statistics`
     *
     * @example
     * ```ts
     * const answer = await client.archive.statistics()
     * ```
     */
    readonly statistics: (request?: { readonly urlParams?: {
      /** How many, 1 to 500; defaults to 50. */
      readonly limit?: number
      /** Defaults to day. */
      readonly interval?: Interval
      /** Only before this moment. */
      readonly until?: number
    } }) => Promise<Statistics>
  }
  readonly staking: {
    /**
     * Stake, or add to a stake (testnet).
     *
     * `POST /stake`
     *
     * @example
     * ```ts
     * const answer = await client.staking.stake({ payload: { secret_key, amount } })
     * ```
     */
    readonly stake: (request: { readonly payload: StakeRequest }) => Promise<Accepted>
    /**
     * Withdraw the whole stake (testnet).
     *
     * `POST /unstake`
     *
     * @example
     * ```ts
     * const answer = await client.staking.unstake({ payload: { secret_key } })
     * ```
     */
    readonly unstake: (request: { readonly payload: KeyOnlyRequest }) => Promise<Accepted>
    /**
     * An account's stake.
     *
     * `GET /stake/:address`
     *
     * @example
     * ```ts
     * const answer = await client.staking.stakeOf({ path: { address: "@alice" } })
     * ```
     */
    readonly stakeOf: (request: { readonly path: {
      readonly address: string
    } }) => Promise<StakeDetails>
    /**
     * All validators, largest first.
     *
     * `GET /validators`
     *
     * @example
     * ```ts
     * const answer = await client.staking.validators()
     * ```
     */
    readonly validators: () => Promise<ValidatorList>
  }
  readonly delegation: {
    /**
     * Delegate to a validator, or add to a delegation (testnet).
     *
     * `POST /delegate`
     *
     * @example
     * ```ts
     * const answer = await client.delegation.delegate({ payload: { secret_key, validator, amount } })
     * ```
     */
    readonly delegate: (request: { readonly payload: DelegateRequest }) => Promise<Accepted>
    /**
     * Take the whole delegation back (testnet).
     *
     * `POST /undelegate`
     *
     * @example
     * ```ts
     * const answer = await client.delegation.undelegate({ payload: { secret_key } })
     * ```
     */
    readonly undelegate: (request: { readonly payload: KeyOnlyRequest }) => Promise<Accepted>
    /**
     * Set a validator's commission (testnet).
     *
     * `POST /set-commission`
     *
     * @example
     * ```ts
     * const answer = await client.delegation.setCommission({ payload: { secret_key, commission_percent } })
     * ```
     */
    readonly setCommission: (request: { readonly payload: CommissionRequest }) => Promise<Accepted>
    /**
     * An account's delegation.
     *
     * `GET /delegation/:address`
     *
     * @example
     * ```ts
     * const answer = await client.delegation.delegationOf({ path: { address: "@alice" } })
     * ```
     */
    readonly delegationOf: (request: { readonly path: {
      readonly address: string
    } }) => Promise<Delegation>
    /**
     * A validator's delegators.
     * Empty for an account that is not a validator. Number and total are current. The list is up to one commit old for each 2,000 delegators beyond the first 2,000.
     *
     * `GET /validator/:address/delegators`
     *
     * @example
     * ```ts
     * const answer = await client.delegation.delegators({ path: { address: "@alice" } })
     * ```
     */
    readonly delegators: (request: { readonly path: {
      readonly address: string
    } }) => Promise<DelegatorList>
  }
  readonly governance: {
    /**
     * Create a proposal (testnet).
     *
     * `POST /proposal`
     *
     * @example
     * ```ts
     * const answer = await client.governance.propose({ payload: { secret_key, title, description, proposal_type, fee } })
     * ```
     */
    readonly propose: (request: { readonly payload: ProposalRequest }) => Promise<Accepted>
    /**
     * Vote on a proposal (testnet).
     *
     * `POST /vote`
     *
     * @example
     * ```ts
     * const answer = await client.governance.vote({ payload: { secret_key, proposal_id, vote, fee } })
     * ```
     */
    readonly vote: (request: { readonly payload: VoteRequest }) => Promise<Accepted>
    /**
     * All proposals, newest first.
     *
     * `GET /proposals`
     *
     * @example
     * ```ts
     * const answer = await client.governance.proposals()
     * ```
     */
    readonly proposals: () => Promise<ProposalList>
    /**
     * A proposal with its voters.
     *
     * `GET /proposal/:id`
     *
     * @example
     * ```ts
     * const answer = await client.governance.proposal({ path: { id: 1 } })
     * ```
     */
    readonly proposal: (request: { readonly path: {
      readonly id: number
    } }) => Promise<Proposal>
    /**
     * An account's vote on a proposal.
     *
     * `GET /vote/:id/:address`
     *
     * @example
     * ```ts
     * const answer = await client.governance.voteOf({ path: { id: 1, address: "@alice" } })
     * ```
     */
    readonly voteOf: (request: { readonly path: {
      readonly id: number
      readonly address: string
    } }) => Promise<VoteRecord>
    /**
     * The parameters that governance can change.
     *
     * `GET /governance/config`
     *
     * @example
     * ```ts
     * const answer = await client.governance.config()
     * ```
     */
    readonly config: () => Promise<GovernanceConfig>
  }
  readonly dag: {
    /**
     * The vertices of a round.
     *
     * `GET /round/:round`
     *
     * @example
     * ```ts
     * const answer = await client.dag.round({ path: { round: 1205 } })
     * ```
     */
    readonly round: (request: { readonly path: {
      readonly round: number
    } }) => Promise<RoundAnswer>
    /**
     * A vertex.
     *
     * `GET /vertex/:hash`
     *
     * @example
     * ```ts
     * const answer = await client.dag.vertex({ path: { hash: hash } })
     * ```
     */
    readonly vertex: (request: { readonly path: {
      readonly hash: string
    } }) => Promise<Vertex>
    /**
     * A stretch of the DAG with its edges and leaders.
     * Without `from`, the latest rounds. For a large committee the answer may end before the last requested round; continue after its last column. Counts as one request for every three requested rounds, and as ten at most.
     *
     * `GET /dag`
     *
     * @example
     * ```ts
     * const answer = await client.dag.columns()
     * ```
     */
    readonly columns: (request?: { readonly urlParams?: {
      /** First round; defaults to the latest rounds. */
      readonly from?: number
      /** How many rounds, 1 to 120; defaults to 60. */
      readonly rounds?: number
    } }) => Promise<DagColumns>
  }
  readonly checkpoints: {
    /**
     * The latest quorum checkpoint.
     *
     * `GET /checkpoint/latest`
     *
     * @example
     * ```ts
     * const answer = await client.checkpoints.latest()
     * ```
     */
    readonly latest: () => Promise<Checkpoint>
    /**
     * Checkpoints signed by a quorum, newest first.
     * A node keeps those that closed epochs forever, and the others as long as it keeps their rounds.
     *
     * `GET /checkpoints`
     *
     * @example
     * ```ts
     * const answer = await client.checkpoints.list()
     * ```
     */
    readonly list: (request?: { readonly urlParams?: {
      /** How many, 1 to 100; defaults to 50. */
      readonly limit?: number
      /** Only before this round. */
      readonly before?: number
      /** Only those that closed an epoch. */
      readonly closing?: "only"
    } }) => Promise<Checkpoints>
    /**
     * The checkpoint of a commit, by its leader round.
     *
     * `GET /checkpoint/:round`
     *
     * @example
     * ```ts
     * const answer = await client.checkpoints.checkpoint({ path: { round: 1205 } })
     * ```
     */
    readonly checkpoint: (request: { readonly path: {
      readonly round: number
    } }) => Promise<Checkpoint>
    /**
     * A checkpoint by its hash.
     *
     * `GET /checkpoint/hash/:hash`
     *
     * @example
     * ```ts
     * const answer = await client.checkpoints.byHash({ path: { hash: hash } })
     * ```
     */
    readonly byHash: (request: { readonly path: {
      readonly hash: string
    } }) => Promise<Checkpoint>
    /**
     * The checkpoint that closed an epoch.
     * Its next_epoch names the committee that signs the next epoch's checkpoint, so each proves the next from epoch 1 on. The checkpoint of epoch 0 follows from the genesis and is unsigned.
     *
     * `GET /checkpoint/epoch/:epoch`
     *
     * @example
     * ```ts
     * const answer = await client.checkpoints.closing({ path: { epoch: 3 } })
     * ```
     */
    readonly closing: (request: { readonly path: {
      readonly epoch: number
    } }) => Promise<Checkpoint>
    /**
     * A piece of the state at the end of an epoch.
     * For copying the whole state, as udg dev --fork does. A node has the closing states of the last two epochs, by the checkpoint's state_root. A piece has up to 273,309 bytes, and its siblings show which places are missing.
     *
     * `GET /state/:root/:position`
     *
     * @example
     * ```ts
     * const answer = await client.checkpoints.state({ path: { root, position } })
     * ```
     */
    readonly state: (request: { readonly path: {
      readonly root: string
      readonly position: string
    } }) => Promise<StatePiece>
    /**
     * A transaction with a proof that it is in the total order.
     * Proves that a commit ordered the transaction, not its outcome.
     *
     * `GET /proof/tx/:hash`
     *
     * @example
     * ```ts
     * const answer = await client.checkpoints.transactionProof({ path: { hash: hash } })
     * ```
     */
    readonly transactionProof: (request: { readonly path: {
      readonly hash: string
    } }) => Promise<TransactionProof>
    /**
     * An account with a proof.
     *
     * `GET /proof/:address`
     *
     * @example
     * ```ts
     * const answer = await client.checkpoints.proof({ path: { address: "@alice" } })
     * ```
     */
    readonly proof: (request: { readonly path: {
      readonly address: string
    } }) => Promise<AccountProof>
  }
  readonly monitoring: {
    /**
     * Metrics for Prometheus.
     *
     * `GET /metrics`
     *
     * @example
     * ```ts
     * const answer = await client.monitoring.metrics()
     * ```
     */
    readonly metrics: () => Promise<string>
    /**
     * The most important metrics as JSON.
     *
     * `GET /metrics/json`
     *
     * @example
     * ```ts
     * const answer = await client.monitoring.metricsJson()
     * ```
     */
    readonly metricsJson: () => Promise<Metrics>
    /**
     * The network's figures over time.
     * Measured by this node: an hour by second, a day by minute, a year by hour. They survive restarts. The last point is still growing: to follow, pass its `at` as `since` and replace it. Counts as three requests.
     *
     * `GET /metrics/history`
     *
     * @example
     * ```ts
     * const answer = await client.monitoring.history()
     * ```
     */
    readonly history: (request?: { readonly urlParams?: {
      /** How far back; defaults to hour. */
      readonly range?: Range
      /** Only points that begin at or after this moment. */
      readonly since?: number
    } }) => Promise<MetricsHistory>
    /**
     * Rounds made and missed by each validator.
     *
     * `GET /metrics/validators`
     *
     * @example
     * ```ts
     * const answer = await client.monitoring.attendance()
     * ```
     */
    readonly attendance: (request?: { readonly urlParams?: {
      /** How far back; defaults to hour. */
      readonly range?: Range
    } }) => Promise<Attendance>
    /**
     * Rounds and delegations of a validator over time.
     * An hour by minute, a day by half hour, a year by day. Empty for an account without a seat. A round counts once no later commit can order one of its vertices.
     *
     * `GET /validator/:address/rounds`
     *
     * @example
     * ```ts
     * const answer = await client.monitoring.validatorRounds({ path: { address: "@alice" } })
     * ```
     */
    readonly validatorRounds: (request: { readonly path: {
      readonly address: string
    }; readonly urlParams?: {
      /** How far back; defaults to hour. */
      readonly range?: Range
    } }) => Promise<ValidatorRounds>
  }
  readonly documents: {
    /**
     * This interface as an OpenAPI 3.1 document.
     *
     * `GET /openapi.json`
     *
     * @example
     * ```ts
     * const answer = await client.documents.openapi()
     * ```
     */
    readonly openapi: () => Promise<string>
    /**
     * This interface as an HTML page.
     *
     * `GET /docs`
     *
     * @example
     * ```ts
     * const answer = await client.documents.reference()
     * ```
     */
    readonly reference: () => Promise<string>
  }
}
