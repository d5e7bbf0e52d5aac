/** A gateway's requests to nodes, over real sockets. */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { afterEach, expect, it } from "vitest"
import { MOST_CHARACTERS, type Send } from "../../src/client/wire/Exchange.js"
import * as ConnectionPool from "../../src/gateway/ConnectionPool.js"

const servers: Array<Http.Server> = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

const serve = async (handle: Http.RequestListener) => {
  const server = Http.createServer(handle)
  servers.push(server)
  let connections = 0
  server.on("connection", () => connections++)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`, connections: () => connections }
}

const sending = <A>(use: (send: Send) => Promise<A>): Promise<A> =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(ConnectionPool.make, (send) => Effect.promise(() => use(send)))))

/** The error of a promise that must reject. */
const reasonOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "none",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )

it("carry a body, return status, text and Retry-After, and reuse a connection", async () => {
  const { url, connections } = await serve(async (request, response) => {
    let body = ""
    for await (const piece of request) body += String(piece)
    const { method, headers } = request
    response.writeHead(503, { "retry-after": "7" })
    response.end(`${method} ${headers["content-type"]} ${headers["content-length"]} ${body} ü`)
  })
  await sending(async (send) => {
    expect(await send({ method: "POST", url, body: "[1]" }, 1_000)).toEqual({
      ...{ status: 503, retryAfter: "7", text: "POST application/json 3 [1] ü" },
    })
    const { text } = await send({ method: "GET", url }, 1_000)
    expect(text).toBe("GET undefined undefined  ü")
  })
  expect(connections()).toBe(1)
})

it("never use more than 64 connections to a node, and queue beyond", async () => {
  const waiting: Array<Http.ServerResponse> = []
  const { url, connections } = await serve((_, response) => {
    waiting.push(response)
  })
  await sending(async (send) => {
    const all = Array.from({ length: 100 }, () => send({ method: "GET", url }, 5_000))
    const until = performance.now() + 5_000
    while (waiting.length < 64 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect([waiting.length, connections()]).toEqual([64, 64])
    for (let answered = 0; answered < 100; ) {
      for (const response of waiting.splice(0)) {
        answered++
        response.end("done")
      }
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    expect(new Set((await Promise.all(all)).map(({ text }) => text))).toEqual(new Set(["done"]))
    expect(connections()).toBe(64)
  })
})

it("fail for a late, endless, truncated or oversized response", async () => {
  const piece = "x".repeat(1024 * 1024)
  const { url } = await serve((request, response) => {
    switch (request.headers["content-length"]) {
      case "1":
        return
      case "2":
        response.write("half")
        return
      case "3":
        response.write("half", () => response.destroy())
        return
      default: {
        const more = () => {
          while (response.write(piece)) if (response.destroyed) return
          response.once("drain", more)
        }
        more()
      }
    }
  })
  await sending(async (send) => {
    const asked = (body: string) => reasonOf(send({ method: "POST", url, body }, body.length < 3 ? 100 : 20_000))
    expect(await Promise.all(["1", "12", "123", "1234"].map(asked))).toEqual([
      "no answer within 100 ms",
      "no answer within 100 ms",
      "aborted",
      `more than ${MOST_CHARACTERS} characters`,
    ])
    const nowhere = reasonOf(send({ method: "GET", url: "http://127.0.0.1:9/" }, 1_000))
    expect(await nowhere).toMatch(/ECONNREFUSED/)
    const leaving = new AbortController()
    const left = reasonOf(send({ method: "POST", url, body: "1" }, 20_000, leaving.signal))
    leaving.abort()
    expect(await left).toMatch(/aborted/)
  })
})
