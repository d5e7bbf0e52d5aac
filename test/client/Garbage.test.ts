/** Whatever responds, the client fails with one of its own errors, which describe the problem. */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"

let answer: (response: ServerResponse) => void = () => {}
const server = createServer((_, response) => answer(response))
let url = ""

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const answering =
  (status: number, body: string, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(status, headers).end(body)
  }

const HASH = "ab".repeat(32)

describe("an invalid response", () => {
  it.each([
    ["a page", answering(200, "<html>")],
    ["nothing", answering(200, "")],
    ["another value", answering(200, "[]")],
    ["a list nested by the thousand", answering(200, "[".repeat(100_000) + "]".repeat(100_000))],
    ["a field of another kind", answering(200, '{"address":7}')],
    ["an unknown error", answering(418, '{"code":"Teapot","error":"short and stout"}')],
    ["an error named like a method of objects", answering(400, '{"code":"constructor","error":""}')],
    ["an error without its fields", answering(404, '{"code":"RoundNotFound","error":"no"}')],
    ["a proxy's page", answering(502, "<h1>Bad Gateway</h1>")],
  ])("%s is an UnexpectedAnswer", async (_, answers) => {
    answer = answers
    const client = Client.connect(url)
    await expect(client.core.balance({ path: { address: "@alice" } })).rejects.toBeInstanceOf(Client.UnexpectedAnswer)
    await expect(client.transactions.lookup({ path: { hash: HASH } })).rejects.toBeInstanceOf(Client.UnexpectedAnswer)
  })

  it("is Unreachable for a broken connection, a missing server and a long silence", async () => {
    answer = (response) => response.destroy()
    await expect(Client.connect(url).core.status()).rejects.toBeInstanceOf(Client.Unreachable)
    await expect(Client.connect("http://127.0.0.1:9").core.status()).rejects.toBeInstanceOf(Client.Unreachable)
    answer = () => {}
    await expect(Client.connect(url, { timeoutMs: 50 }).core.status()).rejects.toBeInstanceOf(Client.Unreachable)
  })

  it("without an end is an UnexpectedAnswer", async () => {
    const piece = "x".repeat(1024 * 1024)
    answer = (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
        response.once("drain", more)
      }
      more()
    }
    await expect(Client.connect(url).core.status()).rejects.toThrow(/more than \d+ characters/)
  })

  it("with a wait of an hour is left to the caller, in seconds or as a date", async () => {
    const limited = { code: "RateLimited", error: "later", limit: 1, window_seconds: 3_600, retry_after_seconds: 3_600 }
    for (const after of ["3600", new Date(Date.now() + 3_600_000).toUTCString()]) {
      let asked = 0
      answer = (response) => {
        asked++
        answering(429, JSON.stringify(limited), { "retry-after": after })(response)
      }
      await expect(Client.connect(url).core.status()).rejects.toMatchObject({ code: "RateLimited" })
      expect(asked).toBe(1)
    }
  })

  it("with a wait that has passed is followed by the same request", async () => {
    const limited = { code: "RateLimited", error: "later", limit: 1, window_seconds: 1, retry_after_seconds: 1 }
    let asked = 0
    answer = (response) => {
      const headers = { "retry-after": new Date(0).toUTCString() }
      if (++asked === 1) answering(429, JSON.stringify(limited), headers)(response)
      else answering(200, "[]")(response)
    }
    await expect(Client.connect(url).core.status()).rejects.toBeInstanceOf(Client.UnexpectedAnswer)
    expect(asked).toBe(2)
  })

  it.each([
    ["an event that is no JSON", "id: 1\ndata: x\n\n"],
    ["an event with a field of another kind", 'id: 1\ndata: {"type":"round","round":"1","finalized_round":1}\n\n'],
    ["a line without an end", `data: ${"x".repeat(2 * 1024 * 1024)}`],
  ])("%s is an UnexpectedAnswer", async (_, text) => {
    answer = answering(200, text, { "content-type": "text/event-stream" })
    const first = async () => {
      for await (const event of Client.connect(url).events()) return event
      return undefined
    }
    await expect(first()).rejects.toBeInstanceOf(Client.UnexpectedAnswer)
  })

  it("is not reported for an event of an unknown kind, which is skipped", async () => {
    const known = { type: "alert", severity: "info", message: "well" }
    answer = answering(200, `id: 1\ndata: {"type":"weather"}\n\nid: 2\ndata: ${JSON.stringify(known)}\n\n`)
    const seen: Array<Client.NumberedEvent> = []
    for await (const event of Client.connect(url).events()) seen.push(event)
    expect(seen).toEqual([{ id: "2", event: known }])
  })
})

describe("invalid arguments", () => {
  it.each([
    ["round", () => Client.connect(url).dag.round({ path: { round: -1 } })],
    ["hash", () => Client.connect(url).transactions.lookup({ path: { hash: "ab" } })],
    ["amount", () => Client.connect(url).core.faucet({ payload: { address: "@alice", amount: 0.5 } })],
    ["limit", () => Client.connect(url).transactions.history({ path: { address: "@a" }, urlParams: { limit: 101 } })],
    ["secret_key", () => Client.connect(url).staking.unstake({ payload: { secret_key: "ab" } })],
  ])("are refused with their field and not sent: %s", async (field, call) => {
    answer = () => {
      throw new Error("it was sent")
    }
    await expect(call()).rejects.toBeInstanceOf(Client.InvalidInput)
    await expect(call()).rejects.toThrow(field)
  })

  it("get no brand", () => {
    expect(Client.Hash(HASH.toUpperCase())).toBe(HASH)
    expect(Client.Sats(500)).toBe(500)
    for (const wrong of [
      () => Client.Sats(0.5),
      () => Client.Hash("x"),
      () => Client.Round(-1),
      () => Client.Name("X"),
    ]) {
      expect(wrong).toThrow(Client.InvalidInput)
    }
  })
})
