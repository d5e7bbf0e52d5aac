/** Resolves hashes given by their beginning, or by both ends as in lists, with a node that knows some. */
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, Either, Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Abbreviations from "../../../src/cli/wallet/Abbreviations.js"
import * as Node from "../../../src/cli/wallet/Node.js"
import * as Hash from "../../../src/protocol/identity/Hash.js"

const hash = (start: string, end: string): Hash.Hash =>
  Schema.decodeSync(Hash.schema)(`${start}${"0".repeat(64 - start.length - end.length)}${end}`)

const first = hash("abcd1", "11")
const second = hash("abcd2", "22")
const vertex = hash("abcd1", "33")

let server: Server
let node: Node.Node
beforeAll(async () => {
  const body = { accounts: [], names: [], transactions: [first, second], vertices: [vertex] }
  // The same response to every request: the program must check it.
  server = createServer((_, response) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify(body))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  node = Node.connect(`http://127.0.0.1:${port}`)
})
afterAll(() => {
  server.close()
})

const found = (kind: "transactions" | "vertices", start: string, end = "") =>
  Effect.runPromise(
    Effect.map(Effect.either(Abbreviations.hash(node, kind, { start, end })), (either) =>
      Either.match(either, { onLeft: ({ message }) => message.replace(node.url, "the node"), onRight: String }),
    ),
  )

describe("an abbreviated hash", () => {
  it("is the only one with this beginning, and this end if that is known", async () => {
    expect(await found("transactions", "abcd1")).toBe(first)
    expect(await found("transactions", "abcd2")).toBe(second)
    expect(await found("transactions", "abcd", "22")).toBe(second)
    expect(await found("vertices", "abcd")).toBe(vertex)
  })

  it("is refused for several or no matches", async () => {
    expect(await found("transactions", "abcd")).toBe(
      "more than one transaction begins with abcd; give more of its digits",
    )
    expect(await found("transactions", "abcd3")).toBe("the node knows no transaction abcd3")
    expect(await found("transactions", "abcd1", "22")).toBe("the node knows no transaction abcd1…22")
    expect(await found("vertices", "abcd2")).toBe("the node knows no vertex abcd2")
  })
})
