/** All read endpoints with their responses on a node where everything has happened once. */
import { expect } from "vitest"
import type { PromiseClient } from "../../src/client/Client.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Records from "./Records.js"
import type { Shape } from "./Shape.js"
import type { World } from "./World.js"

export interface Read {
  readonly route: string
  /** Distinguishes several requests of one route. */
  readonly of: string
  readonly path: (world: World) => string | Promise<string>
  readonly shape: (world: World) => Shape
  /** The same request through the typed client. */
  readonly typed: (client: PromiseClient, world: World) => Promise<unknown>
  /** Values fixed by the API or by this world's history. */
  readonly values?: (world: World) => object
  /** Fields that may be missing. */
  readonly optional?: ReadonlyArray<string>
}

type Accounts = World["node"]["accounts"]

const COIN = 100_000_000

const read = (
  route: string,
  of: string,
  path: string | Read["path"],
  rest: Omit<Read, "route" | "of" | "path">,
): Read => ({ route, of, path: typeof path === "string" ? () => path : path, ...rest })

/** One account in each form of its address and name. */
const named = (
  route: string,
  who: (accounts: Accounts) => { readonly address: string; readonly addressBech32: string },
  rest: Pick<Read, "shape" | "values" | "optional"> & {
    readonly typed: (client: PromiseClient, path: { readonly address: string }) => Promise<unknown>
  },
): ReadonlyArray<Read> => {
  const ways: ReadonlyArray<readonly [string, (world: World) => string]> = [
    ["hex", ({ node }) => who(node.accounts).address],
    ["upper-case hex", ({ node }) => who(node.accounts).address.toUpperCase()],
    ["bech32m", ({ node }) => who(node.accounts).addressBech32],
    ["upper-case bech32m", ({ node }) => who(node.accounts).addressBech32.toUpperCase()],
  ]
  return ways.map(([of, text]) => ({
    ...rest,
    route,
    of,
    path: (world) => route.replace(":address", text(world)),
    typed: (client, world) => rest.typed(client, { address: text(world) }),
  }))
}

const at = (round: number) => ({ path: { round: round as never } })
const hashed = (hash: string) => ({ path: { hash: hash as never } })

