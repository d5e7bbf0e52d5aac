/**
 * The bodies of the API, written by hand rather than derived from `src`: a field that the code renames, omits or adds
 * shows here.
 */
import type { Shape } from "./Shape.js"
import * as Is from "./Shape.js"

export const status = Is.record(
  {
    dag_round: Is.integer,
    last_finalized_round: Is.integer,
    peers: Is.integer,
    total_supply: Is.integer,
    total_supply_coin: Is.coinsOf("total_supply"),
    total_staked: Is.integer,
    active_stakers: Is.integer,
    mempool_size: Is.integer,
    dag_vertices: Is.integer,
  },
  {
    versions: Is.record({ program: Is.words, protocol: Is.integer, wire: Is.integer, database: Is.integer }),
  },
)

export const balance = (prefix: string): Shape =>
  Is.record({
    address: Is.hex20,
    address_bech32: Is.bech32(prefix),
    balance: Is.integer,
    balance_coin: Is.coinsOf("balance"),
    nonce: Is.integer,
    staked: Is.integer,
    staked_coin: Is.coinsOf("staked"),
    is_council_member: Is.boolean,
    is_smart_account: Is.boolean,
    exists: Is.boolean,
    next_nonce: Is.integer,
    name: Is.nullable(Is.words),
  })

export const health = Is.record({ status: Is.exactly("ok") })

export const ready = Is.record({ status: Is.exactly("ready") })

const healthStatus = Is.exactly("healthy", "warning", "unhealthy", "degraded")

const archiveHealth = Is.record({ status: healthStatus, finalized_round: Is.integer, lag: Is.integer })

export const healthReport = (isGateway: boolean): Shape =>
  Is.record({
    status: healthStatus,
    components: Is.record({
      ...(isGateway ? { archive: archiveHealth } : {}),
      dag: Is.record({ status: healthStatus, round: Is.integer, vertices: Is.integer }),
      finality: Is.record({ status: healthStatus, finalized_round: Is.integer, lag: Is.integer }),
      state: Is.record({
        status: healthStatus,
        accounts: Is.integer,
        total_supply: Is.integer,
        supply: Is.sameAs("total_supply"),
      }),
      mempool: Is.record({ status: healthStatus, size: Is.integer, capacity: Is.exactly(10_000) }),
      network: Is.record({ status: healthStatus, peers: Is.integer }),
      checkpoints: Is.record({ status: healthStatus, latest_round: Is.integer }),
    }),
    problems: Is.list(
      Is.record({
        component: Is.words,
        status: healthStatus,
        reason: Is.words,
        since: Is.integer,
        page: Is.words,
      }),
    ),
  })

export const keypair = (prefix: string): Shape =>
  Is.record({ address: Is.hex20, address_bech32: Is.bech32(prefix), secret_key: Is.hex32, warning: Is.words })

export const faucetResult = Is.record({
  tx_hash: Is.hex32,
  amount: Is.integer,
  amount_coin: Is.coinsOf("amount"),
  message: Is.words,
})

export const transactionType = Is.exactly(
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
  "RotateKeyTx",
)

export const mempool = Is.list(
  Is.record(
    {
      hash: Is.hex32,
      type: transactionType,
      from: Is.hex20,
      fee: Is.integer,
      nonce: Is.integer,
      received_at: Is.timestamp,
    },
    { to: Is.hex20, amount: Is.integer },
  ),
  { most: 100 },
)

export const peers = Is.record({
  connected: Is.integer,
  peers: Is.list(
    Is.record({
      id: Is.words,
      address: Is.words,
      direction: Is.exactly("inbound", "outbound"),
      agent: Is.text,
      latency_ms: Is.nullable(Is.decimal),
      connected_since: Is.timestamp,
    }),
  ),
  bootstrap_nodes: Is.list(Is.record({ address: Is.words, connected: Is.boolean })),
})

const parameterFields = {
  min_fee_sats: Is.integer,
  name_fee_sats: Is.integer,
  account_fee_sats: Is.integer,
  min_delegation_sats: Is.integer,
  min_stake_to_propose_sats: Is.integer,
  cooldown_rounds: Is.integer,
  voting_period_rounds: Is.integer,
  execution_delay_rounds: Is.integer,
  quorum_percent: Is.integer,
  approval_percent: Is.integer,
  max_active_proposals: Is.integer,
  treasury_percent: Is.integer,
  council_percent: Is.integer,
  slash_percent: Is.integer,
  checkpoint_interval_rounds: Is.integer,
  proposal_bond_sats: Is.integer,
  max_active_per_proposer: Is.integer,
}

