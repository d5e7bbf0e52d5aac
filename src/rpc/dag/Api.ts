import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Hash from "../../protocol/Hash.js"
import { TransactionType } from "../core/Api.js"
import * as Failure from "../failure/Api.js"
import * as Field from "../field/Api.js"

const { example } = Field

export const Round = Field.record(
  "Round",
  "every vertex that the node knows for a round",
  Schema.Struct({
    round: Field.round("the round; 0 is the genesis and has no vertices"),
    timestamp: Field.timestampOrNull("time of the commit that finalized it, milliseconds since 1970; null before"),
    finalized: Field.boolean("the round is at or below the last finalized one"),
    vertices: Schema.Array(
      Schema.Struct({
        hash: Field.hash("the vertex"),
        validator: Field.address("its author"),
        reward: Field.sats("its coinbase reward"),
        tx_count: Field.count("transactions that it carries"),
        parent_count: Field.count("vertices that it names as parents"),
      }),
    ),
  }),
  {
    round: 1203,
    timestamp: example.timestamp,
    finalized: true,
    vertices: [{ hash: example.otherHash, validator: example.other, reward: 5_000_000, tx_count: 1, parent_count: 2 }],
  },
)

export const Vertex = Field.record(
  "Vertex",
  "a vertex of the DAG",
  Schema.Struct({
    hash: Field.hash("the vertex"),
    round: Field.round("its round"),
    validator: Field.address("its author"),
    parent_count: Field.count("how many parents"),
    parents: Schema.Array(Hash.schema),
    coinbase_reward: Field.sats("minted when it is finalized"),
    timestamp: Field.timestamp("its author's clock, milliseconds since 1970"),
    finalized: Field.boolean("it is ordered for good"),
    transactions: Schema.Array(
      Schema.Struct({
        type: Field.of(TransactionType, "what it does"),
        hash: Field.hash("the transaction"),
        fee: Field.sats("what it pays"),
      }),
    ),
  }),
  {
    hash: example.otherHash,
    round: 1203,
    validator: example.other,
    parent_count: 1,
    parents: [example.hash],
    coinbase_reward: 5_000_000,
    timestamp: example.timestamp,
    finalized: true,
    transactions: [{ type: "Transfer", hash: example.hash, fee: 1000 }],
  },
)

export const group = HttpApiGroup.make("dag")
  .annotate(OpenApi.Title, "DAG")
  .annotate(OpenApi.Description, "Rounds and the vertices in them.")
  .add(
    HttpApiEndpoint.get("round", "/round/:round")
      .annotate(OpenApi.Summary, "The vertices of a round")
      .setPath(Schema.Struct({ round: Field.RoundInUrl }))
      .addSuccess(Round)
      .addError(Schema.Union(Failure.InvalidRequest, Failure.RoundNotFound)),
  )
  .add(
    HttpApiEndpoint.get("vertex", "/vertex/:hash")
      .annotate(OpenApi.Summary, "A vertex")
      .setPath(Schema.Struct({ hash: Hash.schema }))
      .addSuccess(Vertex)
      .addError(Schema.Union(Failure.InvalidRequest, Failure.VertexNotFound)),
  )