const core: ReadonlyArray<Read> = [
  read("/status", "the node", "/status", {
    shape: () => Records.status,
    optional: ["versions"],
    typed: (client) => client.core.status(),
    values: ({ peers }) => ({ peers, active_stakers: 2, mempool_size: 1, versions: { protocol: 3, wire: 3 } }),
  }),
  ...named("/balance/:address", ({ alice }) => alice, {
    shape: ({ node }) => Records.balance(node.prefix),
    typed: (client, path) => client.core.balance({ path }),
    values: ({ node }) => ({
      address: node.accounts.alice.address,
      address_bech32: node.accounts.alice.addressBech32,
      nonce: 5,
      next_nonce: 5,
      staked: 20_000 * COIN,
      staked_coin: 20_000,
      is_smart_account: false,
      is_council_member: false,
      name: "alice",
      exists: true,
    }),
  }),
  read("/balance/:address", "an address without an account", `/balance/${"00".repeat(20)}`, {
    shape: ({ node }) => Records.balance(node.prefix),
    typed: (client) => client.core.balance({ path: { address: "00".repeat(20) } }),
    values: () => ({ exists: false, balance: 0, nonce: 0 }),
  }),
  read("/balance/:address", "a name", "/balance/@alice", {
    shape: ({ node }) => Records.balance(node.prefix),
    typed: (client) => client.core.balance({ path: { address: "@alice" } }),
    values: ({ node }) => ({ address: node.accounts.alice.address, name: "alice" }),
  }),
  read("/balance/:address", "an escaped name", "/balance/%40alice", {
    shape: ({ node }) => Records.balance(node.prefix),
    typed: (client) => client.core.balance({ path: { address: "@alice" } }),
    values: ({ node }) => ({ address: node.accounts.alice.address }),
  }),
  read("/balance/:address", "a smart account", ({ node }) => `/balance/${node.accounts.carol.address}`, {
    shape: ({ node }) => Records.balance(node.prefix),
    typed: (client, { node }) => client.core.balance({ path: { address: node.accounts.carol.address } }),
    values: () => ({ is_smart_account: true, nonce: 2, staked: 0, name: null }),
  }),
  read(
    "/names",
    "three accounts, of which one has a name",
    ({ node }) => `/names?addresses=${node.accounts.bob.address},${node.accounts.alice.address},${"00".repeat(20)}`,
    {
      shape: () => Records.names,
      typed: (client, { node }) =>
        client.core.names({ urlParams: { addresses: `${node.accounts.bob.address},${node.accounts.alice.address}` } }),
      values: ({ node }) => ({ names: [{ address: node.accounts.alice.address, name: "alice" }] }),
    },
  ),
  read("/search", "the beginning of a transaction", ({ done }) => `/search?prefix=${done.VoteTx.slice(0, 9)}`, {
    shape: () => Records.beginning,
    typed: (client, { done }) => client.core.search({ urlParams: { prefix: done.VoteTx.slice(0, 9) } }),
    values: ({ done }) => ({ accounts: [], transactions: [done.VoteTx], vertices: [] }),
  }),
  read(
    "/search",
    "the beginning of an account",
    ({ node }) => `/search?prefix=${node.accounts.alice.address.slice(0, 12)}`,
    {
      shape: () => Records.beginning,
      typed: (client, { node }) => client.core.search({ urlParams: { prefix: node.accounts.alice.address } }),
      values: ({ node }) => ({ accounts: [node.accounts.alice.address], transactions: [], vertices: [] }),
    },
  ),
  read(
    "/search",
    "the beginning of an account as people write it",
    ({ node }) => `/search?prefix=${Address.toBech32(node.accounts.alice.address, node.prefix).slice(0, 12)}`,
    {
      shape: () => Records.beginning,
      typed: (client, { node }) =>
        client.core.search({ urlParams: { prefix: Address.toBech32(node.accounts.alice.address, node.prefix) } }),
      values: ({ node }) => ({ names: [], accounts: [node.accounts.alice.address], transactions: [], vertices: [] }),
    },
  ),
  read("/search", "the beginning of a name", "/search?prefix=@ali", {
    shape: () => Records.beginning,
    typed: (client) => client.core.search({ urlParams: { prefix: "ali" } }),
    values: ({ node }) => ({ names: [{ address: node.accounts.alice.address, name: "alice" }], accounts: [] }),
  }),
  ...named("/account/:address/policy", ({ carol }) => carol, {
    shape: () => Records.policy,
    typed: (client, path) => client.core.policy({ path }),
    values: ({ node: { accounts, keys } }) => ({
      address: accounts.carol.address,
      threshold: 2,
      keys: [keys.carol.publicKey, keys.frank.publicKey],
    }),
  }),
  read("/balance/:address", "somebody who waits", ({ node }) => `/balance/${node.accounts.erin.address}`, {
    shape: ({ node }) => Records.balance(node.prefix),
    typed: (client, { node }) => client.core.balance({ path: { address: node.accounts.erin.address } }),
    values: () => ({ nonce: 1, next_nonce: 1 }),
  }),
  read("/balance/:address", "nobody", `/balance/${"00".repeat(20)}`, {
    shape: ({ node }) => Records.balance(node.prefix),
    typed: (client) => client.core.balance({ path: { address: "00".repeat(20) } }),
    values: () => ({ balance: 0, balance_coin: 0, nonce: 0, next_nonce: 0, staked: 0, name: null }),
  }),
  read("/health", "the node", "/health", {
    shape: () => Records.health,
    typed: (client) => client.core.health(),
  }),
  read("/ready", "the node", "/ready", {
    shape: () => Records.ready,
    typed: (client) => client.core.ready(),
  }),
  read("/health/detailed", "the node", "/health/detailed", {
    shape: ({ isGateway }) => Records.healthReport(isGateway),
    typed: (client) => client.core.healthReport(),
  }),
  read("/mempool", "the node", "/mempool", {
    shape: () => Records.mempool,
    typed: (client) => client.core.mempool(),
    optional: ["to", "amount"],
    values: ({ pending, node }) => [
      {
        hash: pending,
        type: "Transfer",
        from: node.accounts.erin.address,
        to: node.accounts.bob.address,
        amount: 5,
        fee: 2_000,
        nonce: 7,
      },
    ],
  }),
  read("/peers", "the node", "/peers", {
    shape: () => Records.peers,
    typed: (client) => client.core.peers(),
    values: ({ peers }) => ({
      connected: peers,
      peers: Array.from({ length: peers }, () => expect.any(Object)),
      bootstrap_nodes: [],
    }),
  }),
  read("/network", "the node", "/network", {
    shape: ({ node }) => Records.network(node.mode, node.prefix),
    typed: (client) => client.core.network(),
    values: ({ node }) => ({ network_id: node.network.networkId, parameters: { cooldown_rounds: 1_000_000 } }),
  }),
]