const governableNames = [...Object.keys(parameterFields), "protocol_version"]

export const network = (mode: string, prefix: string): Shape =>
  Is.record({
    network_id: Is.words,
    genesis_hash: Is.hex32,
    mode: Is.exactly(mode),
    address_prefix: Is.exactly(prefix),
    version: Is.words,
    has_archive: Is.boolean,
    parameters: Is.record({
      ...parameterFields,
      round_interval_ms: Is.integer,
      epoch_rounds: Is.integer,
      collection_depth_rounds: Is.integer,
      round_reward: Is.integer,
      halving_rounds: Is.integer,
      default_commission_percent: Is.integer,
      min_stake_sats: Is.exactly(200_000_000_000),
      faucet_max_sats: Is.nullable(Is.integer),
    }),
  })

export const accepted = Is.record({ tx_hash: Is.hex32, status: Is.exactly("accepted"), nonce: Is.integer })

export const acceptedInArray = Is.record({
  status_code: Is.exactly(200),
  tx_hash: Is.hex32,
  status: Is.exactly("accepted"),
  nonce: Is.integer,
})

const proposalTypeObject = Is.either(
  Is.record({ Text: Is.record({}) }),
  Is.record({ ParameterChange: Is.record({ param: Is.words, value: Is.integer }) }),
  Is.record({ CouncilMembership: Is.record({ action: Is.exactly("add", "remove"), address: Is.hex20 }) }),
  Is.record({ TreasurySpend: Is.record({ recipient: Is.hex20, amount: Is.integer }) }),
)

const single = { pub_key: Is.hex32, signature: Is.hex64 }
const several = { signatures: Is.list(Is.record({ pub_key: Is.hex32, signature: Is.hex64 }), { least: 1, most: 16 }) }

const ofType = (type: string, fields: Readonly<Record<string, Shape>>, maybe: Readonly<Record<string, Shape>> = {}) => {
  const all = { type: Is.exactly(type), from: Is.hex20, fee: Is.integer, nonce: Is.integer, ...fields }
  return [Is.record({ ...all, ...single }, maybe), Is.record({ ...all, ...several }, maybe)]
}

/** A transaction in canonical form: all fields of its type, and no others. */
export const transaction = Is.either(
  ...ofType("Transfer", { to: Is.hex20, amount: Is.integer }, { memo: Is.words }),
  ...ofType("StakeTx", { amount: Is.integer }),
  ...ofType("UnstakeTx", {}),
  ...ofType("DelegateTx", { validator: Is.hex20, amount: Is.integer }),
  ...ofType("UndelegateTx", {}),
  ...ofType("SetCommissionTx", { commission_percent: Is.integer }),
  ...ofType("CreateProposalTx", { title: Is.words, description: Is.text, proposal_type: proposalTypeObject }),
  ...ofType("VoteTx", { proposal_id: Is.integer, vote: Is.boolean }),
  ...ofType("RegisterNameTx", { name: Is.words }),
  ...ofType("SetAccountPolicyTx", { threshold: Is.integer, keys: Is.list(Is.hex32, { least: 1, most: 16 }) }),
  ...ofType("RotateKeyTx", { validator_key: Is.hex32, proof: Is.hex64 }),
)

const finalizedFields = {
  hash: Is.hex32,
  status: Is.exactly("finalized"),
  round: Is.integer,
  vertex_hash: Is.hex32,
  validator: Is.hex20,
  applied: Is.boolean,
  failure: Is.nullable(Is.words),
  proposal_id: Is.nullable(Is.integer),
  timestamp: Is.timestamp,
  transaction,
}

export const finalizedLookup = Is.record(finalizedFields)

export const pendingLookup = Is.record({
  hash: Is.hex32,
  status: Is.exactly("pending"),
  round: Is.exactly(null),
  vertex_hash: Is.exactly(null),
  validator: Is.exactly(null),
  applied: Is.exactly(null),
  failure: Is.exactly(null),
  proposal_id: Is.exactly(null),
  timestamp: Is.exactly(null),
  transaction,
})

