/** A separate process of the program, its output, and its exit. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** The built node. */
export const program = resolve(import.meta.dirname, "../../dist/main.js")

interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly tookMs: number
}

export class Running {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  stdout = ""
  stderr = ""

  constructor(command: string, words: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}) {
    const env = { PATH: process.env["PATH"] ?? "", ...variables }
    this.#child = spawn(command, words, { stdio: ["ignore", "pipe", "pipe"], env })
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text
    })
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text
    })
    this.#ended = once(this.#child, "close")
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    // A check costs the node as much work as a round.
    for (let waited = 0; waited < 240_000; waited += 50) {
      if (await holds()) return
      if (this.#child.exitCode !== null) break
      await sleep(50)
    }
    throw new Error(`it did not come to that: ${this.stdout}${this.stderr}`)
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** The exit code, and how long the process took to end from now. */
  async end(): Promise<Ended> {
    const started = performance.now()
    await this.#ended
    return { code: this.#child.exitCode, signal: this.#child.signalCode, tookMs: performance.now() - started }
  }

  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> {
    this.signal(signal)
    return this.end()
  }
}