const transactions: ReadonlyArray<Read> = [
  ...(
    [
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
    ] as const
  ).map(
    (type): Read => ({
      route: "/tx/:hash",
      of: `a finalized ${type}`,
      path: ({ done }) => `/tx/${done[type]}`,
      shape: () => Records.finalizedLookup,
      optional: ["memo"],
      typed: (client, { done }) => client.transactions.lookup(hashed(done[type])),
      values: ({ done, node }) => ({
        hash: done[type],
        validator: node.validator.address,
        applied: true,
        failure: null,
        proposal_id: type === "CreateProposalTx" ? 1 : null,
        transaction: { type },
      }),
    }),
  ),
  read("/tx/:hash", "one by its hash in upper case", ({ done }) => `/tx/${done.Transfer.toUpperCase()}`, {
    shape: () => Records.finalizedLookup,
    optional: ["memo"],
    typed: (client, { done }) => client.transactions.lookup(hashed(done.Transfer)),
    values: ({ done, round, vertex }) => ({
      hash: done.Transfer,
      round,
      vertex_hash: vertex,
      transaction: { memo: "for the \u{1f600}", fee: 1_000 },
    }),
  }),
  read("/tx/:hash", "one that came to nothing", ({ failed }) => `/tx/${failed}`, {
    shape: () => Records.finalizedLookup,
    optional: ["memo"],
    typed: (client, { failed }) => client.transactions.lookup(hashed(failed)),
    values: () => ({ applied: false, transaction: { type: "RegisterNameTx", name: "frank" } }),
  }),
  read("/tx/:hash", "one that waits", ({ pending }) => `/tx/${pending}`, {
    shape: () => Records.pendingLookup,
    typed: (client, { pending }) => client.transactions.lookup(hashed(pending)),
    values: ({ pending }) => ({ hash: pending, transaction: { nonce: 7 } }),
  }),
  ...named("/account/:address/transactions", ({ bob }) => bob, {
    shape: () => Records.history,
    optional: ["memo"],
    typed: (client, path) => client.transactions.history({ path }),
    values: ({ done }) => ({
      transactions: [
        { direction: "received", transaction: { amount: 1 } },
        { hash: done.UndelegateTx, direction: "sent" },
        { hash: done.DelegateTx },
        { hash: done.Transfer },
      ],
      next_cursor: null,
    }),
  }),
  read("/account/:address/transactions", "a page", "/account/@alice/transactions?limit=2", {
    shape: () => Records.history,
    optional: ["memo"],
    typed: (client) => client.transactions.history({ path: { address: "@alice" }, urlParams: { limit: 2 } }),
    values: ({ done }) => ({ transactions: [{ hash: done.VoteTx }, { hash: done.CreateProposalTx }] }),
  }),
  read("/account/:address/transactions", "one type", "/account/@alice/transactions?type=CreateProposalTx", {
    shape: () => Records.history,
    optional: ["memo"],
    typed: (client) =>
      client.transactions.history({ path: { address: "@alice" }, urlParams: { type: "CreateProposalTx" } }),
    values: ({ done }) => ({ transactions: [{ hash: done.CreateProposalTx }], next_cursor: null }),
  }),
  read("/account/:address/transactions", "what came in", "/account/@alice/transactions?direction=sent&type=VoteTx", {
    shape: () => Records.history,
    optional: ["memo"],
    typed: (client) =>
      client.transactions.history({ path: { address: "@alice" }, urlParams: { direction: "sent", type: "VoteTx" } }),
    values: ({ done }) => ({ transactions: [{ hash: done.VoteTx, direction: "sent" }], next_cursor: null }),
  }),
  read("/account/:address/transactions", "a time before any", "/account/@alice/transactions?from=0&until=1", {
    shape: () => Records.history,
    optional: ["memo"],
    typed: (client) =>
      client.transactions.history({
        path: { address: "@alice" },
        urlParams: { from: Natural.timestamp(0), until: Natural.timestamp(1) },
      }),
    values: () => ({ transactions: [], next_cursor: null }),
  }),
  read("/account/:address/transactions", "nobody", `/account/${"00".repeat(20)}/transactions`, {
    shape: () => Records.history,
    optional: ["memo"],
    typed: (client) => client.transactions.history({ path: { address: "00".repeat(20) } }),
    values: () => ({ transactions: [], next_cursor: null }),
  }),
  read("/transactions", "everybody", "/transactions", {
    shape: () => Records.latest,
    optional: ["memo"],
    typed: (client) => client.transactions.latest({ urlParams: {} }),
    values: () => ({ next_cursor: null }),
  }),
  read("/transactions", "one type", "/transactions?type=VoteTx&limit=1", {
    shape: () => Records.latest,
    optional: ["memo"],
    typed: (client) => client.transactions.latest({ urlParams: { type: "VoteTx", limit: 1 } }),
    values: ({ done }) => ({ transactions: [{ hash: done.VoteTx, transaction: { type: "VoteTx" } }] }),
  }),
  ...named("/account/:address/statement", ({ bob }) => bob, {
    shape: () => Records.statement,
    typed: (client, path) => client.transactions.statement({ path }),
    values: ({ done }) => ({
      entries: [
        { kind: "received", change: 1, amount: 1, fee: null },
        { kind: "sent", hash: done.UndelegateTx },
        { hash: done.DelegateTx },
        { hash: done.Transfer },
        { kind: "genesis" },
      ],
    }),
  }),
  read("/account/:address/statement", "a page", "/account/@alice/statement?limit=2", {
    shape: () => Records.statement,
    typed: (client) => client.transactions.statement({ path: { address: "@alice" }, urlParams: { limit: 2 } }),
    values: () => ({}),
  }),
  read("/account/:address/statement", "nobody", `/account/${"00".repeat(20)}/statement`, {
    shape: () => Records.statement,
    typed: (client) => client.transactions.statement({ path: { address: "00".repeat(20) } }),
    values: () => ({ balance: 0, entries: [], next_cursor: null }),
  }),
]

