/**
 * The alerts of archives, gateways, remote signers and upgrades fire at the failures they are meant for: real processes,
 * a real Prometheus with the shipped rules, and a real PostgreSQL. Takes twenty minutes, since an archive's lag is
 * reported only after seven minutes.
 */
import * as Pg from "pg"
import { afterAll, afterEach, describe, expect, it, onTestFinished } from "vitest"
import { position } from "../archive/Comparison.js"
import { follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import * as Serving from "../gateway/Serving.js"
import * as SignerProcess from "../signer/SignerProcess.js"
import { Alarms, endAll, isInstalled, LIMIT_MS, measure, printTable, type Target } from "./Alarms.js"
import * as OldProgram from "./OldProgram.js"
import * as Processes from "./Processes.js"
import { nodeKeyOf, placeOf, startWith } from "./Signers.js"
import * as Vote from "./Vote.js"

afterEach(async () => {
  await endAll()
  SignerProcess.killAll()
  await Processes.removeAll()
})

afterAll(printTable)

const figureOf = async ({ http }: Target, name: string): Promise<number> =>
  Number(new RegExp(`^${name} (\\d+)$`, "m").exec(await (await fetch(`${http}/metrics`)).text())?.[1] ?? Number.NaN)

/** A network of one validator, and an archive that follows it. */
const archived = async () => {
  const server = await Server.make()
  onTestFinished(server.remove)
  const database = await server.create("alerts")
  const network = Processes.found({ validators: 1, roundMs: 150, epochRounds: 10_000 })
  const [validator] = await Processes.startAll(network, ["--archive"])
  if (validator === undefined) return expect.unreachable()
  const archive = follow(network, "a", database, validator)
  onTestFinished(async () => void (await archive.end("SIGKILL")))
  await Processes.until("the archive begins", async () => (await position(database)) > 3)
  return { network, validator, database, archive }
}

const served = async (network: Processes.Founded, database: string, nodes: ReadonlyArray<Processes.Started>) => {
  const gateway = await Serving.serve(
    network.genesisFile,
    database,
    nodes.map(({ http }) => http ?? ""),
  )
  onTestFinished(() => void gateway.child.kill("SIGTERM"))
  return { http: gateway.url }
}

/** The archive's statement waits without an error, so the archive neither ends nor retries. */
const archiveLag = async () => {
  const { network, validator, database, archive } = await archived()
  const target = { http: /^ {2}rpc +(\S+)$/m.exec(archive.said())?.[1] ?? null }
  const alarms = await Alarms.onHealthy(network.folder, [validator, target])
  const session = new Pg.Client(database)
  await session.connect()
  try {
    await session.query("begin")
    await session.query("lock table position in access exclusive mode")
    await measure(
      "a session locks a table of the archive's database, and is forgotten",
      alarms,
      "UdgArchiveLag",
      target,
    )
    expect([archive.child.exitCode, await alarms.isFiring("UdgDown", target)]).toEqual([null, false])
  } finally {
    await session.end()
  }
}

const gatewayStands = async () => {
  const { network, validator, database, archive } = await archived()
  const gateway = await served(network, database, [validator])
  const alarms = await Alarms.onHealthy(network.folder, [validator, gateway])
  await archive.end("SIGKILL")
  await measure("the archive behind a gateway is killed", alarms, "UdgGatewayStands", gateway)
  expect(await alarms.isFiring("UdgGatewayAlone", gateway)).toBe(false)
}

/** The nodes do not validate, so the archive goes on without them. */
const gatewayAlone = async () => {
  const { network, validator, database } = await archived()
  const start = (name: string) => Processes.start(network, name, ["--no-validate", "--peer", validator.p2p])
  const nodes = [await start("a"), await start("b")]
  const gateway = await served(network, database, nodes)
  const alarms = await Alarms.onHealthy(network.folder, [validator, gateway])
  await Promise.all(nodes.map((node) => node.kill()))
  await measure("all nodes of a gateway are killed", alarms, "UdgGatewayAlone", gateway)
  expect(await alarms.isFiring("UdgGatewayStands", gateway)).toBe(false)
}

/** A stopped process keeps its connections, so only its silence gives it away. */
const signerAway = async () => {
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000 })
  const place = placeOf(network, 0)
  expect(await SignerProcess.signFrom(place, "1:1")).toBe(0)
  const signer = await SignerProcess.start(place, [nodeKeyOf(network, "0")])
  const first = await startWith(network, signer, "0", [])
  const nodes = [first]
  for (const n of [1, 2, 3]) nodes.push(await Processes.startValidator(network, n, nodes))
  await Processes.everybodySigns(network, first)
  const alarms = await Alarms.onHealthy(network.folder, nodes)
  signer.signal("SIGSTOP")
  await measure("a validator's signer is stopped with SIGSTOP", alarms, "UdgSignerAway", first)
}

/** The alert leaves time to upgrade: it fires while the network still runs by the old version. */
const upgradeNeeded = async (oldProgram: string) => {
  const parameters = { votingPeriodRounds: 60, executionDelayRounds: 30 }
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000, parameters })
  const nodes: Array<Processes.Started> = []
  for (const n of network.keys.keys()) {
    const way = n === 3 ? { ...Processes.DIRECT, program: oldProgram } : Processes.DIRECT
    nodes.push(await Processes.startValidator(network, n, nodes, [], undefined, way))
  }
  const [first, , , outdated] = nodes
  if (first === undefined || outdated === undefined) return expect.unreachable()
  await Processes.everybodySigns(network, first)
  const alarms = await Alarms.onHealthy(network.folder, nodes)
  await Vote.forNewestVersion(network, first)
  const decided = () => figureOf(outdated, "udg_protocol_version_decided")
  const known = await figureOf(outdated, "udg_protocol_version_known")
  await Processes.until("the vote passes", async () => (await decided()) > known)
  await measure("a vote passes for a version that one of four does not know", alarms, "UdgUpgradeNeeded", outdated)
  expect(await alarms.isFiring("UdgUpgradeNeeded", first)).toBe(false)
  expect(await figureOf(outdated, "udg_protocol_version")).toBe(known)
}

describe.runIf(isInstalled())("a real failure fires its alert", () => {
  describe.runIf(Server.isThere || process.env["CI"] !== undefined)("with PostgreSQL", () => {
    it("an archive that lags", archiveLag, LIMIT_MS)

    it("a gateway without its archive", gatewayStands, LIMIT_MS)

    it("a gateway without its nodes", gatewayAlone, LIMIT_MS)
  })

  it("a validator without its signer", signerAway, LIMIT_MS)

  describe("with an older program", () => {
    const oldProgram = OldProgram.forTests()

    it("a validator that does not know a protocol version", () => upgradeNeeded(oldProgram()), LIMIT_MS)
  })
})
