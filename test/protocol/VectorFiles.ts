/** The fields of the files in docs/vectors, as documented; a missing or extra field fails. */
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { Schema } from "effect"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Keys from "../../src/protocol/identity/Keys.js"
import * as Network from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"

const { Array: list, Struct: struct, String: text, Number: number } = Schema

const round = Natural.schema<Natural.Round>("a round")
const epoch = Natural.schema<Natural.Epoch>("an epoch")
const commitIndex = Natural.schema<Natural.CommitIndex>("the index of a commit")
const json = Schema.Record({ key: text, value: Schema.Unknown })

const proof = struct({ pub_key: Keys.PublicKey, signature: Keys.Signature })

const transaction = <A extends Schema.Struct.Fields>(signed: A) =>
  struct({
    about: text,
    /** The form of the HTTP API, of whatever type. */
    json: struct({ type: text, ...signed }, json),
    signed_bytes: text,
    hash: Hash.schema,
    encoded: text,
  })

const genesis = struct({ file: json, written_out: json, encoded: text, hash: Hash.schema })

const vertex = struct({
  header: struct({
    base: Hash.schema,
    epoch,
    round,
    pub_key: Keys.PublicKey,
    author: Address.schema,
    parents: list(struct({ round, author: Address.schema, hash: Hash.schema })),
    timestamp: Natural.time("a time"),
    coinbase: Sats.schema,
    body_hash: Hash.schema,
    signature: Keys.Signature,
  }),
  signed_bytes: text,
  hash: Hash.schema,
  encoded_header: text,
  transactions: list(Hash.schema),
  encoded: text,
})

const epochRecord = {
  epoch,
  first_round: round,
  seed: Hash.schema,
  rules: struct({
    epoch_rounds: number,
    protocol_version: number,
    collection_depth_rounds: number,
    checkpoint_interval_rounds: number,
    round_reward: Sats.schema,
    halving_rounds: number,
    treasury_percent: number,
    council_percent: number,
  }),
  members: list(struct({ address: Address.schema, pub_key: Keys.PublicKey, weight: Sats.schema })),
}

const checkpoint = struct({
  epoch,
  round,
  commit_index: commitIndex,
  commit_hash: Hash.schema,
  effects_digest: Hash.schema,
  state_root: Hash.schema,
  total_supply: Sats.schema,
  next_epoch: Schema.NullOr(struct(epochRecord)),
  previous: Hash.schema,
  signed_bytes: text,
  hash: Hash.schema,
  encoded: text,
  signatures: list(struct({ validator: Address.schema, signature: Keys.Signature })),
  encoded_signed: text,
})

const read = <A, I>(file: string, schema: Schema.Schema<A, I>): A => {
  const path = join(resolve(import.meta.dirname, "../../docs/vectors"), file)
  return Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })(JSON.parse(readFileSync(path, "utf8")))
}

const TAGS = [
  "udg/address",
  "udg/body",
  "udg/checkpoint-id",
  "udg/commit",
  "udg/genesis",
  "udg/leader",
  "udg/order",
  "udg/seed",
  "udg/tx-id",
  "udg/vertex-id",
] as const satisfies ReadonlyArray<Hash.Tag>

export const hashes = () =>
  read("hashes.json", list(struct({ tag: Schema.Literal(...TAGS), input: text, hash: Hash.schema })))

export const keys = () =>
  read(
    "keys.json",
    list(
      struct({
        name: text,
        secret_key: text,
        pub_key: Keys.PublicKey,
        address: Address.schema,
        address_testnet: text,
        address_mainnet: text,
        signatures: list(struct({ message: text, signature: Keys.Signature })),
      }),
    ),
  )

export const addresses = () =>
  read(
    "addresses.json",
    struct({
      accepted: list(struct({ network: Network.Mode, text, address: Address.schema, bech32m: text })),
      rejected: list(
        struct({
          network: Network.Mode,
          text,
          reason: Schema.Literal("not-an-address", "other-network", "checksum", "length"),
        }),
      ),
      names: struct({ accepted: list(text), rejected: list(text) }),
    }),
  )

export const amounts = () =>
  read(
    "amounts.json",
    struct({
      formatted: list(struct({ sats: Sats.schema, coin: number, text })),
      rejected_texts: list(text),
      multiplied: list(struct({ a: number, b: number, c: number, floor: number })),
    }),
  )

export const transactions = () =>
  read(
    "transactions.json",
    struct({
      network_id: Network.NetworkId,
      single_key: list(transaction(proof.fields)),
      policy: list(transaction({ signatures: list(proof) })),
    }),
  )

export const rejectedTransactions = () =>
  read(
    "rejected-transactions.json",
    struct({
      network_id: Network.NetworkId,
      network: Network.Mode,
      bytes: list(struct({ about: text, encoded: text, reason: text })),
      json: list(struct({ about: text, text, field: text, reason: text })),
    }),
  )

export const geneses = () => read("genesis.json", Schema.Record({ key: text, value: genesis }))

export const vertices = () =>
  read(
    "vertices.json",
    struct({
      network_id: Network.NetworkId,
      empty: vertex,
      with_body: vertex,
      latest: vertex,
      rejected: list(struct({ about: text, encoded: text, reason: text })),
      evidence: struct({ first: Hash.schema, second: Hash.schema, encoded: text }),
      heartbeat: struct({
        pub_key: Keys.PublicKey,
        commit_index: commitIndex,
        commit_hash: Hash.schema,
        signed_bytes: text,
        signature: Keys.Signature,
        encoded: text,
      }),
    }),
  )

const inclusionFields = {
  hash: Hash.schema,
  vertex: text,
  headers: list(text),
  previous: Hash.schema,
  commits: list(struct({ index: commitIndex, epoch, leader_round: round, leader_hash: Hash.schema })),
  checkpoint: struct({ epoch, commit_index: commitIndex, commit_hash: Hash.schema }),
}

export const inclusion = () =>
  read(
    "inclusion.json",
    struct({
      network_id: Network.NetworkId,
      epoch_record: text,
      proofs: list(struct({ about: text, ...inclusionFields })),
      refused: list(struct({ reason: text, ...inclusionFields })),
    }),
  )

export const epochs = () =>
  read(
    "epochs.json",
    struct({
      epoch_record: struct({ ...epochRecord, last_round: round, encoded: text }),
      rewards: list(struct({ round, round_reward: Sats.schema, coinbase: list(Sats.schema) })),
      quorums: list(struct({ weight: Sats.schema, total: Sats.schema, is_quorum: Schema.Boolean })),
      commit: struct({
        index: commitIndex,
        epoch,
        leader_round: round,
        leader_hash: Hash.schema,
        previous: Hash.schema,
        hash: Hash.schema,
      }),
      checkpoints: struct({ of_an_interval: checkpoint, closing: checkpoint }),
    }),
  )