export const history = Is.record({
  transactions: Is.list(Is.record({ ...finalizedFields, direction: Is.exactly("sent", "received") }), { most: 100 }),
  next_cursor: Is.nullable(Is.words),
})

/** A change of a balance. Slashed amounts and failed transfers to the account change nothing. */
const statementEntry = Is.record({
  kind: Is.exactly(
    ...["sent", "received", "genesis", "reward", "fees", "council", "treasury_payment", "bond_returned"],
    ...["stake_released", "delegation_released", "stake_slashed", "delegations_slashed"],
  ),
  change: Is.value("an integer", Number.isSafeInteger),
  amount: Is.integer,
  fee: Is.nullable(Is.integer),
  type: Is.nullable(Is.words),
  hash: Is.nullable(Is.hex32),
  counterparty: Is.nullable(Is.hex20),
  applied: Is.nullable(Is.boolean),
  proposal_id: Is.nullable(Is.integer),
  memo: Is.nullable(Is.words),
  round: Is.integer,
  since: Is.nullable(Is.timestamp),
  timestamp: Is.timestamp,
})

export const statement = Is.record({
  address: Is.hex20,
  balance: Is.integer,
  entries: Is.list(statementEntry, { most: 100 }),
  next_cursor: Is.nullable(Is.words),
})

export const latest = Is.record({
  transactions: Is.list(Is.record(finalizedFields), { most: 100 }),
  next_cursor: Is.nullable(Is.words),
})

export const names = Is.record({ names: Is.list(Is.record({ address: Is.hex20, name: Is.words }), { most: 100 }) })

export const stake = Is.record({
  address: Is.hex20,
  staked_amount: Is.integer,
  staked_coin: Is.coinsOf("staked_amount"),
  commission_percent: Is.integer,
  effective_stake: Is.integer,
  delegator_count: Is.integer,
  is_active_validator: Is.boolean,
  unstaking: Is.boolean,
  unlock_at_round: Is.nullable(Is.integer),
  in_committee: Is.boolean,
})

export const validators = Is.record({
  validators: Is.list(
    Is.record({
      address: Is.hex20,
      effective_stake: Is.integer,
      commission_percent: Is.integer,
      delegator_count: Is.integer,
      is_active: Is.boolean,
      in_committee: Is.boolean,
    }),
    { least: 1, most: 500 },
  ),
  total_staked: Is.integer,
  active_count: Is.integer,
  max_validators: Is.exactly(100),
})

export const policy = Is.record({
  address: Is.hex20,
  threshold: Is.integer,
  keys: Is.list(Is.hex32, { least: 1, most: 16 }),
})

export const delegation = Is.record({
  delegator: Is.hex20,
  validator: Is.hex20,
  amount: Is.integer,
  amount_coin: Is.coinsOf("amount"),
  undelegating: Is.boolean,
  unlock_at_round: Is.nullable(Is.integer),
})

export const delegators = Is.record({
  validator: Is.hex20,
  delegator_count: Is.integer,
  total_delegated: Is.integer,
  delegators: Is.list(
    Is.record({
      address: Is.hex20,
      amount: Is.integer,
      amount_coin: Is.coinsOf("amount"),
      undelegating: Is.boolean,
    }),
    { most: 500 },
  ),
})

const proposalPayload = Is.either(
  Is.record({}),
  Is.record({ param: Is.words, value: Is.integer }),
  Is.record({ action: Is.exactly("add", "remove"), address: Is.hex20 }),
  Is.record({ recipient: Is.hex20, amount: Is.integer }),
)

const proposalFields = {
  id: Is.integer,
  title: Is.words,
  description: Is.text,
  proposal_type: Is.exactly("Text", "ParameterChange", "CouncilMembership", "TreasurySpend"),
  payload: proposalPayload,
  status: Is.exactly("Active", "Passed", "Rejected", "Executed", "Failed"),
  proposer: Is.hex20,
  votes_for: Is.integer,
  votes_against: Is.integer,
  snapshot_total_stake: Is.integer,
  created_at_round: Is.integer,
  voting_ends_at_round: Is.integer,
  executes_at_round: Is.integer,
  failure: Is.nullable(Is.words),
  texts_pruned: Is.boolean,
  tx_hash: Is.hex32,
  bond: Is.integer,
  bond_status: Is.exactly("held", "returned", "forfeited"),
}

