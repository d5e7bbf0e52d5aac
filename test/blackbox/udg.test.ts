import { spawn } from "node:child_process"
import { accessSync, constants, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import * as InProcess from "./InProcess.js"

const root = resolve(import.meta.dirname, "../..")
const program = join(root, "dist/main.js")
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }

interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

type Environment = Readonly<{ [name: string]: string }>

/** Only the variables that a process needs to start, so the caller's settings do not reach the program. */
const bare = (environment: Environment): Environment => ({
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "",
  ...environment,
})

const run = (command: string, words: ReadonlyArray<string>, environment: Environment, cwd: string): Promise<Outcome> =>
  new Promise((settle, fail) => {
    const child = spawn(command, words, { cwd, env: bare(environment), stdio: ["ignore", "pipe", "pipe"] })
    const said = { stdout: "", stderr: "" }
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said.stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said.stderr += text))
    child.on("error", fail)
    child.on("close", (code) => settle({ code, ...said }))
  })

/** Starts a node, waits until it is running, and stops it. */
const runNode = (
  command: string,
  words: ReadonlyArray<string>,
  environment: Environment,
  cwd: string,
): Promise<Outcome> =>
  new Promise((settle, fail) => {
    // In its own process group, so that the signal also reaches the node behind npm.
    const child = spawn(command, words, {
      cwd,
      env: bare(environment),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    })
    const said = { stdout: "", stderr: "" }
    let isAsked = false
    const look = () => {
      if (isAsked || !/^ {2}data directory/m.test(said.stdout) || child.pid === undefined) return
      isAsked = true
      process.kill(-child.pid, "SIGTERM")
    }
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said.stdout += text
      look()
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said.stderr += text
    })
    child.on("error", fail)
    child.on("close", (code) => settle({ code, ...said }))
  })