const staking: ReadonlyArray<Read> = [
  ...named("/stake/:address", ({ alice }) => alice, {
    shape: () => Records.stake,
    typed: (client, path) => client.staking.stakeOf({ path }),
    values: () => ({
      staked_amount: 20_000 * COIN,
      commission_percent: 25,
      is_active_validator: true,
      unstaking: false,
      unlock_at_round: null,
      in_committee: false,
    }),
  }),
  read("/stake/:address", "the one who makes vertices", ({ node }) => `/stake/${node.validator.addressBech32}`, {
    shape: () => Records.stake,
    typed: (client, { node }) => client.staking.stakeOf({ path: { address: node.validator.address } }),
    values: ({ node }) => ({
      address: node.validator.address,
      staked_amount: 100_000 * COIN,
      staked_coin: 100_000,
      commission_percent: 10,
      effective_stake: 100_000 * COIN,
      delegator_count: 0,
      is_active_validator: true,
      in_committee: true,
    }),
  }),
  read("/stake/:address", "somebody who leaves", ({ node }) => `/stake/${node.accounts.dave.address}`, {
    shape: () => Records.stake,
    typed: (client, { node }) => client.staking.stakeOf({ path: { address: node.accounts.dave.address } }),
    values: () => ({
      staked_amount: 3_000 * COIN,
      is_active_validator: false,
      unstaking: true,
      unlock_at_round: expect.any(Number),
    }),
  }),
  read("/stake/:address", "somebody who never staked", ({ node }) => `/stake/${node.accounts.frank.address}`, {
    shape: () => Records.stake,
    typed: (client, { node }) => client.staking.stakeOf({ path: { address: node.accounts.frank.address } }),
    values: ({ node }) => ({
      address: node.accounts.frank.address,
      staked_amount: 0,
      staked_coin: 0,
      commission_percent: 0,
      effective_stake: 0,
      delegator_count: 0,
      is_active_validator: false,
      unstaking: false,
      unlock_at_round: null,
      in_committee: false,
    }),
  }),
  read("/validators", "the network", "/validators", {
    shape: () => Records.validators,
    typed: (client) => client.staking.validators(),
    values: ({ node }) => ({
      validators: [
        { address: node.validator.address, is_active: true, in_committee: true },
        {
          address: node.accounts.alice.address,
          commission_percent: 25,
          delegator_count: 2,
          is_active: true,
          in_committee: false,
        },
        { address: node.accounts.dave.address, effective_stake: 3_000 * COIN, is_active: false },
      ],
      active_count: 2,
      max_validators: 100,
    }),
  }),
]

