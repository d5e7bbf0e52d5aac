import { OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Rules from "../../edge/definition/Rules.js"
import * as Group from "../../effect3/http/Group.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import { TransactionType } from "./Core.js"
import * as Failure from "./Failure.js"
import * as Field from "./Field.js"

const { example } = Field

export const Round = Field.record(
  "Round",
  "all vertices of a round that the node knows",
  Schema.Struct({
    round: Field.round("the round; 0 is the genesis and has no vertices"),
    timestamp: Field.timestampOrNull("time of the commit that finalized it, milliseconds since 1970; null before"),
    finalized: Field.boolean("the round is at or below the last finalized one"),
    vertices: Schema.Array(
      Schema.Struct({
        hash: Field.hash("the vertex"),
        validator: Field.address("the validator that signed it"),
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
    validator: Field.address("the validator that signed it"),
    parent_count: Field.count("how many parents"),
    parents: Schema.Array(Hash.schema),
    coinbase_reward: Field.sats("minted when it is finalized"),
    timestamp: Field.timestamp("its validator's clock, milliseconds since 1970"),
    finalized: Field.boolean("its order is final"),
    transactions: Schema.Array(
      Schema.Struct({
        type: Field.of(TransactionType, "its type"),
        hash: Field.hash("the transaction"),
        fee: Field.sats("its fee"),
        outcome: Field.of(
          Schema.NullOr(Schema.Literal("applied", "failed", "no effect")),
          "its result in this vertex; failed: only the fee was taken; no effect: nothing was taken, and another vertex may " +
            "contain it too; null until the vertex is finalized",
        ),
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
    transactions: [{ type: "Transfer", hash: example.hash, fee: 1000, outcome: "applied" }],
  },
)

const Lane = Field.count("a validator, as its index in `validators`")

export const maximumColumns = 120
export const standardColumns = 60

const COLUMNS_PER_REQUEST = 3
/** Whatever the number of rounds, an answer has room for thirty rounds of a hundred validators. */
const HEAVIEST_COLUMNS = 10

/** Clients that follow the newest rounds ask for few, but often. */
const weightOfColumns = ({ rounds }: Rules.Query): number =>
  Math.min(HEAVIEST_COLUMNS, Math.ceil((typeof rounds === "number" ? rounds : standardColumns) / COLUMNS_PER_REQUEST))

export const Columns = Field.record(
  "DagColumns",
  "a stretch of the DAG for drawing: rounds from low to high, their leaders, and the edges between vertices",
  Schema.Struct({
    dag_round: Field.round("highest round seen"),
    finalized_round: Field.round("last finalized round"),
    validators: Schema.Array(Address.schema),
    columns: Schema.Array(
      Schema.Struct({
        round: Field.round("the round"),
        epoch: Field.of(Natural.schema<Natural.Epoch>("an epoch"), "its epoch"),
        timestamp: Field.timestampOrNull("time of the last commit that ordered one of its vertices; null before"),
        finalized: Field.boolean("the round is at or below the last finalized one"),
        leader: Field.of(
          Schema.NullOr(
            Schema.Struct({
              validator: Lane,
              verdict: Field.of(
                Schema.Literal("undecided", "committed", "skipped"),
                "whether the leader was committed, or skipped by the others",
              ),
            }),
          ),
          "its leader; null if the node no longer knows the committee",
        ),
        vertices: Schema.Array(
          Schema.Struct({
            hash: Field.hash("the vertex"),
            validator: Lane,
            tx_count: Field.count("transactions that it carries"),
            commit_index: Field.of(
              Schema.NullOr(Natural.schema<Natural.CommitIndex>("a commit")),
              "the commit that ordered it; null while none has",
            ),
            parents: Schema.Array(Natural.count("an index in `validators`")).annotations({
              description: "validators of its parents in the round before",
            }),
            older_parents: Schema.Array(
              Schema.Struct({ round: Field.round("the parent's round"), validator: Lane }),
            ).annotations({ description: "parents in rounds before that" }),
          }),
        ),
      }),
    ),
  }),
  {
    dag_round: 1205,
    finalized_round: 1203,
    validators: [example.other],
    columns: [
      {
        round: 1203,
        epoch: 6,
        timestamp: example.timestamp,
        finalized: true,
        leader: { validator: 0, verdict: "committed" },
        vertices: [
          { hash: example.otherHash, validator: 0, tx_count: 1, commit_index: 1190, parents: [0], older_parents: [] },
        ],
      },
    ],
  },
)

export const group = Group.of("dag", "DAG", "Rounds and the vertices in them.", [
  Group.get("round", "/round/:round", "The vertices of a round")
    .setPath(Schema.Struct({ round: Field.RoundInUrl }))
    .addSuccess(Round)
    .addError(Schema.Union(Failure.InvalidRequest, Failure.RoundNotFound)),
  Group.get("vertex", "/vertex/:hash", "A vertex")
    .setPath(Schema.Struct({ hash: Hash.schema }))
    .annotate(Rules.Cached, { isFinal: (answer) => "finalized" in answer && answer.finalized === true })
    .addSuccess(Vertex)
    .addError(Schema.Union(Failure.InvalidRequest, Failure.VertexNotFound)),
  Group.get("columns", "/dag", "A stretch of the DAG with its edges and leaders")
    .annotate(
      OpenApi.Description,
      "Without `from`, the latest rounds. For a large committee the answer may end before the last requested round; " +
        "continue after its last column. Counts as one request for every three requested rounds, and as ten at most.",
    )
    .annotate(Rules.Weight, weightOfColumns)
    .setUrlParams(
      Schema.Struct({
        from: Field.optional(Field.RoundInUrl, "first round; defaults to the latest rounds"),
        rounds: Field.optional(
          Field.limitInUrl(maximumColumns),
          `how many rounds, 1 to ${maximumColumns}; defaults to ${standardColumns}`,
        ),
      }),
    )
    .addSuccess(Columns)
    .addError(Schema.Union(Failure.InvalidRequest, Failure.RoundNotFound)),
])
