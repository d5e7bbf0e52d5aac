/** The commands for networks of several nodes, as users run them. */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync, statSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join, resolve } from "node:path"
import { describe, expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import * as InProcess from "./InProcess.js"
import { Person, typed } from "./wallet/Person.js"

const program = resolve(import.meta.dirname, "../../dist/main.js")
/** A public key that is not a point of the curve, and one for which anyone can sign. */
const NO_POINT = `02${"00".repeat(31)}`
const IDENTITY = `01${"00".repeat(31)}`

const folder = TemporaryFolder.forTests("localnet")

const file = (name: string): string => join(folder, name)

/** Runs the program. `look` receives the output so far, and may end the program. */
const udg = (
  words: ReadonlyArray<string>,
  look?: (said: string, stop: () => void, pid: number) => void,
): Promise<InProcess.Outcome> =>
  new Promise((settle, fail) => {
    const env = { PATH: process.env["PATH"] ?? "" }
    const child = spawn(process.execPath, [program, ...words], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] })
    const said = { stdout: "", stderr: "" }
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said.stdout += text
      look?.(said.stdout, () => child.kill("SIGTERM"), child.pid ?? 0)
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said.stderr += text))
    child.on("error", fail)
    child.on("close", (code) => settle({ code, ...said }))
  })

const publicKeyIn = ({ stdout }: InProcess.Outcome): string => /public key +([0-9a-f]{64})/.exec(stdout)?.[1] ?? ""

describe("udg genesis", () => {
  it("creates keys and their genesis, shows it, and never overwrites a file", async () => {
    const first = await InProcess.udg("genesis", "key", "--out", file("a.key"))
    const second = await InProcess.udg("genesis", "key", "--out", file("b.key"))
    expect(statSync(file("a.key")).mode & 0o777).toBe(0o600)
    const validators = [first, second].flatMap((made) => ["--validator", `${publicKeyIn(made)}:2000`])
    const words = ["genesis", "new", "--name", "my-net", "--faucet", publicKeyIn(first), "--out", file("genesis.json")]
    const made = await InProcess.udg(...words, ...validators)
    expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: "" })
    const shown = await InProcess.udg("genesis", "show", file("genesis.json"))
    expect(shown.stdout).toMatch(/network +my-net-[0-9a-f]{16} \(testnet\)/)
    expect(shown.stdout).toMatch(
      /864,000 rounds \(1 d\) to vote\n +108,000 rounds \(3 h\) until a decision takes effect\n +turnout 34 %, approval 66 %/,
    )
    expect(made.stdout).toContain(shown.stdout)
    const before = readFileSync(file("a.key"), "utf8")
    const again = await InProcess.udg("genesis", "key", "--out", file("a.key"))
    expect(again.code).toBe(1)
    expect(again.stderr).toContain("exists and is not overwritten")
    expect(readFileSync(file("a.key"), "utf8")).toBe(before)
  })

  it("accepts an id and any parameter, and warns of weak ones", async () => {
    const key = publicKeyIn(await InProcess.udg("genesis", "key", "--out", file("c.key")))
    const words = ["genesis", "new", "--network-id", "my-net", "--validator", `${key}:2000`, "--out", file("weak.json")]
    const weak = ["--voting-period-rounds", "240", "--quorum-percent", "10", "--min-fee-sats", "7"]
    const made = await udg([...words, ...weak])
    expect(made.code).toBe(0)
    expect(made.stderr.split("\n")).toEqual([
      expect.stringMatching(/^warning: --network-id my-net: never use an id twice/),
      expect.stringMatching(/^warning: voting_period_rounds is 240, less than an epoch of 36000/),
      expect.stringMatching(/^warning: quorum_percent is 10, below 34/),
      "",
    ])
    expect(JSON.parse(readFileSync(file("weak.json"), "utf8"))).toMatchObject({
      network_id: "my-net",
      parameters: { voting_period_rounds: 240, execution_delay_rounds: 108_000, quorum_percent: 10, min_fee_sats: 7 },
    })
  })

  it.each([
    [["genesis"], "needs an action"],
    [["genesis", "bake"], 'has no action "bake"'],
    [["genesis", "key"], "--out FILE is missing"],
    [["genesis", "new", "--out", "x.json", "--network-id", "n"], "this is not a valid genesis"],
    [["genesis", "new", "--out", "x.json", "--name", "n", "--network-id", "n"], "leave one of them out"],
    [["genesis", "new", "--name", "sixteen-letters1"], '--name "sixteen-letters1" is not a name'],
    [["genesis", "new", "--name", "udg-local"], '--name "udg-local" is reserved for networks of one operator'],
    [["genesis", "new", "--quorum-percent", "101"], '--quorum-percent "101" is not a value of quorum_percent'],
    [["genesis", "new", "--validator", "12:2000"], '--validator "12:2000" is not a public key'],
    [["genesis", "new", "--validator", `${NO_POINT}:2000`], "is not a public key: no secret key belongs to 02000000…"],
    [["genesis", "new", "--faucet", IDENTITY], "is not a public key: no secret key belongs to 01000000…"],
    [["genesis", "show"], "FILE is missing"],
    [["localnet", "--validators", "0"], '--validators "0"'],
  ])("%j is refused in one line", async (words, names) => {
    const { code, stdout, stderr } = await InProcess.udg(...words)
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(/^udg: [^\n]+\n$/)
    expect(stderr).toContain(names)
  })
})

