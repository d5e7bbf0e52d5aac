/** `udg balance --verify` with a real node, with a lying proxy in front of it, and with a simulated network. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { SecretKey } from "../../../src/protocol/identity/Keys.js"
import { startNode } from "../../../src/testing/Testing.js"
import { udg } from "../../blackbox/InProcess.js"
import * as History from "../../light/History.js"
import * as Liar from "../../light/Liar.js"
import { forTests } from "../../support/forTests.js"
import * as TemporaryFolder from "../../support/TemporaryFolder.js"

const node = forTests(() => startNode({ accounts: 1, coinsEach: 500 }))
let account: string
const folder = TemporaryFolder.forTests("checked")
const genesis = join(folder, "genesis.json")
beforeAll(async () => {
  account = node().accounts[0]?.addressBech32 ?? ""
  writeFileSync(genesis, JSON.stringify(node().genesis))
  const hasCheckpoint = () => fetch(`${node().url}/checkpoint/latest`).then(({ ok }) => ok)
  while (!(await hasCheckpoint())) await new Promise((resolve) => setTimeout(resolve, 20))
})

const verify = (url: string, ...more: ReadonlyArray<string>) =>
  udg("balance", account, "--verify", "--node", url, "--genesis", genesis, ...more)

/** A node that reports every account as rich. */
const rich: Liar.Lie = (honest) =>
  "record" in honest ? { ...honest, record: String(honest["record"]).replace(/.{4}$/, "ffff") } : honest

const signerOf = (name: string) => {
  const key = SecretKey.fromSeed(Uint8Array.from({ length: 32 }, (_, i) => name.charCodeAt(i) || 1))
  if (key._tag === "None") throw new Error("a key expected")
  return key.value
}

/** A node of a network that exists only as a history. */
const madeUp = async ({ closing }: History.History, running: History.Signed) => {
  const info: unknown = await (await fetch(`${node().url}/network`)).json()
  return Liar.start((path) => {
    if (path === "/network") return { ...Object(info) }
    if (path.startsWith("/proof/")) return History.accountJson(History.addressOf("alice"), running)
    const signed = closing[Number(path.slice("/checkpoint/epoch/".length)) - 1]
    return signed === undefined ? undefined : History.checkpointJson(signed)
  })
}

describe("a verified balance", () => {
  it("names its checkpoint and the signers", async () => {
    const { code, stdout, stderr } = await verify(node().url)
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toMatch(/^balance +500 UDG$/m)
    expect(stdout).toMatch(/^checked +against checkpoint \d+, signed by 1 of 1$/m)
    const json = await verify(node().url, "--json")
    expect(JSON.parse(json.stdout)).toMatchObject({
      balance: 50_000_000_000,
      checked: { node: node().url, signed_by: 1, members: 1 },
    })
  })

  it("is refused without a figure and with a separate exit code if the node lies", async () => {
    await using liar = await Liar.start(node().url, rich)
    const { code, stdout, stderr } = await verify(liar.url)
    expect({ code, stdout }).toEqual({ code: 8, stdout: "" })
    expect(stderr).toContain(`udg: DO NOT RELY ON THIS NODE, its answer does not hold: ${liar.url}: its proof`)
  })

  it("comes from an honest node, with the liar's name", async () => {
    await using liar = await Liar.start(node().url, rich)
    const { code, stdout, stderr } = await verify(liar.url, "--also", node().url)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^balance +500 UDG$/m)
    expect(stderr).toMatch(new RegExp(`^udg: ${liar.url} LIES OR IS BROKEN: its proof .*\\n$`))
  })

  it("is unavailable without a responding node or a starting point", async () => {
    const liar = await Liar.start(node().url)
    await liar[Symbol.asyncDispose]()
    const silent = await verify(liar.url)
    expect(silent).toMatchObject({ code: 3, stdout: "" })
    expect(silent.stderr).toContain("nothing could be checked")
    const rootless = await udg("balance", account, "--verify", "--node", node().url)
    expect(rootless).toMatchObject({ code: 1, stdout: "" })
    expect(rootless.stderr).toContain("--verify needs a trusted start")
  })

  it("starts from a trusted checkpoint, and counts the available signers", async () => {
    const history = History.make({ last: 2, size: 4, turnover: 0, signerOf })
    const running = History.resigned(history.running, (list) => list.slice(1))
    const [first] = history.closing
    await using server = await madeUp(history, running)
    const begin = (hash: string, ...more: ReadonlyArray<string>) =>
      udg("balance", "@alice", "--verify", "--node", server.url, "--trust", `1:${hash}`, ...more)
    const read = await begin(first?.checkpoint.hash ?? "")
    expect(read.stdout).toMatch(/^--trust +2:[0-9a-f]{64}$/m)
    expect(read.stdout.split("\n").filter((line) => line.length > 80)).toEqual([])
    const { code, stdout } = await begin(first?.checkpoint.hash ?? "", "--json")
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      name: "alice",
      checked: { round: 100, signed_by: 3, members: 4 },
      trust: { epoch: 2 },
    })
    expect(await begin("ab".repeat(32))).toMatchObject({ code: 8, stdout: "" })
  })
  it("is unavailable from an unknown protocol version on, and no node is called a liar", async () => {
    const history = History.make({ last: 2, size: 4, turnover: 0, signerOf, versionOf: (epoch) => epoch + 1 })
    const [first] = history.closing
    await using server = await madeUp(history, history.running)
    const trust = `1:${first?.checkpoint.hash}`
    const { code, stdout, stderr } = await udg("balance", "@alice", "--verify", "--node", server.url, "--trust", trust)
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" })
    expect(stderr).toContain(`nothing could be checked: ${server.url}: epoch 3 runs by protocol version 4`)
    expect(stderr).toContain("install a newer version of udg-node")
  })
})
