/**
 * For a server that may be behind others: every answer says of which commit it is at most, in `Udg-Commit`, and a request with
 * the same header is answered as of that commit or a later one.
 */
import type { IncomingMessage } from "node:http"
import { Duration, Effect, Either } from "effect"
import * as Failure from "../definition/Failure.js"

export interface Freshness {
  /** No answer that is written now comes from a later commit. */
  readonly asOf: () => number
  /** Waits until this commit is there. */
  readonly reached: (commit: number) => Effect.Effect<void>
}

export const HEADER = "Udg-Commit"

const PATIENCE = Duration.seconds(2)

/** The commit that a request asks for, or none. */
export const wantedBy = ({ headers }: IncomingMessage): Either.Either<number | undefined, Failure.InvalidRequest> => {
  const text = headers[HEADER.toLowerCase()]
  if (text === undefined) return Either.right(undefined)
  if (typeof text === "string" && /^\d{1,15}$/.test(text)) return Either.right(Number(text))
  const message = `${HEADER}: the number of a commit expected, as an answer had it`
  return Either.left(new Failure.InvalidRequest({ message, field: HEADER }))
}

/** Fails if it does not come soon. */
export const reach = ({ asOf, reached }: Freshness, commit: number): Effect.Effect<void, Failure.Unavailable> =>
  Effect.timeoutFail(reached(commit), {
    duration: PATIENCE,
    onTimeout: () =>
      new Failure.Unavailable({
        message: `commit ${commit} is not here yet, only ${asOf()}; ask again`,
        retry_after_seconds: 1,
      }),
  })