const delegation: ReadonlyArray<Read> = [
  ...named("/delegation/:address", ({ frank }) => frank, {
    shape: () => Records.delegation,
    typed: (client, path) => client.delegation.delegationOf({ path }),
    values: ({ node }) => ({
      delegator: node.accounts.frank.address,
      validator: node.accounts.alice.address,
      amount: 300 * COIN,
      amount_coin: 300,
      undelegating: false,
      unlock_at_round: null,
    }),
  }),
  read("/delegation/:address", "somebody who leaves", ({ node }) => `/delegation/${node.accounts.bob.address}`, {
    shape: () => Records.delegation,
    typed: (client, { node }) => client.delegation.delegationOf({ path: { address: node.accounts.bob.address } }),
    values: () => ({ amount: 500 * COIN, undelegating: true, unlock_at_round: expect.any(Number) }),
  }),
  ...named("/validator/:address/delegators", ({ alice }) => alice, {
    shape: () => Records.delegators,
    typed: (client, path) => client.delegation.delegators({ path }),
    values: ({ node }) => ({
      validator: node.accounts.alice.address,
      delegator_count: 2,
      total_delegated: 800 * COIN,
      delegators: [
        { address: node.accounts.bob.address, amount: 500 * COIN, undelegating: true },
        { address: node.accounts.frank.address, amount: 300 * COIN, undelegating: false },
      ],
    }),
  }),
  read(
    "/validator/:address/delegators",
    "a validator without any",
    ({ node }) => `/validator/${node.validator.address}/delegators`,
    {
      shape: () => Records.delegators,
      typed: (client, { node }) => client.delegation.delegators({ path: { address: node.validator.address } }),
      values: ({ node }) => ({
        validator: node.validator.address,
        delegator_count: 0,
        total_delegated: 0,
        delegators: [],
      }),
    },
  ),
  read(
    "/validator/:address/delegators",
    "no validator",
    ({ node }) => `/validator/${node.accounts.erin.address}/delegators`,
    {
      shape: () => Records.delegators,
      typed: (client, { node }) => client.delegation.delegators({ path: { address: node.accounts.erin.address } }),
      values: () => ({ delegator_count: 0, total_delegated: 0, delegators: [] }),
    },
  ),
]

