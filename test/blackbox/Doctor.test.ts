/** `udg doctor` names the problem of each broken set-up. It changes nothing and shows no secret. */
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import type { Finding } from "../../src/cli/doctor/Finding.js"
import { Sqlite as Database } from "../../src/storage/sqlite/Driver.js"
import { canMount } from "../storage/Process.js"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { type Outcome, udg } from "./InProcess.js"
import { program, Running } from "./Running.js"

const scratch = TemporaryFolder.forTests("doctor")

const start = async (...words: ReadonlyArray<string>): Promise<{ readonly node: Running; readonly rpc: string }> => {
  const node = new Running(process.execPath, [program, "--port", "0", "--round-ms", "50", ...words])
  await node.until(() => /running/.test(node.stderr) && /^ {2}rpc/m.test(node.stdout))
  return { node, rpc: /^ {2}rpc +(\S+)$/m.exec(node.stdout)?.[1] ?? "" }
}

interface Said {
  readonly code: number | null
  readonly findings: ReadonlyArray<Finding>
  readonly text: string
}

const saidIn = ({ code, stdout, stderr }: Outcome): Said => {
  expect(stdout, stderr).toMatch(/^\{/)
  return { code, findings: JSON.parse(stdout).findings, text: stdout }
}

const ask = async (place: string, ...more: ReadonlyArray<string>): Promise<Said> =>
  saidIn(await udg("doctor", place, "--json", ...more))

/** Runs it as a separate process. */
const askProcess = ([command = "", ...words]: ReadonlyArray<string>): Said => {
  const { status, stdout, stderr } = spawnSync(command, words, { encoding: "utf8" })
  return saidIn({ code: status, stdout, stderr })
}

const named = ({ findings }: Said, part: string): ReadonlyArray<Finding> =>
  findings.filter((finding) => finding.part === part && finding.status !== "ok")

/** The directory of a node that ran for a while and stopped normally. */
const sound = join(scratch, "sound")
let copies = 0
const copyOf = (): string => {
  copies += 1
  const copy = join(scratch, `copy-${copies}`)
  cpSync(sound, copy, { recursive: true, mode: 0 })
  chmodSync(copy, 0o700)
  return copy
}

/** Creates the genesis of a network with this many validators, with their keys beside it. */
const found = async (name: string, validators: number): Promise<string> => {
  const words: Array<string> = []
  for (let n = 1; n <= validators; n++) {
    const { stdout } = await udg("genesis", "key", "--out", join(scratch, `${name}-${n}.key`))
    words.push("--validator", `${/public key +(\S+)/.exec(stdout)?.[1]}:100000`)
  }
  const file = join(scratch, `${name}.json`)
  expect((await udg("genesis", "new", "--network-id", name, ...words, "--out", file)).code).toBe(0)
  return file
}

beforeAll(async () => {
  const { node, rpc } = await start("--data-dir", sound)
  await node.until(async () => (await (await fetch(`${rpc}/status`)).json()).last_finalized_round > 20)
  expect((await node.stop()).code).toBe(0)
})

describe("udg doctor", () => {
  it("finds no problem in a directory that a node has left in order, and changes nothing", async () => {
    const directory = copyOf()
    const before = readFileSync(join(directory, "udg.db"))
    const said = await ask(directory)
    expect(said.findings.filter(({ status }) => status === "problem")).toEqual([])
    expect(said.code).toBe(0)
    expect(said.findings.map(({ part }) => part)).toEqual(
      expect.arrayContaining(["permissions", "disk", "genesis.json", "validator.key", "databases", "clock"]),
    )
    expect(readFileSync(join(directory, "udg.db")).equals(before)).toBe(true)
  })

  it("finds none in a running node, in its directory or by its address, and reports its options", async () => {
    const { node, rpc } = await start("--data-dir", copyOf(), "--trusted-proxy", "10.0.0.0/8")
    try {
      const directory = /data directory +(\S+)/.exec(node.stdout)?.[1] ?? ""
      await node.until(async () => (await (await fetch(`${rpc}/health/detailed`)).json()).status === "healthy")
      // The node writes the file with its first responses. Before that, the doctor sees a node that is starting.
      await node.until(() => existsSync(join(directory, "running.json")))
      for (const place of [directory, rpc]) {
        const said = await ask(place)
        expect(said.findings.filter(({ status }) => status !== "ok")).toEqual([])
        expect(said.code).toBe(0)
      }
      const { text } = await ask(directory)
      expect(JSON.parse(text).settings).toMatchObject({ trusted_proxies: ["10.0.0.0/8"] })
      expect(text).not.toContain(readFileSync(join(directory, "validator.key"), "utf8").trim())
      const page = spawnSync(process.execPath, [program, "doctor", directory], { encoding: "utf8" }).stdout
      expect(page).toContain("0 problems, 0 warnings")
    } finally {
      await node.stop()
    }
  })

  it(Rest.of("one more start", "finds an operators' listener that others can reach, as does the log"), async () => {
    const listening = ["--metrics-port", "0", "--metrics-host", "0.0.0.0"]
    const { node } = await start("--data-dir", copyOf(), ...listening)
    try {
      const directory = /data directory +(\S+)/.exec(node.stdout)?.[1] ?? ""
      await node.until(() => existsSync(join(directory, "running.json")))
      const [finding, ...more] = named(await ask(directory), "metrics")
      expect([finding?.status, more]).toEqual(["warning", []])
      expect(finding?.message).toMatch(/^the operators' listener accepts connections from other machines/)
      expect(node.stderr.split("\n").filter((line) => line.includes(finding?.message ?? "?"))).toEqual([
        expect.stringMatching(/WARN.* metrics .*address=0\.0\.0\.0/),
      ])
    } finally {
      await node.stop()
    }
  })

  it("finds a missing directory", async () => {
    const said = await ask(join(scratch, "nowhere"))
    expect(named(said, "directory")[0]?.message).toContain("nowhere is not a readable directory")
    expect(said.code).toBe(1)
  })

  it.runIf(canMount)("finds a full disk", () => {
    const directory = join(scratch, "full")
    mkdirSync(directory)
    // A private file system for the directory, with no free byte.
    const filled = `mount -t tmpfs -o size=96m,mode=0700 tmpfs "$0" && cp -a "${sound}/." "$0"
      cat /dev/zero >> "$0/ballast" 2> /dev/null
      exec "$@"`
    const doctor = [process.execPath, program, "doctor", directory, "--json"]
    const said = askProcess(["unshare", "-rm", "sh", "-c", filled, directory, ...doctor])
    expect(said.findings.filter(({ status }) => status === "problem")).toEqual([
      {
        part: "disk",
        status: "problem",
        message: expect.stringMatching(/^0 MiB are free; the databases take \d+ MiB; make room, at least 64 MiB$/),
        page: "docs/operations/alerts.md#udgdiskfull",
      },
    ])
    expect(named(said, "databases").map(({ message }) => message)).toEqual(["not checked because the disk is full"])
    expect(said.code).toBe(1)
  })

  it("finds a directory that others can enter", async () => {
    const directory = copyOf()
    chmodSync(directory, 0o755)
    expect(named(await ask(directory), "permissions")[0]?.message).toContain(`chmod 700 ${directory}`)
  })

  it("finds a key that others can read", async () => {
    const directory = copyOf()
    chmodSync(join(directory, "validator.key"), 0o644)
    const said = await ask(directory)
    expect(named(said, "validator.key")[0]?.message).toContain("others may read it (mode 0644)")
    expect(said.code).toBe(1)
  })

  it("finds an invalid key, without showing it", async () => {
    const directory = copyOf()
    writeFileSync(join(directory, "validator.key"), "what a secret\n", { mode: 0o600 })
    const said = await ask(directory)
    expect(named(said, "validator.key")[0]?.message).toContain("expected 64 hex characters")
    expect(said.text).not.toContain("what a secret")
  })

  it("finds a key missing from a used directory", async () => {
    const directory = copyOf()
    unlinkSync(join(directory, "validator.key"))
    expect(named(await ask(directory), "validator.key")[0]?.message).toContain("is missing")
  })

  it("finds an unreadable genesis", async () => {
    const directory = copyOf()
    writeFileSync(join(directory, "genesis.json"), "{")
    expect(named(await ask(directory), "genesis.json")[0]?.status).toBe("problem")
  })

  it("finds a database of another network", async () => {
    const directory = copyOf()
    cpSync(await found("other", 1), join(directory, "genesis.json"))
    expect(named(await ask(directory), "databases")[0]?.message).toContain("belongs to the network with genesis")
  })

  it("finds a damaged database", async () => {
    const directory = copyOf()
    const file = join(directory, "udg.db")
    const opened = openSync(file, "r+")
    for (let at = 4_096; at < statSync(file).size; at += 4_096) writeSync(opened, Buffer.alloc(512, 0xa5), 0, 512, at)
    const [found] = named(await ask(directory), "databases")
    expect(found?.message).toContain("is damaged")
    expect(found?.page).toContain("backup.md")
  })

  it("finds a database of a newer program", async () => {
    const directory = copyOf()
    const database = new Database(join(directory, "udg.db"), { readonly: false })
    database.prepare("pragma user_version = 99").run()
    database.close()
    const [found] = named(await ask(directory), "databases")
    expect(found?.message).toContain("has schema 99, this program knows up to")
    expect(found?.page).toContain("upgrade.md")
  })

  it("finds a killed node", async () => {
    const directory = copyOf()
    const { node } = await start("--data-dir", directory)
    await node.until(() => existsSync(join(directory, "running.json")))
    await node.stop("SIGKILL")
    const said = await ask(directory)
    expect(named(said, "process")[0]?.message).toContain(`process ${node.pid}, was killed or lost power`)
    expect(said.code).toBe(1)
  })

  it("finds a clock that is behind the ledger", () => {
    const late = "data:text/javascript,const now = Date.now; Date.now = () => now() - 86400000"
    const said = askProcess([process.execPath, "--import", late, program, "doctor", copyOf(), "--json"])
    expect(named(said, "clock")[0]?.message).toMatch(/86\d{3} seconds before the time of the last commit/)
  })

  it("finds an address without a server, and one with another server", async () => {
    expect(named(await ask("http://127.0.0.1:9"), "http")[0]?.message).toContain("does not answer as a node does")
    const server = createServer((_, response) => response.end("welcome")).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const doctor = await udg("doctor", `http://127.0.0.1:${port}`)
    expect(doctor.code).toBe(1)
    expect(doctor.stdout).toContain("not a node")
    server.close()
  })

  it("finds a validator without connections", async () => {
    const genesis = await found("lonely", 4)
    const key = join(scratch, "lonely-1.key")
    const directory = join(scratch, "lonely")
    const words = ["--data-dir", directory, "--genesis", genesis, "--validator-key", key, "--peer", "127.0.0.1:9"]
    const { node, rpc } = await start(...words)
    try {
      await node.until(async () => (await (await fetch(`${rpc}/health/detailed`)).json()).status === "unhealthy")
      const said = await ask(rpc)
      expect(named(said, "network")[0]?.message).toBe("no peer is connected; expected 3 or more")
      expect(named(said, "peers")[0]?.message).toContain("127.0.0.1:9 is configured but not connected")
      expect(named(said, "network")[0]?.page).toContain("#udgpeercount")
      const ready = await fetch(`${rpc}/ready`)
      expect([ready.status, await ready.json()]).toMatchObject([503, { code: "NotReady", reason: "no_quorum" }])
      expect((await fetch(`${rpc}/health`)).status).toBe(200)
    } finally {
      await node.stop()
    }
  })

  it("finds the last errors of a log, in both of its formats and without secrets", async () => {
    const log = join(scratch, "log")
    const secret = "ab".repeat(32)
    writeFileSync(
      log,
      `12:00:00.000 INFO  node        running\n12:00:01.000 ERROR rpc         secret_key: ${secret}\n` +
        `{"timestamp":"x","level":"warn","module":"node","message":"odd"}\n`,
    )
    const { text } = await ask(copyOf(), "--log", log)
    const { last_errors } = JSON.parse(text)
    expect(last_errors).toHaveLength(2)
    expect(text).not.toContain(secret)
  })
})
