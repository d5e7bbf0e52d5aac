/** Runs the conformance tables of the HTTP API against a gateway, which answers from an archive. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import { type Follower, follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import * as Reads from "../conformance/Reads.js"
import * as Refusals from "../conformance/Refusals.js"
import * as Suite from "../conformance/Suite.js"
import * as TestNode from "../conformance/TestNode.js"
import * as World from "../conformance/World.js"
import * as Rest from "../support/Rest.js"
import { type Gateway, serve } from "./Serving.js"

const modes = ["testnet", "mainnet"] as const
const isTried = Server.isThere || process.env["CI"] !== undefined

/** Starts an archive after everything has happened, so that it must catch up, and a gateway over it. */
const behind = async (server: Server.Server, mode: TestNode.Mode, world: World.World) => {
  const { node } = world
  const database = await server.create(mode)
  const follower = follow(node, mode, database, node)
  const { last_finalized_round: round } = await node.client.core.status()
  await TestNode.until(
    () => Server.query(database, "select max(leader_round) from commits").catch(() => []),
    ([row]) => Number(row?.[0] ?? 0) >= round,
  )
  const gateway = await serve(node.genesisFile, database, [node.url])
  const client = Client.connect(gateway.url, { retries: 0 })
  const { port } = new URL(gateway.url)
  const served = {
    ...world,
    isGateway: true,
    peers: 1,
    node: { ...node, url: gateway.url, port: Number(port), client },
  }
  return { follower, gateway, served }
}

describe.skipIf(!isTried)(Rest.of("the tables of a node once more", "behind a gateway"), () => {
  let server: Server.Server
  const nodes: Array<TestNode.TestNode> = []
  const others: Array<{ readonly follower: Follower; readonly gateway: Gateway }> = []

  beforeAll(async () => {
    server = await Server.make()
  })
  afterAll(async () => {
    for (const { gateway } of others) gateway.child.kill("SIGKILL")
    await Promise.all(others.map(({ follower }) => follower.end("SIGKILL")))
    await Promise.all(nodes.map((node) => node.stop()))
    await server.remove()
  })

  describe.each(modes)("a %s", (mode) => {
    const { ask } = Suite.define({
      world: async () => {
        const node = await TestNode.start({ mode, parameters: World.parameters })
        nodes.push(node)
        const { served, ...started } = await behind(server, mode, await World.populate(node))
        others.push(started)
        return served
      },
      reads: [...Reads.reads, ...Reads.archived],
      refusals: Refusals.ofGateway.filter(({ only }) => only === undefined || only === mode),
    })

    it("serves its own metrics", async () => {
      const { headers, body } = await ask("GET", "/metrics", "/metrics")
      expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
      expect(body).toMatch(/^udg_gateway_commit \d+$/m)
      expect(body).not.toMatch(/^checkpoint_produced_total /m)
    })
  })
})
