/** Plain calls for the most common queries. `client.core.balance({ path: … })` and the like cover all endpoints. */
import type {
  Accepted,
  Balance,
  Delegation,
  FaucetResult,
  Methods,
  NetworkInfo,
  NodeStatus,
  Proposal,
  ProposalList,
  StakeDetails,
  TransactionHistory,
  TransactionInput,
  TransactionLookup,
  ValidatorList,
  Vertex,
} from "./wire/Interface.js"

/** A page of a list. */
export interface Page {
  /** At most 100; 50 by default. */
  readonly limit?: number
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string
}

export interface Shortcuts {
  /**
   * The node's current state.
   *
   * @example
   * ```ts
   * const { last_finalized_round } = await client.status()
   * ```
   */
  readonly status: () => Promise<NodeStatus>
  /**
   * The network and its parameters.
   *
   * @example
   * ```ts
   * const { network_id } = await client.network()
   * ```
   */
  readonly network: () => Promise<NetworkInfo>
  /**
   * Balance and state of an account, given by hex, bech32m or `@name`. All zeros if it has never been used.
   *
   * @example
   * ```ts
   * const { balance, next_nonce } = await client.balance("@alice")
   * ```
   */
  readonly balance: (account: string) => Promise<Balance>
  /**
   * A transaction and its outcome, by its hash.
   *
   * @example
   * ```ts
   * const { status, applied } = await client.transaction(hash)
   * ```
   */
  readonly transaction: (hash: string) => Promise<TransactionLookup>
  /**
   * The transactions that an account sent or received, newest first.
   *
   * @example
   * ```ts
   * const { transactions, next_cursor } = await client.history("@alice", { limit: 10 })
   * ```
   */
  readonly history: (account: string, page?: Page) => Promise<TransactionHistory>
  /**
   * An account's stake.
   *
   * @example
   * ```ts
   * const { staked_amount } = await client.stakeOf("@carol")
   * ```
   */
  readonly stakeOf: (account: string) => Promise<StakeDetails>
  /**
   * An account's delegation and its validator. Rejects with `DelegationNotFound` if it delegates nothing.
   *
   * @example
   * ```ts
   * const { validator } = await client.delegationOf("@alice")
   * ```
   */
  readonly delegationOf: (account: string) => Promise<Delegation>
  /**
   * All validators, largest first.
   *
   * @example
   * ```ts
   * const validators = await client.validators()
   * ```
   */
  readonly validators: () => Promise<ValidatorList>
  /**
   * All proposals, newest first.
   *
   * @example
   * ```ts
   * const proposals = await client.proposals()
   * ```
   */
  readonly proposals: () => Promise<ProposalList>
  /**
   * A proposal with its voters.
   *
   * @example
   * ```ts
   * const { title } = await client.proposal(1)
   * ```
   */
  readonly proposal: (id: number) => Promise<Proposal>
  /**
   * A vertex by its hash.
   *
   * @example
   * ```ts
   * const { round } = await client.vertex(hash)
   * ```
   */
  readonly vertex: (hash: string) => Promise<Vertex>
  /**
   * Requests free coins on a testnet, in sats. Use `waitFor` to wait until they arrive.
   *
   * @example
   * ```ts
   * const { tx_hash } = await client.faucet(alice.address, 10_000_000_000)
   * await client.waitFor(tx_hash)
   * ```
   */
  readonly faucet: (account: string, amount: number) => Promise<FaucetResult>
  /**
   * Sends a signed transaction, and resolves once the node has accepted it. `sendAndWait` waits until it is final.
   *
   * @example
   * ```ts
   * const { tx_hash } = await client.submit(signed)
   * ```
   */
  readonly submit: (transaction: TransactionInput) => Promise<Accepted>
}

export const over = ({ core, transactions, staking, delegation, governance, dag }: Methods): Shortcuts => ({
  status: () => core.status(),
  network: () => core.network(),
  balance: (address) => core.balance({ path: { address } }),
  transaction: (hash) => transactions.lookup({ path: { hash } }),
  history: (address, page = {}) => transactions.history({ path: { address }, urlParams: page }),
  stakeOf: (address) => staking.stakeOf({ path: { address } }),
  delegationOf: (address) => delegation.delegationOf({ path: { address } }),
  validators: () => staking.validators(),
  proposals: () => governance.proposals(),
  proposal: (id) => governance.proposal({ path: { id } }),
  vertex: (hash) => dag.vertex({ path: { hash } }),
  faucet: (address, amount) => core.faucet({ payload: { address, amount } }),
  submit: (payload) => transactions.submit({ payload }),
})
