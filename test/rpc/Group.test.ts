import { Effect, Either, Schema } from "effect"
import { expect, it } from "vitest"
import * as Reply from "../../src/edge/server/Reply.js"
import * as Failure from "../../src/rpc/api/Failure.js"
import type * as Handlers from "../../src/rpc/handlers/Group.js"

// The compiler checks these lines: each marked line must be an error.
const answers: Handlers.Of<"core">["health"] = () => Effect.succeed({ status: "ok" })
// @ts-expect-error a response other than the endpoint's
const another: Handlers.Of<"core">["health"] = () => Effect.succeed({ status: "fine" })
// @ts-expect-error a failure that the endpoint does not declare
const undeclared: Handlers.Of<"core">["health"] = () => Effect.fail(new Failure.NameNotFound({ message: "" }))
const declared: Handlers.Of<"core">["balance"] = () => Effect.fail(new Failure.NameNotFound({ message: "" }))
// @ts-expect-error a service that nothing provides
const unprovided: Handlers.Of<"core">["health"] = () => Effect.scope.pipe(Effect.as({ status: "ok" as const }))
// @ts-expect-error a part of the request that the endpoint does not have
const partless: Handlers.Of<"core">["health"] = ({ path }) => Effect.succeed({ status: path })
const decoded: Handlers.Of<"governance">["voteOf"] = ({ path, client }) =>
  Effect.fail(new Failure.InvalidRequest({ message: `${client} ${path.id.toFixed()} ${path.address}` }))
const many: Handlers.Of<"transactions">["submit"] = ({ payloads }) =>
  Effect.succeed(
    payloads.map(({ type, nonce }) => Either.left(new Failure.NonceTooLow({ message: type, next_nonce: nonce }))),
  )

it("checks the types of handlers against their endpoints", () => {
  expect([answers, another, undeclared, declared, unprovided, partless, decoded, many]).toHaveLength(8)
})

it("sends a failure as its code and decodes it to the same failure", () => {
  const failures = [
    new Failure.InvalidRequest({ message: "amount: a number expected", field: "amount" }),
    new Failure.RateLimited({ message: "slowly", limit: 5, window_seconds: 60, retry_after_seconds: 12 }),
    new Failure.MethodNotAllowed({ message: "no", allowed: ["GET", "HEAD"] }),
    new Failure.NotReady({ reason: "behind", message: "catching up" }),
  ]
  const replies = failures.map((failure) => Reply.ofFailure(failure))
  expect(replies.map(({ status, headers, content }) => [status, headers, JSON.parse(String(content.body))])).toEqual([
    [400, [], { code: "InvalidRequest", error: "amount: a number expected", field: "amount" }],
    [
      429,
      ["Retry-After", "12"],
      { code: "RateLimited", error: "slowly", limit: 5, window_seconds: 60, retry_after_seconds: 12 },
    ],
    [405, ["Allow", "GET, HEAD"], { code: "MethodNotAllowed", error: "no", allowed: ["GET", "HEAD"] }],
    [503, ["Retry-After", "5"], { code: "NotReady", error: "catching up", reason: "behind" }],
  ])
  const read = Schema.decodeUnknownSync(Failure.schema)
  expect(replies.map(({ content }) => read(JSON.parse(String(content.body))))).toEqual(failures)
})
