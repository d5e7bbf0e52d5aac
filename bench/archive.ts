/**
 * What an archive with its PostgreSQL takes, idle and with payments, and what requests to a gateway cost: constants of
 * docs/operations/sizing.md. Takes some minutes, so it runs only if named.
 */
import { setTimeout as sleep } from "node:timers/promises"
import * as Address from "../src/protocol/identity/Address.js"
import * as Network from "../src/protocol/identity/Network.js"
import { follow } from "../test/archive/Follower.js"
import * as Server from "../test/archive/Server.js"
import { serve } from "../test/gateway/Serving.js"
import * as Processes from "../test/network/Processes.js"
import type { Figure, Suite } from "./Harness.js"
import * as HttpLoad from "./HttpLoad.js"
import * as Payments from "./Payments.js"
import { cpuMs } from "./ProcessorTime.js"
import * as Usage from "./Usage.js"
import * as Validators from "./Validators.js"
import * as Yardstick from "./Yardstick.js"

const RATES = [0, 20, 200]
const VALIDATORS = 4
const ROUND_MS = 250
const CONNECTIONS = 16
const READ_MS = 5_000

const one = async (database: string, text: string): Promise<number> =>
  Number((await Server.query(database, text))[0]?.[0] ?? Number.NaN)

interface Watched {
  readonly database: string
  readonly archive: number
  readonly postgres: number
  readonly node: Processes.Started
}

const countsOf = async ({ database, archive, postgres, node }: Watched) => {
  return {
    at: performance.now(),
    rounds: Processes.finalizedRound(node),
    final: Processes.recorded(node),
    archive: cpuMs({ pid: archive }),
    postgres: Usage.ofFamily(postgres, cpuMs),
    written: Usage.ofFamily(postgres, Usage.writtenBytes),
    ownWritten: Usage.writtenBytes({ pid: archive }),
    size: await one(database, "select pg_database_size(current_database())"),
  }
}

type Counts = Awaited<ReturnType<typeof countsOf>>