export const proposal = Is.record({
  ...proposalFields,
  voters: Is.list(Is.record({ address: Is.hex20, vote: Is.exactly("yes", "no"), weight: Is.integer })),
})

export const proposals = Is.record({
  count: Is.integer,
  proposals: Is.list(Is.record(proposalFields), { most: 200 }),
})

export const vote = Is.record({
  proposal_id: Is.integer,
  address: Is.hex20,
  vote: Is.exactly("yes", "no", null),
  weight: Is.integer,
})

export const governanceConfig = Is.record({
  ...parameterFields,
  protocol_version: Is.integer,
  governable_params: Is.list(
    Is.record({ name: Is.exactly(...governableNames), value: Is.integer, min: Is.integer, max: Is.integer }),
    { least: governableNames.length, most: governableNames.length },
  ),
})

export const round = Is.record({
  round: Is.integer,
  timestamp: Is.nullable(Is.timestamp),
  finalized: Is.boolean,
  vertices: Is.list(
    Is.record({
      hash: Is.hex32,
      validator: Is.hex20,
      reward: Is.integer,
      tx_count: Is.integer,
      parent_count: Is.integer,
    }),
  ),
})

export const vertex = Is.record({
  hash: Is.hex32,
  round: Is.integer,
  validator: Is.hex20,
  parent_count: Is.integer,
  parents: Is.list(Is.hex32),
  coinbase_reward: Is.integer,
  timestamp: Is.timestamp,
  finalized: Is.boolean,
  transactions: Is.list(
    Is.record({
      type: transactionType,
      hash: Is.hex32,
      fee: Is.integer,
      outcome: Is.exactly("applied", "failed", "no effect", null),
    }),
  ),
})

export const columns = Is.record({
  dag_round: Is.integer,
  finalized_round: Is.integer,
  validators: Is.list(Is.hex20),
  columns: Is.list(
    Is.record({
      round: Is.integer,
      epoch: Is.integer,
      timestamp: Is.nullable(Is.timestamp),
      finalized: Is.boolean,
      leader: Is.nullable(
        Is.record({ validator: Is.integer, verdict: Is.exactly("undecided", "committed", "skipped") }),
      ),
      vertices: Is.list(
        Is.record({
          hash: Is.hex32,
          validator: Is.integer,
          tx_count: Is.integer,
          commit_index: Is.nullable(Is.integer),
          parents: Is.list(Is.integer),
          older_parents: Is.list(Is.record({ round: Is.integer, validator: Is.integer })),
        }),
      ),
    }),
    { least: 1, most: 120 },
  ),
})

const epochRecord = Is.record({
  epoch: Is.integer,
  first_round: Is.integer,
  seed: Is.hex32,
  rules: Is.record({
    epoch_rounds: Is.integer,
    protocol_version: Is.integer,
    collection_depth_rounds: Is.integer,
    checkpoint_interval_rounds: Is.integer,
    round_reward: Is.integer,
    halving_rounds: Is.integer,
    treasury_percent: Is.integer,
    council_percent: Is.integer,
  }),
  members: Is.list(Is.record({ address: Is.hex20, pub_key: Is.hex32, weight: Is.integer }), { least: 1, most: 100 }),
})

export const checkpoint = Is.record({
  epoch: Is.integer,
  round: Is.integer,
  commit_index: Is.integer,
  commit_hash: Is.hex32,
  effects_digest: Is.hex32,
  state_root: Is.hex32,
  total_supply: Is.integer,
  next_epoch: Is.nullable(epochRecord),
  previous: Is.hex32,
  hash: Is.hex32,
  signatures: Is.list(Is.record({ validator: Is.hex20, signature: Is.hex64 }), { least: 1, most: 100 }),
})

export const proof = Is.record({
  address: Is.hex20,
  key: Is.hex32,
  record: Is.nullable(Is.hex),
  proof: Is.record({
    siblings: Is.list(Is.record({ hash: Is.hex32, records: Is.integer })),
    leaf: Is.list(Is.record({ key: Is.hex32, value: Is.hex })),
  }),
  checkpoint,
})

