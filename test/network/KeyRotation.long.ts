/** One of four validators changes its key under load: by the command line, and with one restart of its node. */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, expect, it } from "vitest"
import * as Light from "../../src/light/Light.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import { expectNoSlotTwice, expectOneHistory } from "./History.js"
import * as Processes from "./Processes.js"
import * as Wallet from "./Wallet.js"

const LIMIT_MS = 600_000
const WORDS = ["--rate-limits", "off"]

afterEach(Processes.removeAll)

const call = async ({ http }: Processes.Started, path: string, body?: object): Promise<unknown> => {
  const headers = { "content-type": "application/json" }
  const answer = await fetch(`${http}${path}`, body ? { method: "POST", headers, body: JSON.stringify(body) } : {})
  expect([path, answer.status]).toEqual([path, 200])
  return answer.json()
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

it(
  "neither payments nor the stake are lost, the seat stays, and no slot is signed twice",
  async () => {
    const parameters = { votingPeriodRounds: 30, executionDelayRounds: 10 }
    const network = Processes.found({ roundMs: 150, epochRounds: 120, parameters })
    const nodes: Array<Processes.Started> = []
    for (const n of network.keys.keys()) nodes.push(await Processes.startValidator(network, n, nodes, WORDS))
    const [first, , , old] = nodes
    const [, , , key] = network.keys
    if (first === undefined || old === undefined || key === undefined) return expect.unreachable()
    await Processes.everybodySigns(network, first)
    const payer = Wallet.paying(first, network, 100)
    await upgrades(network, first)

    const account = Address.fromPublicKey(key.publicKey)
    const stake = await Wallet.stakeOf(first, account)
    const next = SecretKey.generate()
    const file = join(network.folder, "next.key")
    writeFileSync(file, `${next.toSecretHex()}\n`, { mode: 0o600 })
    const words = ["rotate-key", file, "--key", join(network.folder, "3.key"), "--node", first.http ?? "", "--json"]
    expect(JSON.parse(execFileSync(process.execPath, [Processes.built, ...words], { encoding: "utf8" }))).toMatchObject(
      {
        applied: true,
      },
    )

    const isMember = async ({ publicKey }: SecretKey) =>
      JSON.stringify(await call(first, "/checkpoint/latest")).includes(`"pub_key":"${publicKey}"`)
    await Processes.until("a closing checkpoint names the new key", () => isMember(next))
    const lastOfOld = Processes.lastRoundOf(first, key)
    await Processes.everybodyAt(nodes, Processes.finalizedRound(first) + 15)
    expect(Processes.lastRoundOf(first, key)).toBe(lastOfOld)

    await old.stop()
    const others = nodes.filter((node) => node !== old)
    const own = ["--validator-key", file, ...others.flatMap(({ p2p }) => ["--peer", p2p])]
    const renewed = await Processes.start(network, "3", [...own, ...WORDS])
    await Processes.until("the new key signs", () => Processes.lastRoundOf(first, next) > 0)
    const follower = await Processes.start(network, "follower", ["--no-validate", "--peer", first.p2p, ...WORDS])
    const all = [...others, renewed]
    // Through a whole epoch and into the next one, for which the new key has had to be present.
    await Processes.everybodyAt([...all, follower], Processes.finalizedRound(first) + 260)
    expect(Processes.finalizedRound(first) - Processes.lastRoundOf(first, next)).toBeLessThan(30)
    expect(await Wallet.stakeOf(first, account)).toBeGreaterThanOrEqual(stake)
    expect(await Wallet.isInCommittee(first, account)).toBe(true)

    const paid = await payer.stop()
    await Processes.until("all payments are final everywhere", () =>
      all.every((node) => Processes.notRecorded(node, paid).length === 0),
    )
    await expectOneHistory(all, lastOfOld + 50)
    expectNoSlotTwice({ ...network, keys: [...network.keys, next] }, first)
    const trust = Light.genesis(Genesis.toJson(network.genesis))
    const client = Light.client({ trust, nodes: [first.http ?? "", follower.http ?? ""] })
    const { proven } = await client.account(account)
    expect(proven.checkpoint.epoch).toBeGreaterThanOrEqual(4)
    process.stderr.write(`${paid.length} payments around the change of a key, none lost\n`)
  },
  LIMIT_MS,
)