const figuresOf = (name: string, before: Counts, after: Counts): ReadonlyArray<Figure> => {
  const seconds = (after.at - before.at) / 1_000
  const figure = (what: string, key: keyof Counts, unit: string, per = seconds): Figure => ({
    name: `archive, ${name}: ${what}`,
    value: (after[key] - before[key]) / per,
    unit,
  })
  const final = after.final - before.final
  return [
    figure("rounds", "rounds", "a second"),
    figure("final", "final", "a second"),
    figure("processor of the archive", "archive", "ms a second"),
    figure("processor of PostgreSQL", "postgres", "ms a second"),
    figure("given to the disk by the archive", "ownWritten", "bytes a second"),
    figure("given to the disk by PostgreSQL", "written", "bytes a second"),
    figure("PostgreSQL grows", "size", "bytes a second"),
    ...(final > 0 ? [figure("PostgreSQL grows", "size", "bytes a transfer", final)] : []),
  ]
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

/** Reads that an explorer or a wallet makes. */
const ofGateway = async (watched: Watched, genesisFile: string, address: string): Promise<ReadonlyArray<Figure>> => {
  const gateway = await serve(genesisFile, watched.database, [watched.node.http ?? ""])
  try {
    const hash = await Server.query(watched.database, "select encode(hash, 'hex') from transactions limit 1")
    const paths: ReadonlyArray<readonly [name: string, path: string]> = [
      ["/status", "/status"],
      ["/balance", `/balance/${address}`],
      ["/tx", `/tx/${hash[0]?.[0]}`],
      ["/account/…/transactions", `/account/${address}/transactions`],
    ]
    const pid = gateway.child.pid ?? 0
    const all: Array<Figure> = []
    const load = (path: string) => ({
      ...{ port: Number(new URL(gateway.url).port), requests: [get(path)] },
      ...{ connections: CONNECTIONS, milliseconds: READ_MS },
    })
    const counts = () => ({ gateway: cpuMs({ pid }), postgres: Usage.ofFamily(watched.postgres, cpuMs) })
    const idle = { memory: Usage.memoryMiB({ pid }) }
    for (const [name, path] of paths) {
      const bytes = (await (await fetch(`${gateway.url}${path}`)).arrayBuffer()).byteLength
      await HttpLoad.run(load(path))
      const before = counts()
      const { answers } = await HttpLoad.run(load(path))
      const after = counts()
      const each = (key: "gateway" | "postgres") => ((after[key] - before[key]) * 1_000) / answers
      all.push(
        { name: `gateway, GET ${name}`, value: each("gateway"), unit: "µs of processor each" },
        { name: `gateway, GET ${name}: PostgreSQL`, value: each("postgres"), unit: "µs of processor each" },
        { name: `gateway, GET ${name}: body`, value: bytes, unit: "bytes" },
      )
    }
    return [
      { name: "gateway: memory, idle", value: idle.memory, unit: "MiB" },
      { name: "gateway: memory after these", value: Usage.memoryMiB({ pid }), unit: "MiB" },
      ...all,
    ]
  } finally {
    gateway.child.kill("SIGTERM")
  }
}

const measured = async (): Promise<ReadonlyArray<Figure>> => {
  if (!Server.isThere) throw new Error("PostgreSQL, which an archive needs, is not installed")
  const senders = Payments.senders(Validators.SENDERS)
  const [sender] = senders
  if (sender === undefined) throw new Error("there are no senders")
  const network = Processes.found({
    ...{ validators: VALIDATORS, roundMs: ROUND_MS },
    ...{ epochRounds: Validators.EPOCH_ROUNDS, checkpointRounds: Validators.CHECKPOINT_ROUNDS },
    allocations: senders.map(({ address }) => ({ address, amount: Validators.BALANCE })),
  })
  const server = await Server.make(["fsync=on"])
  const ends: Array<() => Promise<unknown>> = []
  try {
    const database = await server.create("sizing")
    const nodes = await Processes.startAll(network, ["--archive", "--rate-limits", "off"], "warn")
    const [node] = nodes
    if (node === undefined) throw new Error("there are no nodes")
    const archive = follow(network, "a", database, node)
    ends.push(() => archive.end("SIGTERM"))
    const position = () => one(database, "select commit_index from position").catch(() => -1)
    await Processes.until(`the archive begins: ${archive.said()}`, async () => (await position()) > 5)
    const clients = Payments.clients(network, nodes, senders, false)
    const pid = archive.child.pid ?? 0
    const watched = { database, archive: pid, postgres: server.pid(), node }
    const all: Array<Figure> = []
    for (const rate of RATES) {
      const run = (ms: number) => (rate === 0 ? sleep(ms) : Validators.offer(clients, rate, ms))
      await run(Validators.WARM_UP_MS)
      const before = await countsOf(watched)
      await run(Validators.PHASE_MS)
      all.push(...figuresOf(rate === 0 ? "idle" : `${rate} a second`, before, await countsOf(watched)))
    }
    all.push(
      { name: "archive: memory", value: Usage.memoryMiB({ pid }), unit: "MiB" },
      {
        name: "archive: memory of PostgreSQL",
        value: Usage.ofFamily(server.pid(), Usage.shareOfMemoryMiB),
        unit: "MiB",
      },
    )
    const prefix = Network.addressPrefix(network.genesis.mode)
    all.push(...(await ofGateway(watched, network.genesisFile, Address.toBech32(sender.address, prefix))))
    return all
  } finally {
    await Promise.all(ends.map((end) => end()))
    await server.remove()
    await Processes.removeAll()
  }
}

/** With the machine's speed meanwhile. */
const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const { all, signatureUs } = await Yardstick.beside(async () => ({ all: await measured() }))
  return [...all, { name: "archive: a signature check", value: signatureUs, unit: "µs of processor" }]
}

export const suite: Suite = {
  about: `an archive of ${VALIDATORS} validators with rounds of ${ROUND_MS} ms, PostgreSQL and a gateway, on one machine`,
  isLong: true,
  figures,
}
