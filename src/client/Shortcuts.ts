/** The questions that programs ask most, as plain calls. `client.core.balance({ path: … })` and its like are all there is. */
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
  /** The `next_cursor` of the page before. */
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
   * Which network this is, and its parameters.
   *
   * @example
   * ```ts
   * const { network_id } = await client.network()
   * ```
   */
  readonly network: () => Promise<NetworkInfo>
  /**
   * Balance and state of an account, by hex, bech32m or `@name`. All zeros if it has never been used.
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
   * What an account sent and received, newest first.
   *
   * @example
   * ```ts
   * const { transactions, next_cursor } = await client.history("@alice", { limit: 10 })
   * ```
   */
  readonly history: (account: string, page?: Page) => Promise<TransactionHistory>
  /**
   * What an account has staked.
   *
   * @example
   * ```ts
   * const { amount } = await client.stakeOf("@carol")
   * ```
   */
  readonly stakeOf: (account: string) => Promise<StakeDetails>
  /**
   * What an account delegates, and to whom. Rejects with `DelegationNotFound` if it delegates nothing.
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
   * Free coins on a testnet, in sats. `waitFor` waits until they are there.
   *
   * @example
   * ```ts
   * const { tx_hash } = await client.faucet(alice.address, 10_000_000_000)
   * await client.waitFor(tx_hash)
   * ```
   */
  readonly faucet: (account: string, amount: number) => Promise<FaucetResult>
  /**
   * Sends a signed transaction, and returns once the node has accepted it. `sendAndWait` waits until it is final.
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
