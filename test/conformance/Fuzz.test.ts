/** Thousands of random requests to the built node, which must keep working. */
import { connect, type Socket } from "node:net"
import { FastCheck as fc } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import * as TestServer from "../rpc/TestServer.js"
import * as Rest from "../support/Rest.js"
import * as Requests from "./Requests.js"
import * as TestNode from "./TestNode.js"

const REQUESTS = 20_000
const USUAL_REQUESTS = 2_500
const CONNECTIONS = 16

let node: TestNode.TestNode
beforeAll(async () => {
  node = await TestNode.start()
})
afterAll(() => node.stop())

const residentBytes = async (): Promise<number> => {
  const metrics = await node.client.monitoring.metrics()
  const bytes = Number(/^(?:udg_)?process_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1])
  expect(bytes).toBeGreaterThan(1_000_000)
  return bytes
}

const answersWhateverComes = async (count: number): Promise<void> => {
  const { alice, bob } = node.accounts
  const secrets = Object.values(node.keys).map((key) => key.toSecretHex())
  const transfer = alice.transfer({ to: bob.address, amount: 1, fee: 1_000, nonce: 0 })
  const secret_key = node.keys.alice.toSecretHex()
  const known: Requests.Known = {
    values: [...secrets, alice.address, bob.addressBech32, alice.publicKey, transfer.signature ?? ""],
    posts: [
      { path: "/tx/submit", body: transfer },
      { path: "/tx", body: { secret_key, to: bob.address, amount: 1, fee: 1_000 } },
      { path: "/stake", body: { secret_key, amount: 200_000_000_000 } },
      { path: "/unstake", body: { secret_key } },
      { path: "/delegate", body: { secret_key, validator: node.validator.address, amount: 100_000_000 } },
      { path: "/undelegate", body: { secret_key } },
      { path: "/set-commission", body: { secret_key, commission_percent: 5 } },
      { path: "/proposal", body: { secret_key, title: "t", description: "", proposal_type: { Text: {} }, fee: 1_000 } },
      { path: "/vote", body: { secret_key, proposal_id: 1, vote: true, fee: 1_000 } },
      { path: "/faucet", body: { address: bob.address, amount: 1 } },
    ],
  }
  const seed = Number(process.env["UDG_FUZZ_SEED"] ?? 20_261_121)
  const statuses = new Map<number, number>()
  const complaints: Array<string> = []
  const run = async (requests: ReadonlyArray<Buffer>): Promise<void> => {
    let next = 0
    const worker = async (): Promise<void> => {
      for (let i = next++; i < requests.length && complaints.length < 5; i = next++) {
        const request = requests[i] ?? Buffer.alloc(0)
        const bytes = await Requests.send(node.port, request)
        const status = Number(bytes.subarray(9, 12).toString())
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        const complaint = Requests.complaintAbout(request, bytes, secrets)
        if (complaint !== undefined) {
          const shown = JSON.stringify(request.subarray(0, 400).toString("latin1"))
          complaints.push(`seed ${seed}, request ${i}: ${complaint}\n${shown}`)
        }
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  }

  const all = fc.sample(Requests.arbitrary(known), { seed, numRuns: count })
  await run(all.slice(0, count / 2))
  const halfway = await residentBytes()
  await run(all.slice(count / 2))
  expect(complaints).toEqual([])
  // Guards the generator: responses of every kind occurred.
  for (const status of [200, 204, 400, 404, 405, 413, 415]) expect(statuses.get(status), `${status}`).toBeGreaterThan(0)
  expect((await residentBytes()) - halfway).toBeLessThan(100_000_000)

  const { dag_round } = await node.client.core.status()
  await TestNode.until(
    () => node.client.core.status(),
    (status) => status.dag_round > dag_round + 10,
  )
  await TestNode.until(
    () => node.client.core.healthReport(),
    ({ status }) => status === "healthy",
  )
  expect(node.log()).not.toMatch(/ERROR|a handler failed/)
  for (const secret of secrets) expect(node.log()).not.toContain(secret)
}

const named = (count: number) =>
  `whichever of ${count} requests comes gets a well-formed answer below 500, and memory stays bounded`

it(named(USUAL_REQUESTS), () => answersWhateverComes(USUAL_REQUESTS), 900_000)
it(Rest.of("more requests", named(REQUESTS)), () => answersWhateverComes(REQUESTS), 900_000)

it("five hundred slow clients do not delay others", async () => {
  const slow = Array.from({ length: 500 }, (_, i): Socket => {
    const socket = connect({ port: node.port, host: "127.0.0.1" })
    socket.on("error", () => {})
    socket.write(i % 2 === 0 ? "GET /sta" : TestServer.post("/stake", '{"amount":1}').slice(0, -3))
    return socket
  })
  await TestNode.until(
    async () => slow.filter(({ readyState }) => readyState === "open").length,
    (open) => open === slow.length,
  )
  for (let i = 0; i < 20; i++) expect((await TestServer.ask(node.port, TestServer.get("/status"))).status).toBe(200)
  expect(slow.filter(({ readyState }) => readyState === "open")).toHaveLength(slow.length)
  for (const socket of slow) socket.destroy()
})