describe("the built program", () => {
  const folder = TemporaryFolder.forTests("blackbox")

  const udg = (words: ReadonlyArray<string>, environment: Environment = {}) =>
    run(process.execPath, [program, ...words], environment, folder)

  it("is the package's bin: executable, with a shebang", () => {
    accessSync(program, constants.X_OK)
    expect(readFileSync(program, "utf8").startsWith("#!/usr/bin/env node\n")).toBe(true)
  })

  const node = (words: ReadonlyArray<string>, environment: Environment = {}) =>
    runNode(process.execPath, [program, "--ephemeral", ...words], { UDG_RPC_PORT: "0", ...environment }, folder)

  // Two starts tell all of the following.
  let plain: Outcome
  let configured: Outcome
  beforeAll(async () => {
    plain = await node(["--testnet", "false", "--round-ms", "50"], { RUST_LOG: "error,node=info" })
    configured = await node(["--round-ms", "60", "--log-format", "json"], {
      ...{ UDG_ROUND_MS: "70", UDG_TESTNET: "true", UDG_HOST: "" },
      RUST_LOG: "info,bogus=info,loud",
    })
  })

  it("runs its own network, prints the essentials, and stops when asked to", () => {
    const { code, stdout } = plain
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^udg ${version}\n`))
    expect(stdout).toMatch(/^ {2}network +udg-solo-[0-9a-f]{16} \(mainnet, made just now\)$/m)
    expect(stdout).toMatch(/^ {2}genesis +[0-9a-f]{64}$/m)
    expect(stdout).toMatch(/^ {2}rounds +every 50 ms$/m)
    expect(stdout).toMatch(/^ {2}data directory +none, nothing is kept$/m)
    expect(stdout).toMatch(/^ {2}validator +[0-9a-f]{40}\n +udg1[0-9a-z]{38,}$/m)
    expect(stdout).not.toContain("faucet")
    expect(stdout).not.toContain("10333")
  })

  it("reads the environment, with the command line taking precedence", () => {
    const { code, stdout } = configured
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ {2}rounds +every 60 ms$/m)
    expect(stdout).toMatch(/\(testnet, made just now\)$/m)
    expect(stdout).toMatch(/^ {2}faucet +[0-9a-f]{40}\n +tudg1[0-9a-z]{38,}$/m)
  })

  it.each([["--help"], ["-h"], ["--port", "nonsense", "--help"]])("shows help for %j", async (...words) => {
    const { code, stdout, stderr } = await (words.length > 1 ? udg(words) : InProcess.udg(...words))
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toContain("\n  --rpc-port PORT ")
    expect(stdout).not.toContain("\u001b")
  })

  it("prints as JSON its version and those it is compatible with", async () => {
    const expected = { version, protocol: 3, wire: 3, database: 7 }
    for (const words of [
      ["--version", "--json"],
      ["--json", "--version"],
    ]) {
      const { code, stdout, stderr } = await udg(words)
      expect({ code, said: JSON.parse(stdout), stderr }).toEqual({ code: 0, said: expected, stderr: "" })
    }
  })

  it("prints only its version", async () => {
    expect(await udg(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" })
  })

  it("accepts udg version and udg help, with or without a command, like the options", async () => {
    expect(await InProcess.udg("version")).toEqual({ code: 0, stdout: "0.0.0\n", stderr: "" })
    for (const name of ["send", "db", "completion", "help"]) {
      const page = await InProcess.udg("help", name)
      expect(page).toEqual(await InProcess.udg(name, "--help"))
      expect(page.stdout).toContain(`udg ${name}`)
    }
    expect(await InProcess.udg("help")).toEqual(await InProcess.udg("--help"))
  })

  const wrong: ReadonlyArray<readonly [words: ReadonlyArray<string>, environment: Environment, names: string]> = [
    [["--prot", "1"], {}, '"--prot" is not an option; did you mean --port?'],
    [["start"], {}, '"start" is not a command; '],
    [["sned", "@bob", "1"], {}, '"sned" is not a command; did you mean udg send?'],
    [["sned", "--help"], {}, '"sned" is not a command; did you mean udg send?'],
    [["help", "sned"], {}, '"sned" is not a command; did you mean udg send?'],
    [["--archive", "true", "start"], {}, '"start" is an argument'],
    [["--port"], {}, "--port needs a value"],
    [["--port", "-1"], {}, '--port "-1"'],
    [["--port", "99999"], {}, '--port "99999"'],
    [["--rpc-port", "x"], {}, '--rpc-port "x"'],
    [["--port", "65000"], {}, "--rpc-port would be 66000"],
    [["--host", "a:b"], {}, '--host "a:b"'],
    [["--rpc-host", "a b"], {}, '--rpc-host "a b"'],
    [["--testnet", "perhaps"], {}, '--testnet "perhaps"'],
    [["--data-dir", program], {}, "--data-dir "],
    [["--genesis", "none.json"], {}, '--genesis "none.json" does not exist'],
    [["--genesis", "/dev/zero"], {}, '--genesis "/dev/zero" is not a regular file'],
    [["--validator-key", "."], {}, '--validator-key "." is a directory'],
    [["--signer", "10.0.0.7:8333"], {}, '--signer "10.0.0.7:8333" is not a signer'],
    [["--no-validate", "x"], {}, '--no-validate "x"'],
    [["--sign-from-round", "7"], {}, '--sign-from-round "7"'],
    [["--faucet-key", "none.key"], {}, '--faucet-key "none.key" does not exist'],
    [["--peer", "nowhere"], {}, '--peer "nowhere"'],
    [["--trust", "1:2"], {}, '--trust "1:2"'],
    [["--round-ms", "0"], {}, '--round-ms "0"'],
    [["--archive", "x"], {}, '--archive "x"'],
    [["--history", "some"], {}, '--history "some"'],
    [["--ephemeral", "x"], {}, '--ephemeral "x"'],
    [["--trusted-proxy", "10/8"], {}, '--trusted-proxy "10/8"'],
    [["--client-ip-header", "a b"], {}, '--client-ip-header "a b"'],
    [["--rate-limits", "x"], {}, '--rate-limits "x"'],
    [["--log-format", "x"], {}, '--log-format "x"'],
    [[], { UDG_PORT: "x" }, 'UDG_PORT "x"'],
    [[], { UDG_PEER: "a.example:1,nowhere" }, 'UDG_PEER "nowhere"'],
  ]

  it.each(wrong)("refuses %j with %j in one line that names it, exit 1", async (words, environment, names) => {
    const hasEnvironment = Object.keys(environment).length > 0
    const { code, stdout, stderr } = await (hasEnvironment ? udg(words, environment) : InProcess.udg(...words))
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(/^udg: [^\n]+\n$/)
    expect(stderr).toContain(`udg: ${names}`)
  })

  it("logs to stderr as RUST_LOG says: pretty, and without colours unless on a terminal", () => {
    const { stderr } = plain
    expect(stderr).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}node {8}(running|asked to stop)\n/)
    expect(stderr).not.toContain("supervisor")
  })

  it("logs JSON with --log-format json, and names an unreadable RUST_LOG once", () => {
    const { stdout, stderr } = configured
    expect(stdout).toMatch(/^udg /)
    const records = stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(records[0]).toMatchObject({ level: "warn", module: "node" })
    expect(records[0].message).toContain('ignored "bogus=info", "loud"')
    expect(records.at(-1)).toMatchObject({ level: "info", module: "node", message: "stopped" })
  })

  it("survives a closed output pipe", async () => {
    const { code, stderr } = await run("sh", ["-c", `"${process.execPath}" "${program}" --help | true`], {}, folder)
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  })

  it("runs by npm start, options after --", async () => {
    const words = ["start", "--silent", "--", "--ephemeral", "--port", "0"]
    const { stdout } = await runNode("npm", words, { npm_config_update_notifier: "false" }, root)
    expect(stdout).toMatch(/^ {2}rpc +http:\/\/127\.0\.0\.1:\d+$/m)
    expect(stdout).toMatch(/^ {2}data directory +none, nothing is kept$/m)
  })
})
