/** `udg dev` as people and programs use it, and the requests it refuses. */
import { mkdirSync, writeFileSync } from "node:fs"
import * as Http from "node:http"
import { join } from "node:path"
import { mnemonicToEntropy } from "@scure/bip39"
import { wordlist } from "@scure/bip39/wordlists/english.js"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as StateFile from "../../src/testing/StateFile.js"
import { startNode } from "../../src/testing/Testing.js"
import * as Rest from "../support/Rest.js"
import { settled } from "../support/Settled.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import * as InProcess from "./InProcess.js"
import { program, Running } from "./Running.js"

const folder = TemporaryFolder.forTests("dev-test")
let network: Running
let controls = ""
let rpc = ""

const start = async (...words: ReadonlyArray<string>) => {
  const running = new Running(process.execPath, [program, "dev", "--rpc-port", "0", ...words])
  await running.until(() => / {2}\(\d+\) tudg1[^\n]+\n +[0-9a-f]{64}\n\n/.test(running.stdout))
  return running
}

const shownAs = ({ stdout }: Running, name: string): string =>
  new RegExp(`^ {2}${name} +(\\S+)$`, "m").exec(stdout)?.[1] ?? ""

const PAGE = "http://localhost:5173"

beforeAll(async () => {
  network = await start("--on-demand", "--round-ms", "10", "--accounts", "2", "--allow-origin", PAGE)
  controls = shownAs(network, "controls")
  rpc = shownAs(network, "rpc")
})
afterAll(async () => {
  expect(await network.stop()).toMatchObject({ code: 0 })
})

interface Asked {
  readonly method?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

const ask = (url: string, { method = "POST", body = "{}", headers = {} }: Asked = {}) =>
  new Promise<{ readonly status: number; readonly json: Record<string, unknown> }>((settle, fail) => {
    const type = { "Content-Type": "application/json" }
    const request = Http.request(url, { method, headers: { ...type, ...headers } }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (part: string) => (text += part))
      response.on("end", () => settle({ status: response.statusCode ?? 0, json: JSON.parse(text) }))
    })
    request.on("error", fail)
    request.end(method === "POST" ? body : undefined)
  })

/** The headers that these programs send in a POST of JSON, besides `Content-Type`. */
const SAID_BY_PROGRAMS = {
  fetchOfNode: {
    Accept: "*/*",
    "Accept-Language": "*",
    "Sec-Fetch-Mode": "cors",
    "User-Agent": "node",
    "Accept-Encoding": "gzip, deflate",
  },
  undici: { Accept: "*/*", "Accept-Language": "*", "Sec-Fetch-Mode": "cors", "User-Agent": "undici" },
  axios: { Accept: "application/json, text/plain, */*", "User-Agent": "axios/1.13.2", "Accept-Encoding": "gzip, br" },
  got: { Accept: "application/json", "User-Agent": "got (https://github.com/sindresorhus/got)" },
  requests: { Accept: "*/*", "User-Agent": "python-requests/2.32.5", "Accept-Encoding": "gzip, deflate" },
  curl: { Accept: "*/*", "User-Agent": "curl/8.14.1" },
}

const nobody = "00000000000000000000000000000000000000aa"

