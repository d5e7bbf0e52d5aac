/**
 * Follows the README and docs/getting-started.md: runs every command, on free ports and in a temporary directory, and
 * compares the shape of the output with the page. An address, hash or key that a page shows is replaced in later
 * commands by the real one.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import * as Curl from "./Curl.js"
import { root, textOf } from "./Pages.js"

interface Step {
  readonly command: string
  /** The output that the page shows after the command. */
  readonly shown: string | undefined
}

/** Indented and fenced blocks, in order. */
const blocksOf = (page: string): ReadonlyArray<string> =>
  [...page.matchAll(/^```\w*\n([\s\S]*?)^```|(?<=\n\n)((?: {4}.*\n|\n(?= {4}))+)/gm)].map(([, fenced, indented = ""]) =>
    (fenced ?? indented.replaceAll(/^ {4}/gm, "")).trimEnd(),
  )

const isCommand = (block: string): boolean => /^(?:[A-Z_]+=\S+ )*(?:npm|npx|node|udg(?! \d)|curl) /.test(block)

/** Each command with the next block, unless that is a command too. */
const stepsOf = (page: string): ReadonlyArray<Step> => {
  const blocks = blocksOf(textOf(page))
  return blocks.flatMap((command, i) => {
    const next = blocks[i + 1]
    return isCommand(command) ? [{ command, shown: next === undefined || isCommand(next) ? undefined : next }] : []
  })
}

/** Values that differ in every run. `…` marks an omission on a page. */
const VOLATILE =
  /[0-9a-f]{64}@\S+|https?:\/\/127\.0\.0\.1:\d+|t?udg1[0-9a-z]{38,}|udg-solo-[0-9a-f]{16}|[0-9a-f]+…[0-9a-f]+|\b[0-9a-f]{40,128}\b|(?<=data directory {2})\S+|(?<="(?:dag_round|last_finalized_round|total_supply|total_supply_coin|dag_vertices|round)": ?)[\d.]+/g

const volatileIn = (text: string): ReadonlyArray<string> => text.match(VOLATILE) ?? []

const constantOf = (text: string): string => text.replaceAll(VOLATILE, "*")

/** The values that a reader has seen so far: as printed, and the real ones. */
class Seen {
  readonly #values = new Map<string, string>()
  #secretKey = ""

  /** Whether the real output matches the page. If so, remembers the real value for each printed one. */
  learns(shown: string, real: string): boolean {
    const values = volatileIn(real)
    const pairs = volatileIn(shown).map((value, i) => [value, values[i] ?? ""] as const)
    const agree = pairs.every(([value, its]) => /^[\d.]+$/.test(value) || (this.#values.get(value) ?? its) === its)
    if (!agree || !constantOf(real).startsWith(constantOf(shown))) return false
    for (const [value, its] of pairs) this.#values.set(value, its)
    this.#secretKey = /"secret_key": ?"([^"]+)"/.exec(real)?.[1] ?? this.#secretKey
    return true
  }

  /** The command with real values in place of printed ones. */
  in(command: string): string {
    return command
      .replaceAll('"secret_key":"…"', `"secret_key":"${this.#secretKey}"`)
      .replaceAll(VOLATILE, (value) => this.#values.get(value) ?? value)
  }
}

/** A command that runs until it is stopped, as at a terminal. */
class Started {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  said = ""

  constructor(command: string, environment: Readonly<Record<string, string>>) {
    // In its own process group, as at a terminal: Ctrl-C also reaches the node behind npm.
    this.#child = spawn("sh", ["-c", command], {
      cwd: root,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...environment },
    })
    this.#ended = once(this.#child, "close")
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => (this.said += text))
    }
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.said)) {
      if (this.#hasEnded) throw new Error(`it ended: ${this.said}`)
      await sleep(20)
    }
  }

  /** Presses Ctrl-C once. Returns when all processes have ended. */
  async interrupt(): Promise<void> {
    if (!this.#hasEnded) process.kill(-(this.#child.pid ?? 0), "SIGINT")
    await this.#ended
  }
}

/** Sends the request until the response matches the page. Requests that change something are sent once. */
const answered = async (seen: Seen, { command, shown }: Step): Promise<void> => {
  const { url, init } = Curl.parse(seen.in(command))
  for (let patience = 200; ; patience--) {
    const response = await fetch(url, init)
    const text = await response.text()
    if (shown === undefined) return expect(response.status, command).toBe(200)
    // The page shows either formatted JSON or the beginning of the raw response.
    const [wanted, came] =
      shown.startsWith("{\n") || shown.startsWith("{ ")
        ? [JSON.parse(shown), JSON.parse(text)].map((value) => JSON.stringify(value, null, 1))
        : [shown, text]
    if (seen.learns(wanted ?? "", came ?? "")) return
    if (init.method === "POST" || patience === 0) expect(came, command).toBe(wanted)
    await sleep(100)
  }
}

