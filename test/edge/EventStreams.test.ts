/** Cached responses and endless ones. */
import { once } from "node:events"
import { connect } from "node:net"
import { Effect, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { example } from "../../src/rpc/api/Field.js"
import * as ExampleHandlers from "../rpc/ExampleHandlers.js"
import * as TestServer from "../rpc/TestServer.js"
import { ask, expectFailure, get } from "./Answers.js"

describe("cached responses", () => {
  it("are made once per path until their source changes, and final ones once", async () => {
    let version = 1
    const made: Array<string> = []
    const examples = ExampleHandlers.make()
    await using server = await TestServer.start(
      { versions: { ...TestServer.changing, state: () => version } },
      {
        core: {
          names: ({ urlParams: { addresses } }) => Effect.sync(() => ({ names: [], made: made.push(addresses) })),
          health: () => Effect.sync(() => ({ status: "ok" as const, made: made.push("health") })),
        },
        dag: { vertex: (request) => Effect.tap(examples.dag.vertex(request), () => made.push("vertex")) },
      },
    )
    const [a, b, vertex] = [
      `/names?addresses=${"a".repeat(40)}`,
      `/names?addresses=${"b".repeat(40)}`,
      `/vertex/${example.hash}`,
    ]
    const askAll = async (...paths: ReadonlyArray<string>) => {
      made.length = 0
      for (const path of paths) expect((await ask(server.port, get(path))).status).toBe(200)
      return made
    }
    expect(await askAll(a, a, b, vertex, vertex, a)).toEqual(["a".repeat(40), "b".repeat(40), "vertex"])
    version = 2
    expect(await askAll(a, a, vertex)).toEqual(["a".repeat(40)])
    expect(await askAll("/health", "/health")).toEqual(["health", "health"])
  })

  it("are dropped when their source changed during the lookup", async () => {
    let version = 1
    const names = Effect.zipRight(
      Effect.sleep(1),
      Effect.sync(() => ({ names: [], at: version++ })),
    )
    const made: Array<number> = []
    await using server = await TestServer.start(
      { versions: { ...TestServer.changing, state: () => version } },
      { core: { names: () => Effect.tap(names, ({ at }) => made.push(at)) } },
    )
    for (let i = 0; i < 3; i++) await ask(server.port, get(`/names?addresses=${"a".repeat(40)}`))
    expect(made).toEqual([1, 2, 3])
  })
})

describe("event streams", () => {
  it("send frames with all headers until the reader leaves, and number at most a hundred", async () => {
    let readers = 0
    await using server = await TestServer.start(
      {},
      {
        events: {
          stream: ({ headers }) =>
            Effect.succeed(
              Stream.acquireRelease(
                Effect.sync(() => readers++),
                () => Effect.sync(() => readers--),
              ).pipe(
                Stream.map(() => ({
                  id: Number(headers["last-event-id"] ?? 0) + 1,
                  event: { type: "alert", severity: "warning", message: "lag" } as const,
                })),
                Stream.concat(Stream.never),
              ),
            ),
        },
      },
    )
    const bytes = await TestServer.exchange(server.port, [get("/events", "Last-Event-ID: 41\r\n")], {
      isEnough: (text) => /event: alert\n.*\n\n/.test(text),
    })
    const text = bytes.toString()
    expect(text).toContain("content-type: text/event-stream".replace("content-type", "Content-Type"))
    expect(text).toContain("Cache-Control: no-store")
    expect(text).toContain('id: 42\nevent: alert\ndata: {"type":"alert","severity":"warning","message":"lag"}\n\n')
    await expect.poll(() => readers).toBe(0)

    expectFailure(await ask(server.port, get("/events", "Last-Event-ID: x\r\n")), 400, "InvalidRequest")
    const controller = new AbortController()
    const open = Array.from({ length: 100 }, () => fetch(`${server.url}/events`, { signal: controller.signal }))
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual(open.map(() => 200))
    expectFailure(await ask(server.port, get("/events")), 503, "Overloaded")
    controller.abort()
    await expect.poll(() => readers).toBe(0)
  })
})

it("of another site's page give way to the visitor's own programs", async () => {
  await using server = await TestServer.start(
    { rateLimits: true },
    { events: { stream: () => Effect.succeed(Stream.never) } },
  )
  const controller = new AbortController()
  const ended: Array<string> = []
  const open = async (who: string, headers: Record<string, string> = {}): Promise<number> => {
    const answer = await fetch(`${server.url}/events`, { headers, signal: controller.signal })
    void answer.text().then(
      () => ended.push(who),
      () => {},
    )
    return answer.status
  }
  const foreign = (n: number) => open(`page ${n}`, { Origin: "https://example.org", "Sec-Fetch-Site": "cross-site" })
  const of = async (ask: (n: number) => Promise<number>, count: number) => {
    const statuses: Array<number> = []
    for (let n = 0; n < count; n++) statuses.push(await ask(n))
    return statuses
  }
  const taken = Array.from({ length: 8 }, () => 200)
  expect(await of(foreign, 9)).toEqual([...taken, 429])
  expect(await of(() => open("own"), 2)).toEqual([200, 200])
  await expect.poll(() => ended).toEqual(["page 8", "page 0", "page 1"])
  expect(await of(foreign, 1)).toEqual([429])
  const ownPage = { Origin: server.url, "Sec-Fetch-Site": "same-origin" }
  expect(await of(() => open("own page", ownPage), 7)).toEqual([...taken.slice(2), 429])
  await expect.poll(() => ended.filter((who) => who.startsWith("own"))).toEqual(["own page"])
  controller.abort()
})

describe("event streams under pressure", () => {
  const flood = (readers: { count: number; gone: number }) =>
    Stream.acquireRelease(
      Effect.sync(() => readers.count++),
      () => Effect.sync(() => readers.gone++),
    ).pipe(
      Stream.flatMap(() => Stream.iterate(1, (id) => id + 1)),
      Stream.map((id) => ({ id, event: { type: "alert", severity: "warning", message: "x".repeat(10_000) } as const })),
    )

  it("drop a reader that does not read and continue to serve the others", async () => {
    const readers = { count: 0, gone: 0 }
    await using server = await TestServer.start(
      { tolerance: { unreadEventsMs: 200 } },
      { events: { stream: () => Effect.succeed(flood(readers)) } },
    )
    const socket = connect({ port: server.port, host: "127.0.0.1" })
    socket.on("error", () => {})
    socket.pause()
    socket.write(get("/events"))
    await expect.poll(() => readers.gone).toBe(1)
    expect((await ask(server.port, get("/status"))).status).toBe(200)
    socket.destroy()
  })

  it("end in the middle of a frame at shutdown, with nothing written behind it", async () => {
    const readers = { count: 0, gone: 0 }
    const trickle = Stream.flatMap(flood(readers), (event) => Effect.delay(Effect.succeed(event), 1))
    // A shutdown that waited for them would exceed the test's time limit.
    const server = await TestServer.start(
      { tolerance: { drainMs: 3_600_000 } },
      { events: { stream: () => Effect.succeed(trickle) } },
    )
    const socket = connect({ port: server.port, host: "127.0.0.1" })
    const closed = once(socket, "close")
    let text = ""
    socket.setEncoding("utf8").on("data", (part: string) => {
      text += part
    })
    socket.write(get("/events"))
    await expect.poll(() => text).toContain("event: alert")
    await server.stop()
    await closed
    expect(readers).toEqual({ count: 1, gone: 1 })
    expect(text).toMatch(/\r\n0\r\n\r\n$/)
  })
})
