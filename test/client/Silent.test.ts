/** Event streams whose connection stays open but silent, as behind a router that has dropped it. */
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeEach, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"

/** The response to each stream in turn; the last one is for all further streams. */
let answers: ReadonlyArray<(response: ServerResponse) => void> = []
let asked: Array<string | undefined> = []

const server = createServer(({ url, headers }, response) => {
  if (!url?.startsWith("/events")) return void response.writeHead(404).end("{}")
  const after = headers["last-event-id"]
  asked.push(typeof after === "string" ? after : undefined)
  answers[Math.min(asked.length, answers.length) - 1]?.(response)
})
server.listen(0, "127.0.0.1")
await once(server, "listening")
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  asked = []
})

const connected = (longestSilenceMs: number) =>
  Client.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { longestSilenceMs })
const client = connected(200)

const event = (id: number): string =>
  `id: ${id}\ndata: ${JSON.stringify({ type: "round", round: id, finalized_round: id })}\n\n`

const streaming =
  (text: string) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(text)
  }

it("are reopened after the last event, also where no response begins", async () => {
  answers = [streaming(event(1)), () => {}, streaming(event(2))]
  const seen: Array<string> = []
  for await (const { id } of client.follow()) {
    seen.push(id)
    if (seen.length === 2) break
  }
  expect(seen).toEqual(["1", "2"])
  expect(asked).toEqual([undefined, "1", "1"])
})

it("end with a reason if they are not reopened", async () => {
  answers = [streaming(event(1))]
  const read = async () => {
    for await (const _ of client.events());
  }
  await expect(read()).rejects.toMatchObject({ name: "Unreachable" })
  await expect(read()).rejects.toThrow("the stream was silent for 200 ms")
})

it("continue while heartbeats arrive, and while their reader takes its time", async () => {
  let beats = 0
  answers = [
    (response) => {
      streaming(event(1))(response)
      const timer = setInterval(() => {
        beats++
        response.write(beats === 15 ? event(2) : ":\n\n")
        if (beats === 15) clearInterval(timer)
      }, 100)
    },
  ]
  const seen: Array<string> = []
  for await (const { id } of connected(1_000).follow()) {
    seen.push(id)
    if (id === "2") break
    await new Promise((resolve) => setTimeout(resolve, 1_200))
  }
  expect([seen, asked]).toEqual([["1", "2"], [undefined]])
})