describe("udg localnet", () => {
  it("starts all its nodes, shows their addresses, stops them all, and resumes the same network", async () => {
    const begin = ["localnet", "--dir", "net", "--port", "0"]
    const run = (...words: ReadonlyArray<string>) =>
      udg([...begin, ...words], (said, stop) => {
        if (said.includes("Ctrl-C")) stop()
      })
    const first = await run("--validators", "2", "--round-ms", "200")
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: "" })
    expect([...first.stdout.matchAll(/^ {2}node-\d +http:\S+\n +[0-9a-f]{64}@127\.0\.0\.1:\d+$/gm)]).toHaveLength(2)
    expect(first.stdout).toMatch(/^ {2}keys +node-N\/validator\.key\n +node-0\/faucet\.key$/m)
    const genesis = JSON.parse(readFileSync(join(folder, "net", "genesis.json"), "utf8"))
    expect(genesis.parameters).toMatchObject({ quorum_percent: 34, voting_period_rounds: 14_400 })
    expect(genesis.allocations).toEqual([{ address: genesis.faucet.address, amount: 5_000_000 * 100_000_000 }])
    // Each node ends by itself after the signal: its log says so.
    for (const node of ["node-0", "node-1"]) {
      expect(readFileSync(join(folder, "net", node, "node.log"), "utf8")).toContain("asked to stop")
    }
    // While it runs again, a second network in the same directory: its nodes report why they cannot run.
    let other = ""
    const second = await udg(begin, (said, stop) => {
      if (!said.includes("Ctrl-C") || other !== "") return
      other = "asked"
      void run().then(({ stderr }) => {
        other = stderr
        stop()
      })
    })
    const hash = /genesis +([0-9a-f]{64})/
    expect(hash.exec(second.stdout)?.[1]).toBe(hash.exec(first.stdout)?.[1])
    expect(other).toMatch(/^udg: node-0 ended with exit code 1: .* is in use by another process; .*\n$/)
    const more = await run("--validators", "3")
    expect(more.code).toBe(1)
    expect(more.stderr).toContain("holds a network of 2 validators")
  })

  it("creates nothing where a port is in use or invalid, and names it", async () => {
    const refused = async (first: number, nodes: number) =>
      InProcess.udg("localnet", "--dir", file("none"), "--port", String(first), "--validators", String(nodes))
    // While this test holds the last port of a network, another program may hold one of the others.
    const refusedAt = async (placeOf: (port: number) => number, nodes: number) => {
      for (;;) {
        const holder = createServer().listen(0, "127.0.0.1")
        await once(holder, "listening")
        const { port } = holder.address() as AddressInfo
        const isRoom = port > 1_100 && port < 64_000
        const answer = isRoom ? await refused(placeOf(port), nodes) : undefined
        holder.close()
        const named = Number(/port (\d+) is in use/.exec(answer?.stderr ?? "")?.[1])
        const isOfAnother = named !== port && named >= placeOf(port) && named < port
        if (answer !== undefined && !isOfAnother) return { answer, port }
      }
    }
    for (const { answer, port } of [await refusedAt((port) => port, 1), await refusedAt((port) => port - 1_001, 2)]) {
      expect(answer).toEqual({
        code: 1,
        stdout: "",
        stderr: `udg: port ${port} is in use; stop what uses it, or choose another --port\n`,
      })
    }
    expect(await refused(64_535, 2)).toEqual({
      code: 1,
      stdout: "",
      stderr: "udg: --port 64535 leaves too few ports for 2 nodes and their HTTP; use at most 64534\n",
    })
    expect(existsSync(file("none"))).toBe(false)
  })

  it(Rest.of("a network once more", "shows its start on a terminal, and limits clients only on request"), async () => {
    const person = new Person({})
    const statusesOf = async (url: string) =>
      Promise.all(Array.from({ length: 15 }, async () => (await fetch(`${url}/keygen`)).status))
    const start = async (...words: ReadonlyArray<string>) => {
      const terminal = person.sit(typed("localnet", "--dir", "net", "--port", "0", "--validators", "1", ...words))
      await terminal.see("Ctrl-C stops all of them.")
      const [url = ""] = /(?<=node-0 +)http:\S+/.exec(terminal.screen) ?? []
      const statuses = new Set(await statusesOf(url))
      terminal.type("\u0003")
      expect(await terminal.end()).toBe(0)
      return { terminal, statuses }
    }
    try {
      const limited = await start("--rate-limits", "on")
      expect(limited.terminal.text).toContain("starting 1 node … 0 s")
      expect(limited.terminal.screen).not.toContain("starting")
      expect(limited.statuses).toEqual(new Set([200, 429]))
      expect((await start()).statuses).toEqual(new Set([200]))
    } finally {
      person.leave()
    }
  })

  // The program used to wait for ever for a node that hangs.
  it(Rest.of("it waits for one that hangs", "ends even when a node does not"), async () => {
    const nodes: Array<number> = []
    const { code } = await udg(["localnet", "--dir", "hung", "--port", "0", "--validators", "1"], (said, stop, pid) => {
      if (!said.includes("Ctrl-C") || nodes.length > 0) return
      const listed = execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" })
      nodes.push(...listed.trim().split("\n").map(Number))
      for (const node of nodes) process.kill(node, "SIGSTOP")
      stop()
    })
    expect(code).toBe(0)
    expect(nodes).toHaveLength(1)
    for (const node of nodes) expect(() => process.kill(node, 0)).toThrow("ESRCH")
  })
})
