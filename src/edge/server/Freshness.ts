/**
 * For servers that can be behind others. Every response states in `Udg-Commit` the commit that it reaches at most, and
 * a request with that header is answered as of that commit or a later one.
 */
import type { IncomingMessage } from "node:http"
import { Duration, Effect, Either } from "effect"
import * as Failure from "../definition/Failure.js"

export interface Freshness {
  /** No response written now comes from a later commit. */
  readonly asOf: () => number
  /** Waits until this commit is reached. */
  readonly reached: (commit: number) => Effect.Effect<void>
}

export const HEADER = "Udg-Commit"

const PATIENCE = Duration.seconds(2)

/** The commit that a request asks for, if any. */
export const wantedBy = ({ headers }: IncomingMessage): Either.Either<number | undefined, Failure.InvalidRequest> => {
  const text = headers[HEADER.toLowerCase()]
  if (text === undefined) return Either.right(undefined)
  if (typeof text === "string" && /^\d{1,15}$/.test(text)) return Either.right(Number(text))
  const message = `${HEADER}: expected the number of a commit, as stated in an answer`
  return Either.left(new Failure.InvalidRequest({ message, field: HEADER }))
}

/** Fails if the commit is not reached soon. */
export const reach = ({ asOf, reached }: Freshness, commit: number): Effect.Effect<void, Failure.Unavailable> =>
  Effect.timeoutFail(reached(commit), {
    duration: PATIENCE,
    onTimeout: () =>
      new Failure.Unavailable({
        message: `commit ${commit} has not arrived, only ${asOf()}; ask again`,
        retry_after_seconds: 1,
      }),
  })