/** Commands that this test does not run, and why. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ["npm ci && npm test", "runs this test"],
  ["node dist/main.js dev", "its ports are fixed; test/blackbox/Dev.test.ts runs it on others"],
])

describe("the tour", () => {
  let folder = ""
  let running: Array<Started> = []
  beforeEach(() => {
    folder = TemporaryFolder.forTest("tour")
    running = []
  })
  afterEach(async () => {
    await Promise.all(running.map((started) => started.interrupt()))
  })

  const start = (command: string, name = "data"): Started => {
    // `npm ci` would remove packages that concurrent tests use.
    const started = new Started(command.replace("npm ci && ", ""), {
      UDG_PORT: "0",
      UDG_DATA_DIR: join(folder, name),
      UDG_DIR: join(folder, "localnet"),
    })
    running.push(started)
    return started
  }

  const bannerOf = ({ said }: Started): string => said.slice(said.search(/^udg \d/m))

  /** The banner ends with the faucet or the command that uses it. */
  const begun = async (seen: Seen, { command, shown }: Step): Promise<Started> => {
    const started = start(command)
    await started.until(/ -d '\{"address".*\n/)
    if (shown !== undefined) {
      const wanted = `${shown}\n`
      if (!seen.learns(wanted, bannerOf(started))) expect(bannerOf(started)).toBe(wanted)
    }
    return started
  }

  const isWhatItSays = async (page: string): Promise<void> => {
    const [first, ...others] = stepsOf(page)
    expect(first?.command).toBe("npm ci && npm start")
    const seen = new Seen()
    const node = await begun(seen, first ?? { command: "", shown: undefined })
    for (const step of others) {
      if (elsewhere.has(step.command)) continue
      if (step.command.startsWith("curl ")) await answered(seen, step)
      else if (step.command.endsWith(" localnet")) await start(step.command).until(/^ {2}node-3 .*\n/m)
      else if (/^([A-Z_]+=\S+ )*npm start$/.test(step.command)) await start(step.command, "another").until(/^ {2}rpc /m)
      else throw new Error(`${page} has a command that this test does not know how to run: ${step.command}`)
    }
    await node.interrupt()
    expect(node.said).toContain("asked to stop")
  }

  it("of README.md works as printed", () => isWhatItSays("README.md"))
  // test/docs/Terminal.test.ts types its commands.
  it(Rest.of("a network of four", "of docs/getting-started.md works as printed"), () =>
    isWhatItSays("docs/getting-started.md"),
  )

  it(Rest.of("two more starts", "continues with the same network the next time"), async () => {
    const [first] = stepsOf("docs/getting-started.md")
    const seen = new Seen()
    const node = await begun(seen, first ?? { command: "", shown: undefined })
    await node.interrupt()
    const again = start("npm start")
    await again.until(/ -d '\{"address".*\n/)
    const network = (started: Started) => /^ {2}network +(\S+) \(testnet(.*)\)$/m.exec(started.said)?.slice(1)
    expect([network(node)?.[1], network(again)?.[1]]).toStrictEqual([", made just now", ""])
    expect(network(again)?.[0]).toBe(network(node)?.[0])
  })
})

describe("the checker", () => {
  it("finds the commands of a page with their outputs", () => {
    const steps = stepsOf("docs/getting-started.md")
    expect(steps.map(({ command }) => command.split(" ")[0])).toStrictEqual(["npm", "curl", "node", "node"])
    expect(steps.filter(({ shown }) => shown === undefined).map(({ command }) => command)).toStrictEqual([
      "node dist/main.js localnet",
      "node dist/main.js dev",
    ])
  })

  it("finds a missing, renamed or retyped field, and a value that differs from the previous one", () => {
    const hash = (digit: string) => digit.repeat(64)
    const seen = new Seen()
    expect(seen.learns(`{"hash": "${hash("a")}"}`, `{"hash": "${hash("b")}"}`)).toBe(true)
    expect(seen.in(`curl /tx/${hash("a")}`)).toBe(`curl /tx/${hash("b")}`)
    expect(seen.learns(`{"hash": "${hash("a")}"}`, `{"hash": "${hash("b")}"}`)).toBe(true)
    expect(seen.learns(`{"hash": "${hash("a")}"}`, `{"hash": "${hash("c")}"}`)).toBe(false)
    expect(seen.learns('{"nonce": 0}', '{"nonce": 1}')).toBe(false)
    expect(seen.learns('{"nonce": 0}', '{"nonces": 0}')).toBe(false)
    expect(seen.learns('{"nonce": 0}', '{"nonce": "0"}')).toBe(false)
    expect(seen.learns('{"round": 104}', '{"round": 7}')).toBe(true)
    expect(seen.learns('{"round": 104}', '{"round": "7"}')).toBe(false)
  })
})
