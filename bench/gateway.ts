/**
 * The same reads from one node, one gateway and two; then the time of a read through a gateway while its archive writes
 * at the network's full speed.
 */
import * as Address from "../src/protocol/identity/Address.js"
import * as Network from "../src/protocol/identity/Network.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Testing from "../src/testing/Testing.js"
import { follow } from "../test/archive/Follower.js"
import * as Server from "../test/archive/Server.js"
import { serve } from "../test/gateway/Serving.js"
import * as Processes from "../test/network/Processes.js"
import { type Figure, median, type Suite } from "./Harness.js"
import * as HttpLoad from "./HttpLoad.js"
import { cpuMs, familyMs } from "./ProcessorTime.js"
import type { Transfers } from "./Transfers.js"

const ACCOUNTS = 500
const BALANCE = Sats.make(1_000 * Sats.SATS_PER_COIN)
/** Payments of each account before the reads, so that there is data to read. */
const EACH = 20
const BATCH = 100
const CONNECTIONS = 32
const MILLISECONDS = 3_000
const ROUNDS = 3
/** Further payments of each account under load. */
const MORE = 120
const SENDING = 8

interface Place {
  readonly name: string
  readonly ports: ReadonlyArray<number>
  readonly pids: ReadonlyArray<number>
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

const portOf = (url: string): number => Number(new URL(url).port)

const usedMs = (pids: ReadonlyArray<number>): number => pids.reduce((sum, pid) => sum + cpuMs({ pid }), 0)

const senders = Array.from({ length: ACCOUNTS }, (_, i) => Address.fromPublicKey(Testing.keyOf(i).publicKey))

const transfers = (network: Processes.Founded, firstNonce: number, each: number): Transfers => ({
  network: { networkId: network.genesis.networkId, prefix: Network.addressPrefix(network.genesis.mode) },
  accounts: ACCOUNTS,
  firstNonce,
  each,
  batch: BATCH,
})

/** The same reads at all ports of a place, with the connections divided among them. */
const read = async ({ ports, pids }: Place, database: () => number, requests: ReadonlyArray<string>) => {
  const before = { own: usedMs(pids), database: database() }
  const outcomes = await Promise.all(
    ports.map((port) =>
      HttpLoad.run({ port, requests, connections: CONNECTIONS / ports.length, milliseconds: MILLISECONDS }),
    ),
  )
  const answers = outcomes.reduce((sum, outcome) => sum + outcome.answers, 0)
  return {
    perSecond: outcomes.reduce((sum, outcome) => sum + outcome.perSecond, 0),
    ownUs: ((usedMs(pids) - before.own) * 1_000) / answers,
    databaseUs: ((database() - before.database) * 1_000) / answers,
  }
}

const figuresOf = async (
  places: ReadonlyArray<Place>,
  database: () => number,
  name: string,
  requests: ReadonlyArray<string>,
): Promise<ReadonlyArray<Figure>> => {
  const seen = places.map((): Array<Awaited<ReturnType<typeof read>>> => [])
  // In turns, so that a busy moment affects all.
  for (let round = 0; round <= ROUNDS; round++)
    for (const [i, place] of places.entries()) {
      const outcome = await read(place, database, requests)
      if (round > 0) seen[i]?.push(outcome)
    }
  return places.flatMap((place, i): ReadonlyArray<Figure> => {
    const of = (key: "perSecond" | "ownUs" | "databaseUs") => median((seen[i] ?? []).map((one) => one[key]))
    const title = `GET ${name}, ${place.name}`
    return [
      { name: title, value: of("perSecond"), unit: "a second" },
      { name: title, value: of("ownUs"), unit: "µs of processor each, of its own process" },
      ...(i === 0 ? [] : [{ name: title, value: of("databaseUs"), unit: "µs of processor each, of PostgreSQL" }]),
    ]
  })
}

/** The archive's transactions; -1 before it has begun. */
const countIn = async (database: string): Promise<number> => {
  const rows = await Server.query(database, "select last_sequence from position").catch(() => [])
  return Number(rows[0]?.[0] ?? -1)
}

/** Time of reads while the archive writes. */
const beside = async (
  network: Processes.Founded,
  node: Processes.Started,
  database: string,
  gateway: Place,
  reads: ReadonlyArray<readonly [name: string, requests: ReadonlyArray<string>]>,
): Promise<ReadonlyArray<Figure>> => {
  const [port = 0] = gateway.ports
  const before = { at: performance.now(), count: await countIn(database) }
  const load = HttpLoad.run({
    port: portOf(node.http ?? ""),
    requests: transfers(network, EACH, MORE),
    connections: SENDING,
    milliseconds: 600_000,
  })
  await Processes.until("the archive writes", async () => (await countIn(database)) > before.count)
  const figures: Array<Figure> = []
  for (const [name, requests] of reads) {
    const from = { at: performance.now(), count: await countIn(database) }
    const { p99Ms } = await HttpLoad.run({ port, requests, connections: 2, milliseconds: MILLISECONDS })
    const written = ((await countIn(database)) - from.count) / ((performance.now() - from.at) / 1_000)
    figures.push(
      { name: `GET ${name}, one gateway under load, p99`, value: p99Ms, unit: "ms" },
      { name: `beside GET ${name}, into PostgreSQL`, value: written, unit: "transactions a second" },
    )
  }
  await load
  return figures
}

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  if (!Server.isThere) throw new Error("bench: PostgreSQL is not installed")
  const network = Processes.found({
    ...{ validators: 1, roundMs: 250, epochRounds: 240, networkId: "udg-gateway-bench" },
    allocations: senders.map((address) => ({ address, amount: BALANCE })),
  })
  const server = await Server.make()
  const children: Array<{ readonly kill: (signal: NodeJS.Signals) => unknown }> = []
  try {
    const node = await Processes.startValidator(network, 0, [], ["--archive", "--rate-limits", "off"], "warn")
    const url = node.http ?? ""
    const first = { requests: transfers(network, 0, EACH), connections: SENDING, milliseconds: 600_000 }
    await HttpLoad.run({ port: portOf(url), ...first })
    const database = await server.create("bench")
    const follower = follow(network, "a", database, node)
    children.push(follower.child)
    await Processes.until("the archive has them", async () => (await countIn(database)) >= ACCOUNTS * EACH)
    const gateways = [
      await serve(network.genesisFile, database, [url]),
      await serve(network.genesisFile, database, [url]),
    ]
    children.push(...gateways.map(({ child }) => child))
    const places: ReadonlyArray<Place> = [
      { name: "a node", ports: [portOf(url)], pids: [node.pid] },
      ...["one gateway", "two gateways"].map((name, i) => {
        const own = gateways.slice(0, i + 1)
        return { name, ports: own.map(({ url }) => portOf(url)), pids: own.map(({ child }) => child.pid ?? 0) }
      }),
    ]
    await sleep(2_000)
    const known = await Server.query(
      database,
      "select encode(hash, 'hex') from transactions order by sequence limit 200",
    )
    const reads: ReadonlyArray<readonly [name: string, requests: ReadonlyArray<string>]> = [
      ["/tx", known.map(([hash]) => request(`/tx/${hash}`))],
      ["/account/…/transactions", senders.map((address) => request(`/account/${address}/transactions?limit=20`))],
      ["/balance", senders.map((address) => request(`/balance/${address}`))],
      ["/status", [request("/status")]],
    ]
    const all: Array<Figure> = []
    for (const [name, requests] of reads)
      all.push(...(await figuresOf(places, () => familyMs(server.pid()), name, requests)))
    const [, gateway] = places
    if (gateway === undefined) throw new Error("there is a gateway")
    return [...all, ...(await beside(network, node, database, gateway, reads))]
  } finally {
    for (const child of children) child.kill("SIGKILL")
    await Processes.removeAll()
    await server.remove()
  }
}

export const suite: Suite = {
  about: `the same reads from a node, from one gateway and from two, ${CONNECTIONS} connections from another process, medians of ${ROUNDS} rounds of ${MILLISECONDS} ms`,
  isLong: true,
  figures,
}
