import { Deferred, Effect, FiberId } from "effect"
import { afterEach, expect, it } from "vitest"
import * as Failure from "../../src/rpc/api/Failure.js"
import type * as ExampleHandlers from "../rpc/ExampleHandlers.js"
import * as TestServer from "../rpc/TestServer.js"
import { expectFailure } from "./Answers.js"

let server: TestServer.TestServer
afterEach(() => server.stop())

/** A memory that is ahead of its disk until released. */
const ahead = () => {
  const done = Deferred.unsafeMake<void>(FiberId.none)
  let isWritten = false
  return {
    memory: { versions: new Set(["state", "commit"]), isWritten: () => isWritten, written: Deferred.await(done) },
    write: () => {
      isWritten = true
      Effect.runSync(Deferred.succeed(done, undefined))
    },
  }
}

const handlers: ExampleHandlers.Overrides = {
  delegation: { delegationOf: () => Effect.fail(new Failure.DelegationNotFound({ message: "to nobody" })) },
}
const steady = { ...TestServer.changing, state: () => 1, commit: () => 1 }
const ADDRESS = "00000000000000000000000000000000000000aa"
const BALANCE = `/balance/${ADDRESS}`

it("holds every response from memory back until it is written, whether new, cached or a refusal, and no other", async () => {
  const { memory, write } = ahead()
  server = await TestServer.start({ memory, versions: steady }, handlers)
  const held: Array<number> = []
  const ask = async (path: string) => {
    const { status } = await TestServer.ask(server.port, TestServer.get(path))
    held.push(status)
  }
  const first = ask(BALANCE)
  await TestServer.ask(server.port, TestServer.get("/health"))
  const others = [ask(BALANCE), ask(`/delegation/${ADDRESS}`)]
  for (const path of ["/health", "/peers", "/metrics/json", "/health/detailed"])
    expect((await TestServer.ask(server.port, TestServer.get(path))).status).toBe(200)
  expect(held).toEqual([])
  write()
  await Promise.all([first, ...others])
  expect(held.sort()).toEqual([200, 200, 404])
  await ask(BALANCE)
})

it("refuses when the disk takes too long", async () => {
  const { memory } = ahead()
  server = await TestServer.start({ memory, versions: steady, tolerance: { unwrittenMs: 20 } })
  for (const _ of ["new", "kept"]) {
    const answer = await TestServer.ask(server.port, TestServer.get(BALANCE))
    expectFailure(answer, 503, "Unavailable")
    expect(answer.headers.get("retry-after")).toBe("1")
  }
})