describe("a development network", () => {
  it("shows accounts with the same keys every time, unless the seed differs", async () => {
    const keysOf = ({ stdout }: Running) => [...stdout.matchAll(/^ {6}([0-9a-f]{64})$/gm)].map(([, key]) => key)
    expect(keysOf(network)).toHaveLength(2)
    expect(network.stdout.split("\n").filter((line) => line.length > 80)).toEqual([])
    const other = await start("--seed", "another", "--accounts", "1")
    expect(keysOf(other)).toHaveLength(1)
    expect(keysOf(network)).not.toContain(keysOf(other)[0])
    expect(await other.stop("SIGINT")).toMatchObject({ code: 0 })
  })

  it(
    Rest.of(
      "two more starts",
      "shows the words of its keys, which restore them, and open the first account in a wallet",
    ),
    async () => {
      const wordsOf = ({ stdout }: Running) =>
        /Mnemonic[^\n]*\n\n((?: +[a-z ]+\n){4})/.exec(stdout)?.[1]?.trim().split(/\s+/) ?? []
      const keysOf = ({ stdout }: Running) => [...stdout.matchAll(/^ {6}([0-9a-f]{64})$/gm)].map(([, key]) => key)
      const other = await start("--seed", "another", "--accounts", "3")
      const words = wordsOf(other)
      expect(words).toHaveLength(24)
      const again = await start("--mnemonic", ` ${words.join("  ").toUpperCase()}`, "--accounts", "3")
      expect(keysOf(again)).toEqual(keysOf(other))
      expect(new Set(keysOf(again)).size).toBe(3)
      expect(mnemonicToEntropy(words.join(" "), wordlist)).toEqual(
        new Uint8Array(Buffer.from(keysOf(again)[0] ?? "", "hex")),
      )
      for (const one of [other, again]) {
        expect(await one.stop("SIGINT")).toMatchObject({ code: 0 })
      }
      const wrong = (...given: ReadonlyArray<string>) => InProcess.udg("dev", "--rpc-port", "0", ...given)
      const swapped = [words[1], words[0], ...words.slice(2)].join(" ")
      for (const text of ["abandon", swapped, words.slice(1).join(" "), ""]) {
        const { code, stderr } = await wrong("--mnemonic", text)
        expect([code, stderr]).toEqual([1, expect.stringContaining("--mnemonic")])
      }
      expect((await wrong("--mnemonic", words.join(" "), "--seed", "x")).stderr).toContain("use one of them")
    },
  )

  it("advances, reverts and funds accounts over HTTP", async () => {
    const { json: before } = await ask(controls, { method: "GET" })
    const { json: after } = await ask(`${controls}/advance`, { body: '{"rounds":20}' })
    expect(Number(after["round"])).toBeGreaterThanOrEqual(Number(before["round"]) + 20)
    const set = (amount: number) => ask(`${controls}/balance`, { body: JSON.stringify({ address: nobody, amount }) })
    expect((await set(5)).json).toEqual({ address: nobody, balance: 5 })
    const { json } = await ask(`${controls}/snapshot`)
    await set(6)
    const { status } = await ask(`${controls}/revert`, { body: JSON.stringify(json) })
    expect(status).toBe(200)
    expect((await ask(`${rpc}/balance/${nobody}`, { method: "GET" })).json).toMatchObject({ balance: 5 })
  })

  it("lets a program act for any account, over HTTP as well", async () => {
    const other = "00000000000000000000000000000000000000bb"
    const impersonate = async (address: string, transaction: object) =>
      ask(`${controls}/impersonate`, { body: JSON.stringify({ address, transaction }) })
    const balance = async () => (await ask(`${rpc}/balance/${other}`, { method: "GET" })).json["balance"]
    await ask(`${controls}/balance`, { body: JSON.stringify({ address: other, amount: 9_000_000 }) })
    const paid = await impersonate(other, { type: "Transfer", to: nobody, amount: 5, memo: "by nobody" })
    expect(paid).toMatchObject({ status: 200, json: { address: other, nonce: 0 } })
    const hash = String(paid.json["tx_hash"])
    expect((await ask(`${rpc}/tx/${hash}`, { method: "GET" })).json).toMatchObject({ applied: true })
    const dear = await impersonate(other, { type: "Transfer", to: nobody, amount: 5, fee: 77_000 })
    expect(dear.json).toMatchObject({ nonce: 1, fee: 77_000 })
    expect(await balance()).toBe(9_000_000 - 10 - 77_000 - Number(paid.json["fee"]))
    expect(await impersonate(other, { type: "Transfer", to: "@nowhere", amount: 1 })).toMatchObject({ status: 400 })
    expect(await impersonate(other, { type: "VoteTx", proposal_id: 9, vote: true })).toMatchObject({ status: 400 })
  })

  it("answers a page of an allowed origin, and no other", async () => {
    const advance = (headers: Readonly<Record<string, string>>, method = "POST") =>
      fetch(`${controls}/advance`, {
        method,
        headers: { "Content-Type": "application/json", ...headers },
        ...(method === "POST" ? { body: '{"rounds":1}' } : {}),
      })
    const preflight = await advance({ Origin: PAGE, "Access-Control-Request-Method": "POST" }, "OPTIONS")
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, PAGE])
    const answer = await advance({ Origin: PAGE, "Sec-Fetch-Site": "same-site" })
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, PAGE])
    for (const Origin of ["http://localhost:5174", "https://localhost:5173", "null"]) {
      const { status, headers } = await advance({ Origin })
      expect([status, headers.get("access-control-allow-origin")]).toEqual([403, null])
    }
    expect((await InProcess.udg("dev", "--allow-origin", "localhost")).stderr).toContain("is not the origin")
  })

  it("is controlled from the command line, with an action for each of anvil's", async () => {
    const verb = async (...words: ReadonlyArray<string>) => {
      const { code, stdout, stderr } = await InProcess.udg("dev", ...words, "--controls", controls)
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      return Object.fromEntries([...stdout.matchAll(/^ +(\S+) +(\S.*)$/gm)].map(([, name, value]) => [name, value]))
    }
    const [, alice = ""] = /\(0\) (tudg1\S+)/.exec(network.stdout) ?? []
    const account = async () => (await ask(`${rpc}/balance/${alice}`, { method: "GET" })).json
    const before = await verb("status")
    const advanced = await verb("advance", "20")
    expect(Number(advanced["round"])).toBeGreaterThanOrEqual(Number(before["round"]) + 20)
    const later = await verb("advance-time", "1d")
    expect(Number(later["time"]) - Number(advanced["time"])).toBeGreaterThanOrEqual(86_400_000)
    expect(await verb("set-name", alice, "alice")).toMatchObject({ name: "alice" })
    expect(await verb("set-balance", "@alice", "5000")).toMatchObject({ balance: "5,000 UDG" })
    expect(await verb("set-nonce", "@alice", "150")).toMatchObject({ nonce: "150" })
    expect(await verb("set-stake", "@alice", "2500")).toMatchObject({ stake: "2,500 UDG" })
    expect(await account()).toMatchObject({ name: "alice", balance: 500_000_000_000, staked: 250_000_000_000 })
    const { snapshot = "" } = await verb("snapshot")
    const file = join(folder, "dumped")
    await verb("dump", file)
    await verb("set-balance", "@alice", "1")
    await verb("revert", snapshot)
    expect(await account()).toMatchObject({ balance: 500_000_000_000 })
    await verb("set-balance", "@alice", "2")
    await verb("load", file)
    expect(await account()).toMatchObject({ balance: 500_000_000_000, name: "alice" })
    expect(network.stdout).toMatch(/^round \d+ {2}tudg1\S+… register @alice, fee [\d.]+( UDG)?, applied$/m)
    const refused = await InProcess.udg("dev", "set-balance", nobody.replace("aa", "ab"), "0", "--controls", controls)
    expect(refused.code).toBe(0)
    const sent = await InProcess.udg(
      "dev",
      "impersonate",
      "--controls",
      controls,
      "@alice",
      "send",
      nobody,
      "0.5",
      "--json",
    )
    expect([sent.stderr, JSON.parse(sent.stdout)]).toEqual(["", expect.objectContaining({ applied: true })])
    for (const words of [
      ["@alice"],
      ["send", nobody, "1"],
      ["@alice", "send", nobody, "1", "--out", join(folder, "x")],
    ]) {
      const { code, stderr } = await InProcess.udg("dev", "impersonate", "--controls", controls, ...words)
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^udg: .+\n$/) })
    }
    expect((await InProcess.udg("dev", "revert", "99", "--controls", controls)).stderr).toContain("no snapshot 99")
    expect((await InProcess.udg("dev", "advance", "1", "--controls", rpc)).stderr).toContain("udg:")
    expect((await InProcess.udg("dev", "fly")).stderr).toContain("use status, advance")
  })

  it(Rest.of("one more start", "makes ten rounds a second while idle"), async () => {
    const idle = await start("--accounts", "1")
    const position = async () => (await ask(shownAs(idle, "controls"), { method: "GET" })).json
    const before = await position()
    await idle.until(async () => Number((await position())["round"]) >= Number(before["round"]) + 10)
    const after = await position()
    const [rounds, ms] = ["round", "time"].map((name) => Number(after[name]) - Number(before[name]))
    // A busy machine makes fewer rounds, and reports them late.
    expect(ms).toBeGreaterThanOrEqual((rounds ?? 0) * 50)
    expect(await idle.stop("SIGINT")).toMatchObject({ code: 0 })
  })

  it("leaves transactions pending in manual mode until rounds are asked for", async () => {
    const manual = await start("--manual")
    const rpc = shownAs(manual, "rpc")
    const read = async (path: string) => (await ask(`${rpc}/${path}`, { method: "GET" })).json
    await ask(`${shownAs(manual, "controls")}/advance`, { body: '{"rounds":1}' })
    const before = (await read("status"))["dag_round"]
    const { json } = await ask(`${rpc}/faucet`, { body: JSON.stringify({ address: nobody, amount: 5 }) })
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(await read("status")).toMatchObject({ dag_round: before, mempool_size: 1 })
    expect(await read(`tx/${json["tx_hash"]}`)).toMatchObject({ status: "pending" })
    await ask(`${shownAs(manual, "controls")}/advance`, { body: '{"rounds":5}' })
    expect(await read(`tx/${json["tx_hash"]}`)).toMatchObject({ status: "finalized" })
    expect(await manual.stop()).toMatchObject({ code: 0 })
    const both = await InProcess.udg("dev", "--manual", "--on-demand")
    expect(both.stderr).toContain("--manual and --on-demand exclude each other")
  })

  it(Rest.of("two more starts", "resumes in another run with the network in its state file"), async () => {
    const file = join(folder, "state")
    const first = await start("--state", file, "--on-demand")
    const set = { body: JSON.stringify({ address: nobody, amount: 77 }) }
    expect((await ask(`${shownAs(first, "controls")}/balance`, set)).status).toBe(200)
    await ask(`${shownAs(first, "controls")}/advance`, { body: '{"time_ms":86400000}' })
    const before = (await ask(`${shownAs(first, "rpc")}/network`, { method: "GET" })).json
    expect(await first.stop()).toMatchObject({ code: 0 })
    const second = await start("--state", file, "--on-demand")
    expect((await ask(`${shownAs(second, "rpc")}/balance/${nobody}`, { method: "GET" })).json).toMatchObject({
      balance: 77,
    })
    expect((await ask(`${shownAs(second, "rpc")}/network`, { method: "GET" })).json["genesis_hash"]).toBe(
      before["genesis_hash"],
    )
    expect((await ask(`${shownAs(second, "controls")}/balance`, set)).status).toBe(200)
    expect(await second.stop()).toMatchObject({ code: 0 })
    writeFileSync(join(folder, "broken"), "no state")
    expect((await InProcess.udg("dev", "--state", join(folder, "broken"), "--rpc-port", "0")).stderr).toContain(
      "not the state",
    )
  })

  it(
    Rest.of("two more starts", "forks a network whose state was exported, and reports the fault of an invalid file"),
    async () => {
      const directory = join(folder, "live")
      mkdirSync(directory)
      {
        await using live = await startNode({ onDemand: true, snapshots: true, accounts: 1 })
        await live.controls.setBalance(nobody, 700_000_000)
        await live.controls.advanceRounds(90)
        const fork = await start("--fork", live.url, "--on-demand", "--accounts", "1")
        expect(fork.stdout).toMatch(/^ {2}fork of +udg-solo-[0-9a-f]{16}, end of epoch \d+, round \d+$/m)
        expect(fork.stdout).toMatch(
          /^ {2}The checkpoint of epoch \d+ proves the state\. Its hash, as the node claims:$/m,
        )
        expect((await ask(`${shownAs(fork, "rpc")}/balance/${nobody}`, { method: "GET" })).json).toMatchObject({
          balance: 700_000_000,
        })
        expect(await fork.stop()).toMatchObject({ code: 0 })
        const { genesis, files } = await Effect.runPromise(StateFile.decode(await live.controls.dump()))
        for (const [name, bytes] of files) writeFileSync(join(directory, name), bytes)
        writeFileSync(join(directory, "genesis.json"), JSON.stringify(Genesis.toJson(genesis)))
      }
      const file = join(folder, "state.udg")
      expect(await InProcess.udg("db", "export", "--data-dir", directory, "--out", file)).toMatchObject({ code: 0 })
      const genesis = join(directory, "genesis.json")
      const fork = await start("--fork", file, "--fork-genesis", genesis, "--on-demand", "--accounts", "1")
      expect(fork.stdout).toMatch(/^ {2}fork of +udg-solo-[0-9a-f]{16}, end of epoch \d+, round \d+$/m)
      expect(fork.stdout.split("\n").filter((line) => line.length > 80)).toEqual([])
      expect((await ask(`${shownAs(fork, "rpc")}/balance/${nobody}`, { method: "GET" })).json).toMatchObject({
        balance: 700_000_000,
      })
      const words = [nobody, "send", "00000000000000000000000000000000000000ab", "1"]
      const options = ["--controls", shownAs(fork, "controls")]
      expect(await InProcess.udg("dev", "impersonate", ...options, ...words)).toMatchObject({ code: 0, stderr: "" })
      expect(await InProcess.udg("dev", "impersonate", ...words, ...options)).toMatchObject({ code: 0, stderr: "" })
      expect(await fork.stop()).toMatchObject({ code: 0 })
      writeFileSync(join(folder, "none.udg"), "no state")
      const { code, stderr } = await InProcess.udg("dev", "--fork", join(folder, "none.udg"), "--rpc-port", "0")
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^udg: this cannot be forked: .*udg db export.*\n$/)])
    },
  )

  it("refuses web pages, foreign names, proxies and unknown controls", async () => {
    const position = async () => {
      const { time: _, ...rest } = (await ask(controls, { method: "GET" })).json
      return JSON.stringify(rest)
    }
    const before = await settled(position)
    const refused = async (path: string, asked: Asked) => {
      const { status, json } = await ask(controls + path, { body: '{"rounds":1}', ...asked })
      return [status, json["code"]]
    }
    for (const headers of [
      { Origin: "https://evil.example" },
      { Origin: "http://localhost:3000" },
      { Origin: `${PAGE}.evil.example` },
      { Origin: "null" },
      { "Sec-Fetch-Site": "cross-site" },
      { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty" },
      { "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image" },
    ])
      expect(await refused("/advance", { headers })).toEqual([403, "ForeignOrigin"])
    for (const headers of [{ Host: "rebound.example" }, { Host: "192.168.0.2:10334" }, { "X-Forwarded-For": "::1" }])
      expect(await refused("/advance", { headers })).toEqual([403, "ForeignHost"])
    expect(await refused("/advance", { method: "GET" })).toEqual([405, "MethodNotAllowed"])
    expect(await refused("/advance", { method: "OPTIONS" })).toEqual([405, "MethodNotAllowed"])
    expect(await refused("/fly", {})).toEqual([404, "NotFound"])
    const forged = { address: nobody, transaction: { type: "Transfer", to: nobody, amount: 1 } }
    for (const headers of [{ Origin: "https://evil.example" }, { "Sec-Fetch-Site": "cross-site" }])
      expect(await refused("/impersonate", { headers, body: JSON.stringify(forged) })).toEqual([403, "ForeignOrigin"])
    for (const transaction of [{}, { type: "Transfer" }, { ...forged.transaction, nonce: 0 }, { type: "FlyTx" }, []])
      expect(await refused("/impersonate", { body: JSON.stringify({ ...forged, transaction }) })).toEqual([
        400,
        "InvalidRequest",
      ])
    expect(await refused("/advance", { headers: { "Content-Type": "text/plain" } })).toEqual([
      415,
      "UnsupportedMediaType",
    ])
    expect(await refused("/advance", { body: " ".repeat(5_000) })).toEqual([413, "BodyTooLarge"])
    for (const body of ["", "[]", "null", '{"rounds":"1"}', '{"rounds":1,"x":1}', '{"rounds":1e999}', "{}", "{"])
      expect(await refused("/advance", { body })).toEqual([400, "InvalidRequest"])
    for (const body of ['{"address":"x","amount":1}', `{"address":"${nobody}","amount":-1}`, '{"snapshot":99}'])
      expect(await refused("/balance", { body })).toEqual([400, "InvalidRequest"])
    expect(await refused("/revert", { body: '{"snapshot":99}' })).toEqual([400, "InvalidRequest"])
    expect(await position()).toBe(before)
  })

  it("accepts programs, whatever headers they send", async () => {
    const { status } = await fetch(`${controls}/advance`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"rounds":1}',
    })
    expect(status).toBe(200)
    for (const headers of Object.values(SAID_BY_PROGRAMS))
      expect((await ask(`${controls}/advance`, { body: '{"rounds":1}', headers })).status).toBe(200)
    // The user typed the address.
    const typed = { "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" }
    expect((await ask(controls, { method: "GET", headers: typed })).status).toBe(200)
  })

  it("exposes its controls on no node's own API, including its own", async () => {
    for (const path of ["/advance", "/snapshot", "/revert"]) expect((await ask(rpc + path)).status).toBe(404)
    expect((await ask(`${rpc}/balance`)).status).toBe(404)
  })

  it("refuses another network's genesis or data, and reports other mistakes", async () => {
    for (const option of ["--genesis", "--data-dir", "--peer", "--rpc-host"]) {
      const { code, stderr } = await InProcess.udg("dev", option, "x")
      expect({ code, stderr }).toMatchObject({ code: 1 })
      expect(stderr).toContain(`"${option}" is not an option`)
    }
    expect((await InProcess.udg("dev", "--rpc-port", "65535")).stderr).toContain("--control-port would be 65536")
    expect((await InProcess.udg("dev", "--accounts", "0")).stderr).toContain("is not a number of accounts")
    expect((await InProcess.udg("dev", "--control-port", "10333")).stderr).toContain("are both 10333")
  })
})
