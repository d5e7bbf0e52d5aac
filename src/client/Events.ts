/** Reads the node's stream of server-sent events. */
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import { Effect, Option, Schema, Stream } from "effect"
import { Event } from "../rpc/api/Events.js"
import * as Failure from "../rpc/api/Failure.js"
import { RequestRefused } from "./RequestRefused.js"

/** An event with its position in the stream, for opening the stream again. */
export interface NumberedEvent {
  readonly id: string
  readonly event: Event
}

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 15_000

const decodeEvent = Schema.decodeUnknownSync(Schema.parseJson(Event))
const decodeFailure = Schema.decodeUnknown(Failure.schema)

/** A frame between two empty lines; none for a heartbeat. */
const readFrame = (frame: string): Option.Option<NumberedEvent> => {
  const fieldOf = (name: string): string | undefined =>
    frame
      .split("\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2)
  const data = fieldOf("data")
  return data === undefined ? Option.none() : Option.some({ id: fieldOf("id") ?? "", event: decodeEvent(data) })
}

/** The frames in a text that arrives in pieces. */
const frames = <E, R>(text: Stream.Stream<string, E, R>): Stream.Stream<string, E, R> =>
  text.pipe(
    Stream.mapAccum("", (rest, piece) => {
      const parts = (rest + piece).split("\n\n")
      return [parts.at(-1) ?? "", parts.slice(0, -1)]
    }),
    Stream.mapConcat((complete) => complete),
  )

/** Any other answer than a stream is a refusal with its reason. */
const accepted = (response: HttpClientResponse.HttpClientResponse) =>
  response.status === 200
    ? Effect.succeed(response)
    : Effect.flatMap(Effect.flatMap(response.json, decodeFailure), (failure) =>
        Effect.fail(new RequestRefused(failure)),
      )

export const once = (url: string, after?: string) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const request = HttpClientRequest.get(`${url}/events`).pipe(
        after === undefined ? (same) => same : HttpClientRequest.setHeader("Last-Event-ID", after),
      )
      return (yield* Effect.flatMap(client.execute(request), accepted)).stream
    }),
  ).pipe(Stream.decodeText(), frames, Stream.filterMap(readFrame))

/** A permanent refusal; any other failure may pass. */
const isFinal = (error: unknown): error is RequestRefused =>
  error instanceof RequestRefused && error.code === "InvalidRequest"

/**
 * Opens the stream again whenever it ends, after the last event received: soon if any event arrived, otherwise after a
 * wait that doubles. A `reset` event reports events that were missed and that the node no longer has.
 */
export const follow = (
  url: string,
  after?: string,
): Stream.Stream<NumberedEvent, RequestRefused, HttpClient.HttpClient> =>
  Stream.suspend(() => {
    let last = after
    let waitMs = FIRST_WAIT_MS
    const attempt = Stream.suspend(() => once(url, last)).pipe(
      Stream.tap(({ id }) =>
        Effect.sync(() => {
          last = id
          waitMs = FIRST_WAIT_MS
        }),
      ),
      Stream.catchAll((error) => (isFinal(error) ? Stream.fail(error) : Stream.empty)),
    )
    const pause = Effect.suspend(() => {
      const now = waitMs
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)
      return Effect.sleep(now)
    })
    return Stream.forever(Stream.concat(attempt, Stream.drain(Stream.fromEffect(pause))))
  })
