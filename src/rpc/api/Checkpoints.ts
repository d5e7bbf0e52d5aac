import { OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Rules from "../../edge/definition/Rules.js"
import * as Group from "../../effect3/http/Group.js"
import * as Inclusion from "../../protocol/epoch/Inclusion.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as Network from "../../protocol/identity/Network.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as StateProof from "../../protocol/state/StateProof.js"
import * as Header from "../../protocol/vertex/Header.js"
import * as Failure from "./Failure.js"
import * as Field from "./Field.js"

const { example } = Field

const EpochRecord = Schema.Struct({
  epoch: Field.count("number of the epoch"),
  first_round: Field.round("its first round"),
  seed: Field.hash("the seed that draws its leaders"),
  rules: Schema.Struct({
    epoch_rounds: Field.count("number of rounds, from the first to the nominal last"),
    protocol_version: Field.count("version of the protocol by whose rules the epoch runs"),
    collection_depth_rounds: Field.count("how many rounds below its leader a commit still orders"),
    checkpoint_interval_rounds: Field.count("rounds between checkpoints"),
    round_reward: Field.sats("minted per round before the first halving"),
    halving_rounds: Field.count("rounds between halvings"),
    treasury_percent: Field.percent("the treasury's share of a reward"),
    council_percent: Field.percent("the council's share of a reward"),
  }),
  members: Schema.Array(
    Schema.Struct({
      address: Field.address("the validator"),
      pub_key: Field.of(Keys.PublicKey, "the key that verifies its signatures"),
      weight: Field.sats("its weight in quorums, leader draws and rewards"),
    }),
  ),
}).annotations({ identifier: "EpochRecord", description: "the committee and rules of an epoch" })

const checkpoint = {
  epoch: 5,
  round: 1200,
  commit_index: 1190,
  commit_hash: example.hash,
  effects_digest: example.otherHash,
  state_root: example.hash,
  total_supply: 1_500_120_300_000_000,
  next_epoch: null,
  previous: example.otherHash,
  hash: example.hash,
  signatures: [{ validator: example.other, signature: example.signature }],
} as const

export const Checkpoint = Field.record(
  "Checkpoint",
  "the state after a commit, signed by a quorum of the committee",
  Schema.Struct({
    epoch: Field.count("its epoch"),
    round: Field.round("leader round of the commit"),
    commit_index: Field.count("index of the commit"),
    commit_hash: Field.hash("the commit"),
    effects_digest: Field.hash("chained over the effects of every commit"),
    state_root: Field.hash("root of the state trie"),
    total_supply: Field.sats("total supply"),
    next_epoch: Field.of(Schema.NullOr(EpochRecord), "the epoch that this checkpoint opens; null if it opens none"),
    previous: Field.hash("the checkpoint that closed the epoch before, for GET /checkpoint/hash/:hash"),
    hash: Field.hash("hash of everything here except the signatures"),
    signatures: Schema.Array(
      Schema.Struct({
        validator: Field.address("who signed"),
        signature: Field.of(Keys.Signature, "Ed25519 over the content"),
      }),
    ),
  }),
  checkpoint,
)

export const Checkpoints = Field.record(
  "Checkpoints",
  "checkpoints signed by a quorum, newest first",
  Schema.Struct({
    checkpoints: Schema.Array(
      Schema.Struct({
        epoch: Field.count("its epoch"),
        round: Field.round("leader round of the commit, for GET /checkpoint/:round"),
        commit_index: Field.count("index of the commit"),
        hash: Field.hash("hash of its content"),
        closes_epoch: Field.boolean("it is the last one of its epoch, and opens the next"),
        members: Field.of(
          Schema.NullOr(Schema.Number),
          "members of the committee that it opens; null if it opens none",
        ),
        total_supply: Field.sats("total supply"),
        signatures: Field.count("number of members that signed"),
        timestamp: Field.timestampOrNull("time of the commit; null if this node lacks the commit"),
      }),
    ),
    next_round: Field.roundOrNull("pass it as ?before= for older checkpoints; null at the end"),
  }),
  {
    checkpoints: [
      {
        ...{ epoch: 5, round: 1200, commit_index: 1190, hash: example.hash, closes_epoch: false, members: null },
        ...{ total_supply: 1_500_120_300_000_000, signatures: 3, timestamp: example.timestamp },
      },
    ],
    next_round: null,
  },
)

export const Proof = Field.record(
  "AccountProof",
  "an account's record with its path to the state root of a quorum checkpoint",
  Schema.Struct({
    address: Field.address("the account"),
    key: Field.hash("the account's key in the state"),
    record: Field.textOrNull("the account's record as stored in the state, in hex; null proves that there is none"),
    proof: Field.of(StateProof.schema, "the leaf with the record's place, and the siblings along its path"),
    checkpoint: Field.of(Checkpoint, "the checkpoint whose state_root the proof leads to"),
  }),
  {
    address: example.address,
    key: example.hash,
    record: "00e8764817000000",
    proof: {
      siblings: [{ hash: example.otherHash, records: 40 }],
      leaf: [{ key: example.hash, value: "00e8764817000000" }],
    },
    checkpoint,
  },
)

const bytes = (most: number, about: string) =>
  Schema.String.pipe(
    Schema.maxLength(2 * most, { description: `${about}, in hexadecimal` }),
    Schema.compose(Schema.Uint8ArrayFromHex),
  )

export const TransactionProof = Field.record(
  "TransactionProof",
  "the path from a transaction to a checkpoint signed by a quorum",
  Schema.Struct({
    hash: Field.hash("the transaction"),
    network_id: Field.of(Network.NetworkId, "the network that the transaction was signed for"),
    vertex: Field.of(
      bytes(Limits.VERTEX_BYTES, "the vertex that contains it, as nodes send it"),
      "the vertex that contains it",
    ),
    headers: Field.of(
      Schema.Array(bytes(Header.MAX_BYTES, "a header with its signature")).pipe(Schema.maxItems(Inclusion.MAX_HEADERS)),
      "from the commit's leader down to a child of the vertex; empty if the vertex is the leader",
    ),
    previous: Field.hash("the commit before the first of these"),
    commits: Field.of(
      Schema.Array(
        Schema.Struct({
          index: Field.of(Natural.schema<Natural.CommitIndex>("the number of a commit"), "number of the commit"),
          epoch: Field.of(Natural.schema<Natural.Epoch>("an epoch"), "its epoch"),
          leader_round: Field.round("round of its leader"),
          leader_hash: Field.hash("its leader"),
        }),
      ).pipe(Schema.minItems(1), Schema.maxItems(Inclusion.MAX_COMMITS)),
      "the leader's commit and its successors, up to the checkpoint's",
    ),
    checkpoint: Field.of(Checkpoint, "the first checkpoint at or after the commit"),
  }),
  {
    hash: example.hash,
    network_id: "udg-solo-0123456789abcdef",
    vertex: "00",
    headers: [],
    previous: example.otherHash,
    commits: [{ index: 1190, epoch: 5, leader_round: 1200, leader_hash: example.hash }],
    checkpoint,
  },
)

/** The size of the longest leaf; see docs/state-trie.md. */
const PIECE_BYTES = 273_309

const ABOUT_POSITION = "a place in the state trie: its depth as one byte and its path as 32 bytes, in hexadecimal"

const Position = Schema.String.pipe(
  Schema.filter((text) => /^[0-9a-f]{66}$/.test(text), {
    description: ABOUT_POSITION,
    jsonSchema: { type: "string", pattern: "^[0-9a-f]{66}$" },
    message: () => "66 hex characters",
  }),
)

export const StatePiece = Field.record(
  "StatePiece",
  "a part of the state at the end of an epoch, with its proof",
  Schema.Struct({
    state_root: Field.hash("root of the state"),
    piece: Field.of(
      bytes(PIECE_BYTES, "a subtree, as nodes send it"),
      "its place, the siblings on the path to it and the records below it, as nodes send it",
    ),
  }),
  { state_root: example.hash, piece: "00" },
)

export const group = Group.of(
  "checkpoints",
  "Checkpoints",
  "Checkpoints signed by a quorum, and proofs against them.",
  [
    Group.get("latest", "/checkpoint/latest", "The latest quorum checkpoint")
      .addSuccess(Checkpoint)
      .addError(Failure.CheckpointNotFound),
    Group.get("list", "/checkpoints", "Checkpoints signed by a quorum, newest first")
      .annotate(
        OpenApi.Description,
        "A node keeps those that closed epochs forever, and the others as long as it keeps their rounds.",
      )
      .annotate(Rules.Weight, 3)
      .setUrlParams(
        Schema.Struct({
          limit: Field.pageLimit,
          before: Field.optional(Field.RoundInUrl, "only before this round"),
          closing: Field.optional(Schema.Literal("only"), "only those that closed an epoch"),
        }),
      )
      .addSuccess(Checkpoints)
      .addError(Failure.InvalidRequest),
    Group.get("checkpoint", "/checkpoint/:round", "The checkpoint of a commit, by its leader round")
      .setPath(Schema.Struct({ round: Field.RoundInUrl }))
      .addSuccess(Checkpoint)
      .addError(Schema.Union(Failure.InvalidRequest, Failure.CheckpointNotFound)),
    Group.get("byHash", "/checkpoint/hash/:hash", "A checkpoint by its hash")
      .setPath(Schema.Struct({ hash: Hash.schema }))
      .addSuccess(Checkpoint)
      .addError(Schema.Union(Failure.InvalidRequest, Failure.CheckpointNotFound)),
    Group.get("closing", "/checkpoint/epoch/:epoch", "The checkpoint that closed an epoch")
      .annotate(
        OpenApi.Description,
        "Its next_epoch names the committee that signs the next epoch's checkpoint, so each proves the next from epoch 1 on. " +
          "The checkpoint of epoch 0 follows from the genesis and is unsigned.",
      )
      .setPath(Schema.Struct({ epoch: Field.EpochInUrl }))
      .addSuccess(Checkpoint)
      .addError(Schema.Union(Failure.InvalidRequest, Failure.CheckpointNotFound)),
    Group.get("state", "/state/:root/:position", "A piece of the state at the end of an epoch")
      .annotate(
        OpenApi.Description,
        "For copying the whole state, as udg dev --fork does. A node has the closing states of the last two epochs, by the " +
          "checkpoint's state_root. A piece has up to 273,309 bytes, and its siblings show which places are missing.",
      )
      .annotate(Rules.Weight, 10)
      .setPath(Schema.Struct({ root: Hash.schema, position: Position }))
      .addSuccess(StatePiece)
      .addError(Schema.Union(Failure.InvalidRequest, Failure.CheckpointNotFound, Failure.NotReady)),
    Group.get("transactionProof", "/proof/tx/:hash", "A transaction with a proof that it is in the total order")
      .annotate(OpenApi.Description, "Proves that a commit ordered the transaction, not its outcome.")
      .annotate(Rules.Weight, 10)
      .setPath(Schema.Struct({ hash: Hash.schema }))
      .annotate(Rules.Cached, { until: "proof" })
      .addSuccess(TransactionProof)
      .addError(
        Schema.Union(
          Failure.InvalidRequest,
          Failure.TransactionNotFound,
          Failure.VertexNotFound,
          Failure.CheckpointNotFound,
        ),
      ),
    Group.get("proof", "/proof/:address", "An account with a proof")
      .setPath(Schema.Struct({ address: Field.AccountText }))
      .addSuccess(Proof)
      .addError(Schema.Union(Failure.OfAccount, Failure.CheckpointNotFound, Failure.NotReady)),
  ],
)