const governance: ReadonlyArray<Read> = [
  read("/proposals", "the network", "/proposals", {
    shape: () => Records.proposals,
    typed: (client) => client.governance.proposals(),
    values: () => ({ count: 1, proposals: [{ id: 1, proposal_type: "ParameterChange" }] }),
  }),
  read("/proposal/:id", "the first one", "/proposal/1", {
    shape: () => Records.proposal,
    typed: (client) => client.governance.proposal({ path: { id: 1 as never } }),
    values: ({ node }) => ({
      id: 1,
      title: "Lower the minimum fee",
      description: "Transfers are cheap to serve.",
      proposal_type: "ParameterChange",
      payload: { param: "min_fee_sats", value: 500 },
      status: "Active",
      proposer: node.accounts.alice.address,
      votes_for: 20_500 * COIN,
      votes_against: 0,
      snapshot_total_stake: 120_500 * COIN,
      failure: null,
      voters: [{ address: node.accounts.alice.address, vote: "yes", weight: 20_500 * COIN }],
    }),
  }),
  ...named("/vote/1/:address", ({ alice }) => alice, {
    shape: () => Records.vote,
    typed: (client, path) => client.governance.voteOf({ path: { id: 1 as never, ...path } }),
    values: ({ node }) => ({
      proposal_id: 1,
      address: node.accounts.alice.address,
      vote: "yes",
      weight: 20_500 * COIN,
    }),
  }).map((read) => ({ ...read, route: "/vote/:id/:address" })),
  read("/vote/:id/:address", "who has not voted", ({ node }) => `/vote/1/${node.validator.address}`, {
    shape: () => Records.vote,
    typed: (client, { node }) =>
      client.governance.voteOf({ path: { id: 1 as never, address: node.validator.address } }),
    values: () => ({ vote: null, weight: 100_000 * COIN }),
  }),
  read("/vote/:id/:address", "who cannot vote", ({ node }) => `/vote/1/${node.accounts.erin.address}`, {
    shape: () => Records.vote,
    typed: (client, { node }) =>
      client.governance.voteOf({ path: { id: 1 as never, address: node.accounts.erin.address } }),
    values: () => ({ vote: null, weight: 0 }),
  }),
  read("/governance/config", "the network", "/governance/config", {
    shape: () => Records.governanceConfig,
    typed: (client) => client.governance.config(),
    values: () => ({ cooldown_rounds: 1_000_000, quorum_percent: 10, slash_percent: 50 }),
  }),
]

const dag: ReadonlyArray<Read> = [
  read("/round/:round", "a round with a vertex", ({ round }) => `/round/${round}`, {
    shape: () => Records.round,
    typed: (client, { round }) => client.dag.round(at(round)),
    values: ({ round, vertex, node }) => ({
      round,
      finalized: true,
      vertices: [{ hash: vertex, validator: node.validator.address, reward: 2_000_000 }],
    }),
  }),
  read("/round/:round", "the genesis round", "/round/0", {
    shape: () => Records.round,
    typed: (client) => client.dag.round(at(0)),
    values: () => ({ round: 0, timestamp: null, finalized: true, vertices: [] }),
  }),
  read("/vertex/:hash", "a vertex with a transaction", ({ vertex }) => `/vertex/${vertex}`, {
    shape: () => Records.vertex,
    typed: (client, { vertex }) => client.dag.vertex(hashed(vertex)),
    values: ({ vertex, round, node }) => ({
      hash: vertex,
      round,
      validator: node.validator.address,
      coinbase_reward: 2_000_000,
      finalized: true,
    }),
  }),
  read(
    "/vertex/:hash",
    "a vertex with a transaction that had no effect",
    ({ withoutEffect }) => `/vertex/${withoutEffect.vertex}`,
    {
      shape: () => Records.vertex,
      typed: (client, { withoutEffect }) => client.dag.vertex(hashed(withoutEffect.vertex)),
      values: ({ withoutEffect, done }) => ({
        transactions: expect.arrayContaining([
          expect.objectContaining({ hash: done.SetAccountPolicyTx, outcome: "applied" }),
          expect.objectContaining({ hash: withoutEffect.hash, outcome: "no effect" }),
        ]),
      }),
    },
  ),
]

const stretches: ReadonlyArray<Read> = [
  read("/dag", "the latest rounds", "/dag", {
    shape: () => Records.columns,
    typed: (client) => client.dag.columns({ urlParams: {} }),
    values: ({ node }) => ({ validators: [node.validator.address] }),
  }),
  read("/dag", "one round", ({ round }) => `/dag?from=${round}&rounds=1`, {
    shape: () => Records.columns,
    typed: (client, { round }) => client.dag.columns({ urlParams: { from: at(round).path.round, rounds: 1 } }),
    values: ({ round, vertex }) => ({
      columns: [
        { round, finalized: true, vertices: [{ hash: vertex, validator: 0, commit_index: expect.any(Number) }] },
      ],
    }),
  }),
]

