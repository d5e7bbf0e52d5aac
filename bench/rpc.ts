/**
 * The whole node compared with a bare `node:http` server with the same bytes, in turns in the same process; then as
 * many signed transfers as it accepts, and the latency of reads meanwhile.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as ResponseHeaders from "../src/edge/server/ResponseHeaders.js"
import { type StartedNode, startNode } from "../src/testing/Testing.js"
import { type Figure, median, type Suite } from "./Harness.js"
import * as HttpLoad from "./HttpLoad.js"
import type { Transfers } from "./Transfers.js"

const CONNECTIONS = 32
/** Connections of senders, each with one request at a time. */
const SENDING = 128
const MILLISECONDS = 500
const ROUNDS = 9
const ROUND_MS = 100

const ACCOUNTS = 400
/** Below an account's limit of pending transactions. */
const EACH = 50
const BATCH = 100

/** The server's processor time per response, which is independent of other load. */
interface Measured {
  readonly perSecond: number
  readonly p99Ms: number
  readonly processorUs: number
}

const measured = async (load: HttpLoad.Load): Promise<Measured> => {
  let before = process.cpuUsage()
  const begins = (): void => {
    before = process.cpuUsage()
  }
  const { answers, perSecond, p99Ms } = await HttpLoad.run(load, begins)
  const { user, system } = process.cpuUsage(before)
  return { perSecond, p99Ms, processorUs: (user + system) / answers }
}

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

/** The upper limit for any server on Node.js. */
const bare = async (answers: ReadonlyMap<string, Buffer>) => {
  const server = createServer((request, response) => {
    const body = answers.get(request.url ?? "") ?? Buffer.from("{}")
    const answer = () => {
      response.writeHead(200, [...ResponseHeaders.bare, ...ResponseHeaders.content(ResponseHeaders.json, body.length)])
      response.end(body)
    }
    if (request.method === "GET") answer()
    else request.resume().on("end", answer)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { port: (server.address() as AddressInfo).port, stop }
}

/** By an account outside of the load. */
const paid = async ({ client, accounts, finalized }: StartedNode) => {
  const sender = accounts.at(-1)
  if (sender === undefined) throw new Error("no account has coins")
  const payload = sender.transfer({ to: sender.address, amount: 1, fee: 1_000, nonce: 0 })
  const { tx_hash } = await client.transactions.submit({ payload })
  await finalized(tx_hash)
  return tx_hash
}

const reads = async (node: StartedNode, port: number): Promise<ReadonlyArray<Figure>> => {
  const address = node.accounts[0]?.address ?? ""
  const hash = await paid(node)
  const { vertex_hash } = await node.client.transactions.lookup({ path: { hash } })
  const paths: ReadonlyArray<readonly [name: string, path: string]> = [
    ["/status", "/status"],
    ["/balance", `/balance/${address}`],
    ["/tx", `/tx/${hash}`],
    ["/validators", "/validators"],
    ["/metrics/json", "/metrics/json"],
    ["/vertex", `/vertex/${vertex_hash}`],
    ["/account/…/transactions", `/account/${address}/transactions`],
    ["/mempool", "/mempool"],
    ["/health/detailed", "/health/detailed"],
  ]
  const bodies = new Map<string, Buffer>()
  for (const [, path] of paths) bodies.set(path, Buffer.from(await (await fetch(`${node.url}${path}`)).arrayBuffer()))
  const plain = await bare(bodies)
  const figures: Array<Figure> = []
  for (const [name, path] of paths) {
    const mine: Array<Measured> = []
    const its: Array<Measured> = []
    // In turns, so that a busy moment affects both.
    for (let round = 0; round <= ROUNDS; round++) {
      const load = { requests: [request(path)], connections: CONNECTIONS, milliseconds: MILLISECONDS }
      const one = await measured({ ...load, port: plain.port })
      const other = await measured({ ...load, port })
      if (round > 0) {
        its.push(one)
        mine.push(other)
      }
    }
    const of = (list: ReadonlyArray<Measured>, key: keyof Measured) => median(list.map((each) => each[key]))
    // From each round's pair, because the machine can change until the next.
    const shares = mine.map(({ processorUs }, i) => (its[i]?.processorUs ?? Number.NaN) / processorUs)
    figures.push(
      { name: `GET ${name}, bare`, value: of(its, "processorUs"), unit: "µs of processor each" },
      { name: `GET ${name}`, value: of(mine, "processorUs"), unit: "µs of processor each" },
      { name: `GET ${name}, of bare`, value: median(shares), unit: "share" },
      { name: `GET ${name}, throughput`, value: of(mine, "perSecond"), unit: "a second" },
    )
  }
  plain.stop()
  return figures
}

/** The same transfers to a server that reads them and returns an acceptance. */
const bareSubmissions = async (transfers: Transfers) => {
  const answer = JSON.stringify({ tx_hash: "0".repeat(64), status: "accepted", nonce: 7 })
  const plain = await bare(new Map([["/tx/submit", Buffer.from(answer)]]))
  const sent = await measured({ port: plain.port, requests: transfers, connections: SENDING, milliseconds: 60_000 })
  plain.stop()
  return sent
}

const submissions = async (node: StartedNode, port: number, firstNonce: number, batch: number) => {
  const transfers = { network: node.network, accounts: ACCOUNTS, firstNonce, each: EACH, batch }
  const plain = await bareSubmissions(transfers)
  const watched = request(`/balance/${node.accounts[1]?.address}`)
  const finalizedBefore = (await node.client.core.status()).last_finalized_round
  const load = measured({ port, requests: transfers, connections: SENDING, milliseconds: 60_000 })
  const reading = HttpLoad.run({ port, requests: [watched], connections: 2, milliseconds: 3_000 })
  const [sent, read] = await Promise.all([load, reading])
  const finalizedAfter = (await node.client.core.status()).last_finalized_round
  if (finalizedAfter <= finalizedBefore) throw new Error("the node finalized nothing under the load")
  const name = batch === 1 ? "POST /tx/submit" : `POST /tx/submit, arrays of ${batch}`
  const cost = { bare: plain.processorUs / batch, node: sent.processorUs / batch }
  return [
    { name: `${name}, bare`, value: cost.bare, unit: "µs of processor a transaction" },
    {
      name,
      value: cost.node,
      unit: `µs of processor a transaction, all threads, signatures checked, until it is final`,
    },
    { name: `${name}, bare`, value: plain.perSecond * batch, unit: "a second" },
    { name: `${name}, throughput`, value: sent.perSecond * batch, unit: "a second" },
    { name: `GET /balance beside ${name}, p99`, value: read.p99Ms, unit: "ms" },
  ]
}

const settled = async ({ client }: StartedNode): Promise<void> => {
  while ((await client.core.status()).mempool_size > 0) await new Promise((resolve) => setTimeout(resolve, 50))
}

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const node = await startNode({ roundMs: ROUND_MS, accounts: ACCOUNTS + 1 })
  const port = Number(new URL(node.url).port)
  const hot = await reads(node, port)
  const alone = await submissions(node, port, 0, 1)
  await settled(node)
  const together = await submissions(node, port, EACH, BATCH)
  await node.stop()
  return [...hot, ...alone, ...together]
}

export const suite: Suite = {
  about: `a whole node, ${CONNECTIONS} connections from another process; reads are medians of ${ROUNDS} rounds of ${MILLISECONDS} ms`,
  figures,
}
