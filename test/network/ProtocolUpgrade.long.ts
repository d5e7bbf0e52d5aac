/**
 * Four validators, an archive and a gateway upgrade to the next protocol version by a vote, under load. One validator,
 * a second archive and a second gateway run a program that does not know the version.
 */
import { afterEach, expect, it, onTestFinished } from "vitest"
import * as Light from "../../src/light/Light.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { compare, position } from "../archive/Comparison.js"
import { follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import * as Serving from "../gateway/Serving.js"
import { expectNoSlotTwice, expectOneHistory } from "./History.js"
import * as OldProgram from "./OldProgram.js"
import * as Processes from "./Processes.js"
import * as Vote from "./Vote.js"
import * as Wallet from "./Wallet.js"

const WORDS = ["--rate-limits", "off"]

const oldProgram = OldProgram.forTests()

afterEach(Processes.removeAll)

const call = async ({ http }: Pick<Processes.Started, "http">, path: string): Promise<unknown> => {
  const { status, body } = await Serving.get(`${http}${path}`)
  expect([path, status]).toEqual([path, 200])
  return body
}

const warnsOf = async (node: Pick<Processes.Started, "http">): Promise<boolean> =>
  JSON.stringify(await call(node, "/health/detailed")).includes('"upgrade"')

/** An archive that knows the version, with its gateway, and one that does not. */
const archives = async (network: Processes.Founded, first: Processes.Started) => {
  const server = await Server.make()
  onTestFinished(server.remove)
  const database = await server.create("upgrade")
  const archive = follow(network, "new", database, first)
  const old = follow(network, "old", await server.create("outdated"), first, { program: oldProgram() })
  onTestFinished(async () => void (await Promise.all([archive.end("SIGKILL"), old.end("SIGKILL")])))
  await Processes.until(`the archive begins: ${archive.said()}`, async () => (await position(database)) > 3)
  const gateway = await Serving.serve(network.genesisFile, database, [first.http ?? ""])
  onTestFinished(() => void gateway.child.kill("SIGTERM"))
  const serveOld = () =>
    Serving.serve(network.genesisFile, database, [first.http ?? ""], WORDS, { program: oldProgram() })
  return { database, archive, old, gateway, serveOld, oldGateway: await serveOld() }
}

it.skipIf(!Server.isThere && process.env["CI"] === undefined)(
  "the old ones warn, end with 103, and the validator comes back as the new one; nothing is lost, and light client, archive and gateway follow",
  async () => {
    const parameters = { votingPeriodRounds: 60, executionDelayRounds: 30 }
    const network = Processes.found({ roundMs: 150, epochRounds: 200, parameters })
    const oldWay = { ...Processes.DIRECT, program: oldProgram() }
    const nodes: Array<Processes.Started> = []
    for (const n of network.keys.keys()) {
      const words = n === 0 ? [...WORDS, "--archive"] : WORDS
      nodes.push(await Processes.startValidator(network, n, nodes, words, undefined, n === 3 ? oldWay : undefined))
    }
    const [first, , , behind] = nodes
    if (first === undefined || behind === undefined) return expect.unreachable()
    await Processes.everybodySigns(network, first)
    await Processes.everybodyAt(nodes, 10)
    const beside = await archives(network, first)
    const payer = Wallet.paying(first, network, 100)
    await Vote.forNewestVersion(network, first)

    await Processes.until("the old one warns", () => warnsOf(behind))
    const metrics = await call(behind, "/metrics")
    for (const line of [/^udg_protocol_version_decided 3$/m, /^udg_protocol_version_known 2$/m])
      expect(metrics).toMatch(line)
    expect(await warnsOf(first)).toBe(false)
    await Processes.until("the old gateway warns", () => warnsOf({ http: beside.oldGateway.url }))
    expect(await warnsOf({ http: beside.gateway.url })).toBe(false)

    expect(await behind.ended).toBe(103)
    expect(behind.log().match(/protocol version 3, and this program knows up to 2/g)).toHaveLength(1)
    const others = nodes.filter((node) => node !== behind)
    const stoppedAt = Processes.finalizedRound(behind)
    await Processes.everybodyAt(others, stoppedAt + 10)
    const again = (way?: typeof oldWay) => Processes.startValidator(network, 3, others, WORDS, undefined, way)
    const code = await again(oldWay).then(
      ({ ended }) => ended,
      ({ message }: Error) => Number(/ended with (\d+)/.exec(message)?.[1]),
    )
    expect(code).toBe(103)
    expect(Processes.finalizedRound(behind)).toBe(stoppedAt)

    const all = [...others, await again()]
    const follower = await Processes.start(network, "follower", ["--no-validate", "--peer", first.p2p, ...WORDS])
    await Processes.everybodyAt([...all, follower], Math.max(...all.map(Processes.finalizedRound)) + 20)
    const paid = await payer.stop()
    await Processes.until("all payments are final everywhere", () =>
      all.every((node) => Processes.notRecorded(node, paid).length === 0),
    )
    await expectOneHistory(all, stoppedAt + 10)
    expectNoSlotTwice(network, first)
    expect(await call(first, "/governance/config")).toMatchObject({ protocol_version: 3 })
    const trust = Light.genesis(Genesis.toJson(network.genesis))
    const client = Light.client({ trust, nodes: [first.http ?? "", follower.http ?? ""] })
    const { proven } = await client.account(Address.fromPublicKey(network.rich.publicKey))
    expect(proven.checkpoint.epoch).toBeGreaterThanOrEqual(2)
    expect(proven.account.nonce).toBeGreaterThan(paid.length / 2)
    await Processes.until("the old archive ends", () => beside.old.child.exitCode !== null)
    expect(beside.old.child.exitCode).toBe(103)
    expect(beside.old.said().match(/protocol version 3, and this program knows up to 2/g)).toHaveLength(1)
    await Processes.until("the old gateway ends", () => beside.oldGateway.child.exitCode !== null)
    expect(beside.oldGateway.child.exitCode).toBe(103)
    expect(beside.oldGateway.said().match(/protocol version 3, and this program knows up to 2/g)).toHaveLength(1)
    await expect(beside.serveOld()).rejects.toThrow("ended with 103")
    const newest = Processes.commits(first).at(-1)?.index ?? 0
    await Processes.until("the archive follows", async () => (await position(beside.database)) >= newest)
    const served = { http: beside.gateway.url }
    expect(await call(served, "/governance/config")).toMatchObject({ protocol_version: 3 })
    expect(await call(served, `/balance/${Address.fromPublicKey(network.rich.publicKey)}`)).toMatchObject({
      nonce: paid.length,
    })
    expect(await beside.archive.end("SIGTERM")).toBe(0)
    expect((await compare(beside.database, first, beside.archive)).transactions).toBeGreaterThanOrEqual(paid.length)
    process.stderr.write(`${paid.length} payments around the upgrade, none lost\n`)
  },
)