/** The root of a state trie. */
const TOP = "00".repeat(33)

/** The root of the latest closed epoch's state. Epochs last seconds here, and a node keeps two such states. */
const lastClosed = async ({ checkpoints }: PromiseClient): Promise<string> => {
  const [last] = (await checkpoints.list({ urlParams: { closing: "only", limit: 1 } })).checkpoints
  if (last === undefined) throw new Error("no epoch has closed")
  return (await checkpoints.closing({ path: { epoch: last.epoch as never } })).state_root
}

const checkpoints: ReadonlyArray<Read> = [
  read("/checkpoint/latest", "the network", "/checkpoint/latest", {
    shape: () => Records.checkpoint,
    typed: (client) => client.checkpoints.latest(),
    values: ({ node }) => ({ signatures: [{ validator: node.validator.address }] }),
  }),
  read("/checkpoints", "those that closed epochs", "/checkpoints?closing=only&limit=1", {
    shape: () => Records.checkpoints,
    typed: (client) => client.checkpoints.list({ urlParams: { closing: "only", limit: 1 } }),
    values: () => ({ checkpoints: [{ closes_epoch: true }] }),
  }),
  read("/checkpoints", "before a round", ({ checkpoint }) => `/checkpoints?before=${checkpoint}`, {
    shape: () => Records.checkpoints,
    typed: (client, { checkpoint }) => client.checkpoints.list({ urlParams: { before: Natural.round(checkpoint) } }),
    values: () => ({}),
  }),
  read("/checkpoint/:round", "one by its round", ({ checkpoint }) => `/checkpoint/${checkpoint}`, {
    shape: () => Records.checkpoint,
    typed: (client, { checkpoint }) => client.checkpoints.checkpoint(at(checkpoint)),
    values: ({ checkpoint }) => ({ round: checkpoint }),
  }),
  read(
    "/checkpoint/hash/:hash",
    "the one that closed the first epoch",
    ({ firstClose }) => `/checkpoint/hash/${firstClose}`,
    {
      shape: () => Records.checkpoint,
      typed: (client, { firstClose }) => client.checkpoints.byHash(hashed(firstClose)),
      values: ({ firstClose }) => ({ hash: firstClose, epoch: 1, next_epoch: { epoch: 2 } }),
    },
  ),
  read("/checkpoint/epoch/:epoch", "the first epoch", "/checkpoint/epoch/1", {
    shape: () => Records.checkpoint,
    typed: (client) => client.checkpoints.closing({ path: { epoch: 1 as never } }),
    values: ({ firstClose }) => ({ hash: firstClose, epoch: 1 }),
  }),
  read(
    "/state/:root/:position",
    "the whole state",
    async ({ node }) => `/state/${await lastClosed(node.client)}/${TOP}`,
    {
      shape: () => Records.statePiece,
      typed: async (client, { node }) =>
        client.checkpoints.state({ path: { root: (await lastClosed(node.client)) as never, position: TOP } }),
      values: () => ({ piece: expect.stringMatching(/^00{64}/) }),
    },
  ),
  read("/proof/tx/:hash", "a transfer", ({ done }) => `/proof/tx/${done.Transfer}`, {
    shape: () => Records.transactionProof,
    typed: (client, { done }) => client.checkpoints.transactionProof(hashed(done.Transfer)),
    values: ({ done }) => ({ hash: done.Transfer }),
  }),
  read("/proof/tx/:hash", "one of which only the fee was taken", ({ failed }) => `/proof/tx/${failed}`, {
    shape: () => Records.transactionProof,
    typed: (client, { failed }) => client.checkpoints.transactionProof(hashed(failed)),
    values: ({ failed }) => ({ hash: failed }),
  }),
  ...named("/proof/:address", ({ bob }) => bob, {
    shape: () => Records.proof,
    typed: (client, path) => client.checkpoints.proof({ path }),
    values: ({ node }) => ({ address: node.accounts.bob.address }),
  }),
  read("/proof/:address", "nobody", `/proof/${"00".repeat(20)}`, {
    shape: () => Records.proof,
    typed: (client) => client.checkpoints.proof({ path: { address: "00".repeat(20) } }),
    values: () => ({ record: null }),
  }),
]

