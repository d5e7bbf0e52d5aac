/** One of four validators changes its key under load, as docs/operations/keys.md describes it. */
import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, expect, it, onTestFinished } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as Light from "../../src/light/Light.js"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { compare, position } from "../archive/Comparison.js"
import { follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import * as Serving from "../gateway/Serving.js"
import * as SignerProcess from "../signer/SignerProcess.js"
import { expectNoSlotTwice, expectOneHistory } from "./History.js"
import * as Processes from "./Processes.js"
import * as Wallet from "./Wallet.js"

const WORDS = ["--rate-limits", "off"]

afterEach(async () => {
  SignerProcess.killAll()
  await Processes.removeAll()
})

const call = async ({ http }: Pick<Processes.Started, "http">, path: string, body?: object): Promise<unknown> => {
  const headers = { "content-type": "application/json" }
  const answer = await fetch(`${http}${path}`, body ? { method: "POST", headers, body: JSON.stringify(body) } : {})
  expect([path, answer.status]).toEqual([path, 200])
  return answer.json()
}

/** A node whose disk is slow answers 503, and is asked again. */
const patiently = async <A>(ask: () => Promise<A>): Promise<A> => {
  for (let left = 20; ; left--) {
    try {
      return await ask()
    } catch (error) {
      if (left === 0 || !/: 503 /.test(String(error))) throw error
      await new Promise((settle) => setTimeout(settle, 1_000))
    }
  }
}

const upgrades = async (network: Processes.Founded, node: Processes.Started): Promise<void> => {
  const secret = (n: number) => ({ secret_key: network.keys[n]?.toSecretHex(), fee: 1_000 })
  const proposal_type = { ParameterChange: { param: "protocol_version", value: 3 } }
  await call(node, "/proposal", { ...secret(0), title: "Upgrade", description: "", proposal_type })
  await Processes.until("the proposal is final", async () =>
    JSON.stringify(await call(node, "/proposals")).includes("Active"),
  )
  for (const n of [0, 1, 2]) await call(node, "/vote", { ...secret(n), proposal_id: 1, vote: true })
  await Processes.until("version 3 is in force", async () =>
    JSON.stringify(await call(node, "/governance/config")).includes('"protocol_version":3'),
  )
}

/** Announces the key in the file as the fourth validator's. */
const rotates = ({ folder }: Processes.Founded, { http }: Processes.Started, file: string): void => {
  const words = ["rotate-key", file, "--key", join(folder, "3.key"), "--node", http ?? "", "--json"]
  const said = execFileSync(process.execPath, [Processes.built, ...words], { encoding: "utf8" })
  expect(JSON.parse(said)).toMatchObject({ applied: true })
}

/** An archive with its gateway. */
const archived = async (network: Processes.Founded, first: Processes.Started) => {
  const server = await Server.make()
  onTestFinished(server.remove)
  const database = await server.create("rotation")
  const archive = follow(network, "archive", database, first)
  onTestFinished(async () => void (await archive.end("SIGKILL")))
  await Processes.until(`the archive begins: ${archive.said()}`, async () => (await position(database)) > 3)
  const gateway = await Serving.serve(network.genesisFile, database, [first.http ?? ""])
  onTestFinished(() => void gateway.child.kill("SIGTERM"))
  return { database, archive, gateway }
}

it.skipIf(!Server.isThere && process.env["CI"] === undefined)(
  "the node goes on with the new key by itself; neither payments nor stake, seat and history are lost, and no slot is signed twice",
  async () => {
    const parameters = { votingPeriodRounds: 30, executionDelayRounds: 10 }
    const network = Processes.found({ roundMs: 150, epochRounds: 120, parameters })
    const nodes: Array<Processes.Started> = []
    for (const n of network.keys.keys()) {
      const words = n === 0 ? [...WORDS, "--archive"] : WORDS
      nodes.push(await Processes.startValidator(network, n, nodes, words))
    }
    const [first, , , changing] = nodes
    const [, , , key] = network.keys
    if (first === undefined || changing === undefined || key === undefined) return expect.unreachable()
    await Processes.everybodySigns(network, first)
    await Processes.everybodyAt(nodes, 10)
    const beside = await archived(network, first)
    const payer = Wallet.paying(first, network, 100)
    await upgrades(network, first)

    const account = Address.fromPublicKey(key.publicKey)
    const stake = await patiently(() => Wallet.stakeOf(first, account))
    const next = SecretKey.generate()
    const file = join(changing.directory, "validator-2.key")
    writeFileSync(file, `${next.toSecretHex()}\n`, { mode: 0o600 })
    rotates(network, first, file)

    await Processes.until("the new key signs", () => Processes.lastRoundOf(first, next) > 0)
    expect(changing.log().match(/the validator's key is replaced/g)).toHaveLength(1)
    const lastOfOld = Processes.lastRoundOf(first, key)
    await Processes.everybodyAt(nodes, Processes.finalizedRound(first) + 15)

    // Its next process finds the right key as well, and so does one that has lost everything but its keys.
    await changing.stop()
    const others = nodes.filter((node) => node !== changing)
    const again = async () => {
      const before = Processes.lastRoundOf(first, next)
      const started = await Processes.startValidator(network, 3, others, WORDS)
      await Processes.until("the new key signs again", () => Processes.lastRoundOf(first, next) > before + 5)
      return started
    }
    const restarted = await again()
    expect(restarted.log()).not.toContain("key is replaced")
    await restarted.stop()
    for (const name of readdirSync(changing.directory)) {
      if (!name.endsWith(".key") && name !== "genesis.json") rmSync(join(changing.directory, name))
    }
    const joined = await again()
    expect(joined.log()).toContain("joined with the closing state of an epoch")
    expect(joined.log().match(/the validator's key is replaced/g)?.length).toBeOneOf([1, 2])
    expect(Processes.lastRoundOf(first, key)).toBe(lastOfOld)

    const follower = await Processes.start(network, "follower", ["--no-validate", "--peer", first.p2p, ...WORDS])
    const all = [...others, joined]
    // Through a whole epoch and into the next one, for which the new key has had to be present.
    await Processes.everybodyAt([...all, follower], Processes.finalizedRound(first) + 260)
    expect(Processes.finalizedRound(first) - Processes.lastRoundOf(first, next)).toBeLessThan(30)
    expect(await patiently(() => Wallet.stakeOf(first, account))).toBeGreaterThanOrEqual(stake)
    expect(await patiently(() => Wallet.isInCommittee(first, account))).toBe(true)

    const paid = await payer.stop()
    await Processes.until("all payments are final everywhere", () =>
      others.every((node) => Processes.notRecorded(node, paid).length === 0),
    )
    await expectOneHistory(others, lastOfOld + 50)
    expectNoSlotTwice({ ...network, keys: [...network.keys, next] }, first)
    const trust = Light.genesis(Genesis.toJson(network.genesis))
    const client = Light.client({ trust, nodes: [first.http ?? "", follower.http ?? ""] })
    const { proven } = await client.account(account)
    expect(proven.checkpoint.epoch).toBeGreaterThanOrEqual(4)

    const newest = Processes.commits(first).at(-1)?.index ?? 0
    // Later commits order most vertices of the last rounds.
    const final = Processes.finalizedRound(first) - 10
    const lastOfNew = Processes.verticesOf(first, next).findLast(({ round }) => round <= final)?.round ?? 0
    await Processes.until("the archive follows", async () => (await position(beside.database)) >= newest)
    const richest = Address.fromPublicKey(network.rich.publicKey)
    expect(await call({ http: beside.gateway.url }, `/balance/${richest}`)).toMatchObject({ nonce: paid.length })
    expect(await call({ http: beside.gateway.url }, `/stake/${account}`)).toMatchObject({ in_committee: true })
    for (const http of [first.http ?? "", beside.gateway.url]) {
      const { vertices } = await connect(http).dag.round({ path: { round: Natural.round(lastOfNew) } })
      const validators = vertices.map(({ validator }) => validator)
      expect(validators).toContain(account)
      expect(validators).not.toContain(Address.fromPublicKey(next.publicKey))
    }
    expect(await beside.archive.end("SIGTERM")).toBe(0)
    expect((await compare(beside.database, first, beside.archive)).transactions).toBeGreaterThanOrEqual(paid.length)
    process.stderr.write(`${paid.length} payments around the change of a key, none lost\n`)
  },
)

it("a signer with both keys signs with the old one before the close and with the new one after it", async () => {
  const parameters = { votingPeriodRounds: 30, executionDelayRounds: 10 }
  const network = Processes.found({ roundMs: 150, epochRounds: 120, parameters })
  const { folder, genesisFile } = network
  const place = { directory: join(folder, "signer"), genesisFile, keyFile: join(folder, "3.key") }
  expect(await SignerProcess.signFrom(place, "1:1")).toBe(0)
  const nodeKey = SecretKey.generate()
  const id = NodeProof.idOf(nodeKey)
  mkdirSync(join(folder, "node-3"), { mode: 0o700 })
  writeFileSync(join(folder, "node-3", "node.key"), `${nodeKey.toSecretHex()}\n`, { mode: 0o600 })
  const before = await SignerProcess.start(place, [id])

  const nodes: Array<Processes.Started> = []
  for (const n of [0, 1, 2]) nodes.push(await Processes.startValidator(network, n, nodes, WORDS))
  const signed = ["--signer", `${before.id}@127.0.0.1:${before.port}`]
  const [first] = nodes
  const [, , , key] = network.keys
  if (first === undefined || key === undefined) return expect.unreachable()
  const peers = nodes.flatMap(({ p2p }) => ["--peer", p2p])
  const changing = await Processes.start(network, "3", [...signed, ...peers, ...WORDS])
  await Processes.everybodySigns(network, first)
  await upgrades(network, first)

  const next = SecretKey.generate()
  const file = join(folder, "next.key")
  writeFileSync(file, `${next.toSecretHex()}\n`, { mode: 0o600 })
  await before.kill()
  expect(await SignerProcess.signFrom({ ...place, keyFile: file }, "1:1")).toBe(0)
  const served = [key, next].map(({ publicKey }) => `${id}:${publicKey}`)
  await SignerProcess.start(place, served, before.port, ["--validator-key", file])
  rotates(network, first, file)

  await Processes.until("the new key signs", () => Processes.lastRoundOf(first, next) > 0)
  expect(changing.log().match(/the validator's key is replaced/g)).toHaveLength(1)
  const lastOfOld = Processes.lastRoundOf(first, key)
  await Processes.everybodyAt([...nodes, changing], Processes.finalizedRound(first) + 30)
  expect(Processes.lastRoundOf(first, key)).toBe(lastOfOld)
  expect(Processes.finalizedRound(first) - Processes.lastRoundOf(first, next)).toBeLessThan(20)
  expectNoSlotTwice({ ...network, keys: [...network.keys, next] }, first)
  await expectOneHistory([...nodes, changing], lastOfOld + 10)
})
