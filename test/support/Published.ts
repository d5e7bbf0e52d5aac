/** The vectors and a node's responses as plain JSON, for a client that has none of our types. */
import { Schema } from "effect"

const { Array: list, Struct: struct, String: text, Number: number, Boolean: boolean, NullOr: orNull } = Schema

type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }

const json: Schema.Schema<Json> = Schema.suspend(() =>
  Schema.Union(Schema.Null, boolean, number, text, list(json), Schema.Record({ key: text, value: json })),
)
const object = Schema.Record({ key: text, value: json })
const numbers = Schema.Record({ key: text, value: number })
const mode = Schema.Literal("testnet", "mainnet")
const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

export const hashes = list(struct({ tag: text, input: text, hash: text }))

export const keys = list(
  struct({
    secret_key: text,
    pub_key: text,
    address: text,
    address_testnet: text,
    address_mainnet: text,
    signatures: list(struct({ message: text, signature: text })),
  }),
)

export const addresses = struct({
  accepted: list(struct({ network: mode, text, address: text, bech32m: text })),
  rejected: list(struct({ network: mode, text, reason: text })),
  names: struct({ accepted: list(text), rejected: list(text) }),
})

export const amounts = struct({
  formatted: list(struct({ sats: number, coin: number, text })),
  multiplied: list(struct({ a: number, b: number, c: number, floor: number })),
})

const transaction = struct({ about: text, json: object, signed_bytes: text, hash: text, encoded: text })

export const transactions = struct({ network_id: text, single_key: list(transaction), policy: list(transaction) })

export const rejectedTransactions = struct({
  network: mode,
  bytes: list(struct({ about: text, encoded: text, reason: text })),
  json: list(struct({ about: text, text, field: text, reason: text })),
})

const vertex = struct({ header: object, signed_bytes: text, hash: text, transactions: list(text), encoded: text })

export const vertices = struct({
  network_id: text,
  empty: vertex,
  with_body: vertex,
  latest: vertex,
  rejected: list(struct({ about: text, encoded: text, reason: text })),
  evidence: struct({ first: text, second: text, encoded: text }),
  heartbeat: struct({
    pub_key: text,
    commit_index: number,
    commit_hash: text,
    signature: text,
    signed_bytes: text,
    encoded: text,
  }),
})

const epochFields = {
  epoch: number,
  first_round: number,
  seed: text,
  rules: struct({
    epoch_rounds: number,
    protocol_version: number,
    collection_depth_rounds: number,
    checkpoint_interval_rounds: number,
    round_reward: number,
    halving_rounds: number,
    treasury_percent: number,
    council_percent: number,
  }),
  members: list(struct({ address: text, pub_key: text, weight: number })),
}

const checkpointFields = {
  epoch: number,
  round: number,
  commit_index: number,
  commit_hash: text,
  effects_digest: text,
  state_root: text,
  total_supply: number,
  next_epoch: orNull(struct(epochFields)),
  previous: text,
  hash: text,
}
const signatures = list(struct({ validator: text, signature: text }))
const encodings = { signed_bytes: text, encoded: text }

const checkpointVector = struct({ ...checkpointFields, ...encodings, signatures, encoded_signed: text })

export const epochs = struct({
  epoch_record: struct({ ...epochFields, last_round: number, encoded: text }),
  rewards: list(struct({ round: number, round_reward: number, coinbase: list(number) })),
  quorums: list(struct({ weight: number, total: number, is_quorum: boolean })),
  commit: struct({ index: number, epoch: number, leader_round: number, leader_hash: text, previous: text, hash: text }),
  checkpoints: Schema.Record({ key: text, value: checkpointVector }),
})

export const genesisFile = struct({
  network_id: text,
  mode,
  time: number,
  allocations: list(struct({ address: text, amount: number })),
  validators: list(struct({ pub_key: text, stake: number, commission_percent: optional(number) })),
  council: optional(list(text)),
  names: optional(list(struct({ name: text, address: text }))),
  treasury: optional(number),
  faucet: optional(orNull(struct({ address: text, max_request: number }))),
  parameters: optional(numbers),
  protocol: optional(numbers),
})

export const geneses = Schema.Record({
  key: text,
  value: struct({ file: genesisFile, written_out: genesisFile, encoded: text, hash: text }),
})

export const states = struct({
  records: list(struct({ kind: text, key: text, content: text, value: text, key_hash: text, fields: json })),
  genesis: Schema.Record({
    key: text,
    value: struct({
      genesis_hash: text,
      records: list(struct({ value: text })),
      effects_digest: text,
      state_root: text,
      checkpoint: struct({ ...checkpointFields, ...encodings }),
    }),
  }),
  commits: struct({
    genesis: text,
    commits: list(
      struct({
        index: number,
        hash: text,
        vertices: list(text),
        outcomes: list(list(Schema.Literal("NoEffect", "Applied", "Failed"))),
        changes: text,
        effects_digest: text,
        effects_digest_in_version_3: text,
        state_root: text,
      }),
    ),
  }),
})

const inclusionFields = {
  hash: text,
  vertex: text,
  headers: list(text),
  previous: text,
  commits: list(struct({ index: number, epoch: number, leader_round: number, leader_hash: text })),
}
const inclusionVector = {
  ...inclusionFields,
  checkpoint: struct({ epoch: number, commit_index: number, commit_hash: text }),
}

export const inclusion = struct({
  network_id: text,
  epoch_record: text,
  proofs: list(struct({ about: text, ...inclusionVector })),
  refused: list(struct({ reason: text, ...inclusionVector })),
})

const leaf = list(struct({ key: text, value: text }))

export const stateTrie = struct({
  tries: list(struct({ entries: leaf, root: text })),
  generated: list(struct({ records: number, root: text })),
  proofs: list(struct({ root: text, key: text, value: orNull(text), encoded: text })),
  refused_proofs: list(struct({ reason: text, root: text, key: text, encoded: text })),
  subtrees: struct({ root: text, encoded: list(text) }),
})

/** The responses that a client of the document reads. */
export const answers = {
  network: struct({ genesis_hash: text, network_id: text }),
  sent: struct({ tx_hash: text }),
  transaction: struct({
    status: text,
    round: optional(orNull(number)),
    applied: optional(orNull(boolean)),
    transaction: optional(object),
  }),
  checkpoint: struct({ ...checkpointFields, signatures }),
  proof: struct({
    record: orNull(text),
    proof: struct({ siblings: list(struct({ hash: text, records: number })), leaf }),
    checkpoint: struct({ ...checkpointFields, signatures }),
  }),
  transactionProof: struct({
    network_id: text,
    ...inclusionFields,
    checkpoint: struct({ ...checkpointFields, signatures }),
  }),
  refusal: struct({ code: text, field: optional(text) }),
}
