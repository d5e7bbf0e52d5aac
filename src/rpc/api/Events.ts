import { OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { EventStream } from "../../edge/definition/EventStream.js"
import * as Group from "../../effect3/http/Group.js"
import * as Address from "../../protocol/identity/Address.js"
import { TransactionType } from "./Core.js"
import * as Failure from "./Failure.js"
import * as Field from "./Field.js"

/** The content of a `data:` line; the `event:` line repeats the type. */
export const Event = Field.record(
  "Event",
  "an event",
  Schema.Union(
    Schema.Struct({
      type: Schema.Literal("round"),
      round: Field.round("highest round now"),
      finalized_round: Field.round("last finalized round now"),
    }).annotations({ identifier: "RoundEvent" }),
    Schema.Struct({
      type: Schema.Literal("vertex"),
      hash: Field.hash("a finalized vertex"),
      round: Field.round("its round"),
      validator: Field.address("the validator that signed it"),
      reward: Field.sats("its coinbase reward"),
      tx_count: Field.count("transactions that it carries"),
    }).annotations({ identifier: "VertexEvent" }),
    Schema.Struct({
      type: Schema.Literal("transaction"),
      hash: Field.hash("the transaction"),
      transaction_type: Field.of(TransactionType, "its type"),
      from: Field.address("the sender"),
      to: Field.optional(Address.schema, "the recipient, if the type has one"),
      status: Field.of(Schema.Literal("pending", "finalized"), "in the mempool, or final"),
      applied: Field.of(Schema.NullOr(Schema.Boolean), "false: only the fee was taken; null while pending"),
    }).annotations({ identifier: "TransactionEvent" }),
    Schema.Struct({
      type: Schema.Literal("alert"),
      severity: Field.of(Schema.Literal("info", "warning", "critical"), "how serious; info: the part is healthy again"),
      message: Field.text("the alert in words"),
    }).annotations({ identifier: "AlertEvent" }),
    Schema.Struct({
      type: Schema.Literal("reset"),
      message: Field.text("events were missed; read the state again"),
    }).annotations({ identifier: "ResetEvent" }),
  ),
  { type: "round", round: 1205, finalized_round: 1203 },
)
export type Event = typeof Event.Type

/** Reset events are always sent, whatever the filter. */
const TYPES = ["round", "vertex", "transaction", "alert"] as const
export type EventType = (typeof TYPES)[number]

const TYPES_IN_URL = new RegExp(`^(?:${TYPES.join("|")})(?:,(?:${TYPES.join("|")}))*$`)

/** Comma-separated types. */
const TypesInUrl: Schema.Schema<ReadonlyArray<EventType>, string> = Schema.transform(
  Schema.String.pipe(
    Schema.filter((text) => TYPES_IN_URL.test(text), {
      jsonSchema: { type: "string", pattern: TYPES_IN_URL.source },
      message: () => `one or more of ${TYPES.join(", ")}, with commas between them,`,
    }),
  ),
  Schema.Array(Schema.Literal(...TYPES)),
  {
    strict: true,
    decode: (text) => TYPES.filter((type) => text.split(",").includes(type)),
    encode: (types) => types.join(","),
  },
)

export const group = Group.of("events", "Events", "Live events.", [
  Group.get("stream", "/events", "Rounds, vertices, transactions and alerts as server-sent events")
    .annotate(
      OpenApi.Description,
      "Starts after the event named by Last-Event-ID if it is among the last 1,000, otherwise with a reset event. With a " +
        "filter by type or account, only matching events are sent, and every reset.",
    )
    .setUrlParams(
      Schema.Struct({
        type: Field.optional(TypesInUrl, "comma-separated, such as vertex,transaction; defaults to all types"),
        account: Field.optional(
          Field.AccountText,
          "only transactions that this account sends or receives, and its vertices",
        ),
      }),
    )
    .setHeaders(
      Schema.Struct({
        "last-event-id": Field.optional(
          Schema.String.pipe(
            Schema.filter((text) => /^\d{1,15}$/.test(text), {
              jsonSchema: { type: "string", pattern: "^\\d{1,15}$" },
              message: () => "the id of an event of this stream",
            }),
          ),
          "id of the last event received",
        ),
      }),
    )
    .addSuccess(EventStream)
    .addError(Schema.Union(Failure.OfAccount, Failure.TooManyStreams, Failure.Overloaded)),
])