const monitoring: ReadonlyArray<Read> = [
  read("/metrics/json", "the node", "/metrics/json", {
    shape: () => Records.metrics,
    typed: (client) => client.monitoring.metricsJson(),
    values: ({ peers }) => ({ peer_count: peers, active_validators: 2, mempool_size: 1 }),
  }),
  read("/metrics/history", "an hour", "/metrics/history", {
    shape: () => Records.metricsHistory("hour", 1_000),
    typed: (client) => client.monitoring.history({ urlParams: {} }),
  }),
  read(
    "/metrics/history",
    "a year, since the end of time",
    `/metrics/history?range=year&since=${Number.MAX_SAFE_INTEGER}`,
    {
      shape: () => Records.metricsHistory("year", 3_600_000),
      typed: (client) => client.monitoring.history({ urlParams: { range: "year" } }),
      values: () => ({ at: [], rounds: [], total_supply: [] }),
    },
  ),
  read("/metrics/validators", "a day", "/metrics/validators?range=day", {
    shape: () => Records.attendance,
    typed: (client) => client.monitoring.attendance({ urlParams: { range: "day" } }),
    values: () => ({ range: "day" }),
  }),
  ...named("/validator/:address/rounds", ({ alice }) => alice, {
    shape: () => Records.validatorRounds,
    typed: (client, path) => client.monitoring.validatorRounds({ path, urlParams: {} }),
    values: ({ node }) => ({ validator: node.accounts.alice.address, range: "hour", step_ms: 60_000 }),
  }),
]

const FIRST_MOMENT = 0

/** Reads that only a gateway answers, from an archive. */
export const archived: ReadonlyArray<Read> = [
  ...named("/account/:address/balances", ({ alice }) => alice, {
    shape: () => Records.balances,
    typed: (client, path) => client.archive.balances({ path, urlParams: {} }),
    values: ({ node }) => ({ address: node.accounts.alice.address, next_commit: null }),
  }),
  read("/account/:address/balances", "the beginning", "/account/@alice/balances?commit=0", {
    shape: () => Records.balances,
    typed: (client) =>
      client.archive.balances({ path: { address: "@alice" }, urlParams: { commit: Natural.commitIndex(0) } }),
    values: () => ({ balances: [{ commit: 0, balance: 100_000 * COIN, nonce: 0 }], next_commit: null }),
  }),
  read("/accounts", "the richest", "/accounts?limit=1", {
    shape: () => Records.richest,
    typed: (client) => client.archive.richest({ urlParams: { limit: 1 } }),
    values: () => ({ accounts: [{ name: null, balance: 5_000_000 * COIN }] }),
  }),
  read("/statistics", "every hour", "/statistics?interval=hour", {
    shape: () => Records.statistics,
    typed: (client) => client.archive.statistics({ urlParams: { interval: "hour" } }),
  }),
  read("/transactions", "words in a memo", "/transactions?words=the", {
    shape: () => Records.latest,
    typed: (client) => client.transactions.latest({ urlParams: { words: "the" } }),
    values: ({ done }) => ({ transactions: [{ hash: done.CreateProposalTx }, { hash: done.Transfer }] }),
    optional: ["memo"],
  }),
  read("/transactions", "a type and a time", `/transactions?type=VoteTx&from=${FIRST_MOMENT}`, {
    shape: () => Records.latest,
    optional: ["memo"],
    typed: (client) =>
      client.transactions.latest({ urlParams: { type: "VoteTx", from: Natural.timestamp(FIRST_MOMENT) } }),
    values: ({ done }) => ({ transactions: [{ hash: done.VoteTx }], next_cursor: null }),
  }),
]

export const reads: ReadonlyArray<Read> = [
  ...core,
  ...transactions,
  ...staking,
  ...delegation,
  ...governance,
  ...dag,
  ...stretches,
  ...checkpoints,
  ...monitoring,
]