export const statePiece = Is.record({ state_root: Is.hex32, piece: Is.hex })

export const transactionProof = Is.record({
  hash: Is.hex32,
  network_id: Is.text,
  vertex: Is.hex,
  headers: Is.list(Is.hex, { most: 64 }),
  previous: Is.hex32,
  commits: Is.list(
    Is.record({ index: Is.integer, epoch: Is.integer, leader_round: Is.integer, leader_hash: Is.hex32 }),
    { least: 1, most: 10_001 },
  ),
  checkpoint,
})

export const metrics = Is.record({
  dag_round: Is.integer,
  finalized_round: Is.integer,
  finality_lag: Is.integer,
  peer_count: Is.integer,
  mempool_size: Is.integer,
  total_supply: Is.integer,
  total_staked: Is.integer,
  active_validators: Is.integer,
  checkpoint_latest: Is.integer,
  uptime_seconds: Is.integer,
})

export const checkpoints = Is.record({
  checkpoints: Is.list(
    Is.record({
      epoch: Is.integer,
      round: Is.integer,
      commit_index: Is.integer,
      hash: Is.hex32,
      closes_epoch: Is.boolean,
      members: Is.nullable(Is.integer),
      total_supply: Is.integer,
      signatures: Is.integer,
      timestamp: Is.nullable(Is.timestamp),
    }),
    { most: 100 },
  ),
  next_round: Is.nullable(Is.integer),
})

export const beginning = Is.record({
  names: Is.list(Is.record({ address: Is.hex20, name: Is.words })),
  accounts: Is.list(Is.hex20),
  transactions: Is.list(Is.hex32),
  vertices: Is.list(Is.hex32),
})

const range = Is.exactly("hour", "day", "year")

/** All lists have the same length, which a shape cannot express: `MetricsHistory.test.ts` checks it. */
export const metricsHistory = (of: string, stepMs: number): Shape =>
  Is.record({
    range: Is.exactly(of),
    step_ms: Is.exactly(stepMs),
    at: Is.list(Is.timestamp),
    measured_ms: Is.list(Is.integer),
    transactions: Is.list(Is.integer),
    rounds: Is.list(Is.integer),
    fees: Is.list(Is.integer),
    finality_ms: Is.list(Is.nullable(Is.integer)),
    total_supply: Is.list(Is.integer),
    total_staked: Is.list(Is.integer),
    mempool_size: Is.list(Is.integer),
  })

export const attendance = Is.record({
  range,
  since: Is.nullable(Is.timestamp),
  validators: Is.list(Is.record({ address: Is.hex20, made: Is.integer, missed: Is.integer })),
})

export const validatorRounds = Is.record({
  validator: Is.hex20,
  range,
  step_ms: Is.integer,
  at: Is.list(Is.timestamp),
  made: Is.list(Is.integer),
  missed: Is.list(Is.integer),
  delegators: Is.list(Is.nullable(Is.integer)),
  delegated: Is.list(Is.nullable(Is.integer)),
})

/** An error: its code, one line for people, and further fields. */
export const failure = (code: string, more: Readonly<Record<string, Shape>> = {}): Shape =>
  Is.record({ code: Is.exactly(code), error: Is.words, ...more })

// Responses that need an archive.

export const balances = Is.record({
  address: Is.hex20,
  balances: Is.list(
    Is.record({ commit: Is.integer, timestamp: Is.timestamp, balance: Is.integer, nonce: Is.integer }),
    { most: 100 },
  ),
  next_commit: Is.nullable(Is.integer),
})

export const richest = Is.record({
  accounts: Is.list(Is.record({ address: Is.hex20, name: Is.nullable(Is.words), balance: Is.integer }), { most: 100 }),
  next_cursor: Is.nullable(Is.words),
})

export const statistics = Is.record({
  statistics: Is.list(
    Is.record({
      timestamp: Is.integer,
      commits: Is.integer,
      vertices: Is.integer,
      transactions: Is.integer,
      failed: Is.integer,
      fees: Is.integer,
      total_supply: Is.integer,
    }),
    { least: 1, most: 500 },
  ),
})
