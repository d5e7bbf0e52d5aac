/** Failures of services as responses of a real server. */
import { Effect, Option } from "effect"
import { afterEach, expect, it } from "vitest"
import { RoundNotFound } from "../../src/node/reads/Dag.js"
import { Unanswered } from "../../src/node/reads/Lookup.js"
import { TransactionNotFound } from "../../src/node/reads/State.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type * as Handlers from "../../src/rpc/handlers/Group.js"
import { DatabaseDamaged } from "../../src/storage/files/StorageError.js"
import * as TestServer from "./TestServer.js"

const id = "3f".repeat(32) as Hash
const notFound = new TransactionNotFound({ id, withoutEffect: Option.none() })
const round = Natural.round(7)
const silent = new Unanswered({ message: "the archive does not answer", retryAfterSeconds: 2 })

// The compiler checks these lines: each marked line must be an error.
const declared: Handlers.Of<"transactions">["lookup"] = () => Effect.fail(notFound)
// @ts-expect-error a service error whose failure the endpoint does not declare
const undeclared: Handlers.Of<"core">["status"] = () => Effect.fail(notFound)

it("limits the types of handlers' failures to those that their endpoints declare", () => {
  expect([declared, undeclared]).toHaveLength(2)
})

let server: TestServer.TestServer | undefined
afterEach(() => server?.stop())

it("become the failures that the endpoints declare, with their status", async () => {
  const defects: Array<string> = []
  server = await TestServer.start(
    { onDefect: (route) => defects.push(route) },
    {
      transactions: { lookup: declared },
      dag: { round: () => Effect.fail(new RoundNotFound({ round, because: "pruned" })) },
      core: {
        status: () => Effect.fail(silent),
        peers: () => Effect.fail(new DatabaseDamaged({ file: "udg.db", finding: "a page is torn" })),
      },
    },
  )
  const said = async (path: string) => {
    const { status, headers, body } = await TestServer.ask(server?.port ?? 0, TestServer.get(path))
    const { code, error, ...more } = JSON.parse(body)
    return { status, code, retryAfter: headers.get("retry-after"), ...more }
  }
  expect(await said(`/tx/${id}`)).toEqual({ status: 404, code: "TransactionNotFound" })
  expect(await said("/round/7")).toEqual({ status: 404, code: "RoundNotFound", reason: "pruned" })
  expect(await said("/status")).toEqual({
    ...{ status: 503, code: "Unavailable", retry_after_seconds: 2 },
    retryAfter: "2",
  })
  // The client cannot act on it, so it is logged and counted like a bug.
  expect(await said("/peers")).toEqual({ status: 500, code: "InternalError" })
  expect(defects).toEqual(["/peers"])
})
