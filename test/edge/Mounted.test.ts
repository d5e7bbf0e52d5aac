/** The API under the library's own server: what the tables of `test/conformance` do not cover there. */
import { createServer } from "node:http"
import { HttpApiBuilder, HttpServer } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, Logger, LogLevel, ManagedRuntime } from "effect"
import { afterEach, expect, it } from "vitest"
import * as Mounted from "../../src/edge/server/Mounted.js"
import { Api } from "../../src/rpc/api/Api.js"
import * as ServiceErrors from "../../src/rpc/handlers/ServiceErrors.js"
import * as ServerSettings from "../../src/rpc/server/ServerSettings.js"
import * as ExampleHandlers from "../rpc/ExampleHandlers.js"
import * as TestServer from "../rpc/TestServer.js"

let stop = async (): Promise<void> => {}
afterEach(() => stop())

const start = async (
  isMainnet: boolean,
  handlers: ExampleHandlers.Overrides = {},
  options: Partial<Mounted.Options> = {},
): Promise<number> => {
  const settings = {
    ...ServerSettings.settings({ isMainnet }),
    versions: TestServer.changing,
    errors: ServiceErrors.failures,
    ...options,
  }
  const runtime = ManagedRuntime.make(
    HttpApiBuilder.serve().pipe(
      Layer.provide(HttpApiBuilder.api(Api)),
      Layer.provide(Mounted.layer(Api, settings)),
      Layer.provide(ExampleHandlers.layer(handlers)),
      Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
      Layer.provide(Logger.minimumLogLevel(LogLevel.None)),
    ),
  )
  stop = () => runtime.dispose()
  const { address } = await runtime.runPromise(HttpServer.HttpServer)
  return address._tag === "TcpAddress" ? address.port : 0
}

const asked = async (port: number, request: string) => {
  const { status, body } = await TestServer.ask(port, request)
  return [status, JSON.parse(body).code]
}

it("hands out keys only to programs on a testnet, not to web pages and not on a mainnet", async () => {
  const testnet = await start(false)
  expect((await TestServer.ask(testnet, TestServer.get("/keygen"))).status).toBe(200)
  const ofPage = TestServer.get("/keygen", "Origin: http://localhost\r\n")
  expect(await asked(testnet, ofPage)).toEqual([403, "ForeignOrigin"])
  await stop()
  expect(await asked(await start(true), TestServer.get("/keygen"))).toEqual([410, "TestnetOnly"])
})

it("reads no more of a body than its endpoint accepts, announced or not", async () => {
  const port = await start(false)
  const large = `"${"x".repeat(70_000)}"`
  expect(await asked(port, TestServer.post("/tx", large))).toEqual([413, "BodyTooLarge"])
  expect(await asked(port, TestServer.post("/tx/submit", large))).toEqual([413, "BodyTooLarge"])
  const head = "POST /tx HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
  const inChunks = `${head}Transfer-Encoding: chunked\r\n\r\n${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`
  // The library closes the connection while it reads.
  expect((await TestServer.exchange(port, [inChunks])).length).toBe(0)
  expect((await TestServer.ask(port, TestServer.get("/status"))).status).toBe(200)
})

it("answers a handler's bug with 500 without its cause", async () => {
  const port = await start(false, { core: { status: () => Effect.die(new Error("a secret")) } })
  const { status, body } = await TestServer.ask(port, TestServer.get("/status"))
  expect([status, JSON.parse(body).code]).toEqual([500, "InternalError"])
  expect(body).not.toContain("a secret")
})

it("holds a response from memory back until it is written", async () => {
  const disk = Effect.unsafeMakeLatch(false)
  const memory = { versions: new Set(["commit"]), isWritten: () => false, written: disk.await }
  const port = await start(false, {}, { memory })
  let isTold = false
  const answer = asked(port, TestServer.get("/network")).then((told) => {
    isTold = true
    return told
  })
  for (let i = 0; i < 10; i++) expect(await asked(port, TestServer.get("/health"))).toEqual([200, undefined])
  expect(isTold).toBe(false)
  Effect.runSync(disk.open)
  expect(await answer).toEqual([200, undefined])
})
