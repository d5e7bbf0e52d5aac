/** Endless responses: server-sent events. */
import { HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"

export const contentType = "text/event-stream"

/** A stream of server-sent events, which no schema describes as a whole. */
export const EventStream = HttpApiSchema.Text({ contentType })
  .annotations({
    description: "server-sent events; each data line is an event in JSON",
    examples: ['id: 17\nevent: round\ndata: {"type":"round","round":1205,"finalized_round":1203}\n\n'],
  })
  .pipe(Schema.brand("EventStream"))
export type EventStream = typeof EventStream.Type

/** Streams of all clients. */
export const maximumStreams = 100
/** Streams of one client. */
export const streamsOfOne = 8
