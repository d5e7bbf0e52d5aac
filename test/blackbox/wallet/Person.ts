/** A user of the built program with a home directory, who calls it from a script or at a terminal. */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stripVTControlCharacters } from "node:util"
import * as Bundle from "../../support/Bundle.js"
import type { Outcome } from "../InProcess.js"
import { program } from "../Running.js"
import type { Call } from "./Served.js"

interface Served {
  readonly child: ChildProcess
  readonly ended: Promise<never>
}

const WIPED = "\r\u001b[K"

type Environment = Readonly<Record<string, string>>

export const PASSPHRASE = "correct horse battery"

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** Quotes these words for a shell. */
export const typed = (...words: ReadonlyArray<string>): string => ["udg", ...words.map(quoted)].join(" ")

export class Person {
  readonly home = mkdtempSync(join(tmpdir(), "udg-person-"))
  readonly #environment: Environment
  /** The process that runs the program, and the latest call: calls run one after the other. */
  #served: Promise<Served> | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  environment(more: Environment = {}): Environment {
    return { PATH: process.env["PATH"] ?? "", HOME: this.home, TERM: "xterm", ...this.#environment, ...more }
  }

  /** The user's shell functions. */
  get shell(): string {
    return `udg() { ${quoted(process.execPath)} ${quoted(program)} "$@"; }; cd ${quoted(this.home)}; `
  }

  /** Runs a shell command to its end, without a terminal and with the passphrase in the environment. */
  async script(line: string, environment: Environment = { UDG_PASSPHRASE: PASSPHRASE }): Promise<Outcome> {
    const child = spawn("bash", ["-c", this.shell + line], {
      env: this.environment(environment),
      stdio: ["ignore", "pipe", "pipe"],
    })
    const said = { stdout: "", stderr: "" }
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said.stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said.stderr += text))
    await once(child, "close")
    return { code: child.exitCode, ...said }
  }

  /** Calls the program without a terminal. One process per user serves all calls. */
  udg(...words: ReadonlyArray<string>): Promise<Outcome> {
    return this.#call({ words, columns: null })
  }

  /** The same with stdout as wide as a terminal. */
  within(columns: number, ...words: ReadonlyArray<string>): Promise<Outcome> {
    return this.#call({ words, columns })
  }

  #call(call: Call): Promise<Outcome> {
    this.#served ??= this.#serve()
    const called = Promise.all([this.#served, this.#last]).then(async ([{ child, ended }]): Promise<Outcome> => {
      child.send(call)
      const [outcome] = await Promise.race([once(child, "message"), ended])
      return outcome
    })
    this.#last = called
    return called
  }

  async #serve(): Promise<Served> {
    const outfile = `served-${process.pid}.mjs`
    const path = await Bundle.make({ entry: "test/blackbox/wallet/Served.ts", outfile, arePackagesExternal: true })
    const env = this.environment({ UDG_PASSPHRASE: PASSPHRASE })
    const child = fork(path, { cwd: this.home, env, execArgv: [] })
    const ended = once(child, "exit").then(() => Promise.reject(new Error("what calls the program has ended")))
    ended.catch(() => {})
    return { child, ended }
  }

  /** Opens a terminal with a shell and types this line. */
  sit(line: string, environment: Environment = {}): Terminal {
    return new Terminal(this.shell + line, this.environment(environment))
  }

  leave(): void {
    this.#served?.then(({ child }) => child.kill())
    rmSync(this.home, { recursive: true, force: true })
  }
}

/** A terminal, provided by `script` of util-linux, with its input and output. */
export class Terminal {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  /** Everything written to it, including cursor movements. */
  raw = ""

  constructor(line: string, environment: Environment) {
    const command = `exec bash -c ${quoted(line)}`
    this.#child = spawn("script", ["--quiet", "--flush", "--return", "--command", command, "/dev/null"], {
      env: environment,
      stdio: ["pipe", "pipe", "inherit"],
    })
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.raw += text
    })
    this.#ended = once(this.#child, "close")
  }

  /** The text without styles and cursor movements. */
  get text(): string {
    return stripVTControlCharacters(this.raw).replaceAll("\r", "")
  }

  /** The text without lines that were erased. */
  get screen(): string {
    const lines = this.raw.split("\n").map((line) => line.split(WIPED).at(-1) ?? "")
    return stripVTControlCharacters(lines.join("\n")).replaceAll("\r", "")
  }

  /** Types the keys each time the output ends with this question, until the program ends. */
  async answer(question: RegExp, keys: string): Promise<void> {
    for (let answered = 0; this.#child.exitCode === null; ) {
      const { text } = this
      if (text.length > answered && question.test(text)) {
        answered = text.length
        this.type(keys)
      }
      await Promise.race([once(this.#child.stdout ?? this.#child, "data"), this.#ended])
    }
    await this.#ended
  }

  /** Waits until this is on the screen. */
  async see(what: string | RegExp): Promise<void> {
    const isThere = () => (typeof what === "string" ? this.text.includes(what) : what.test(this.text))
    while (!isThere()) {
      if (this.#child.exitCode !== null) throw new Error(`${what} was not seen, but:\n${this.text}`)
      await Promise.race([once(this.#child.stdout ?? this.#child, "data"), this.#ended])
    }
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys)
  }

  /** The exit code of the command. */
  async end(): Promise<number | null> {
    await this.#ended
    return this.#child.exitCode
  }
}
