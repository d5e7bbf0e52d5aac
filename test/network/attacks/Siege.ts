/** The attackers' process as the test controls it. */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { resolve } from "node:path"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"

export interface Order {
  readonly genesisFile: string
  readonly targets: ReadonlyArray<string>
  readonly kind: string
  readonly strangers: number
  readonly niceness: number
  readonly lifeMs: number
}

/** What the attackers did since the last report; connections and refusals since they began. */
export interface Report {
  readonly messages: number
  readonly bytes: number
  readonly connections: number
  readonly refusals: number
  /** Something succeeded that must not. */
  readonly breaches: number
  readonly cpuMs: number
}

export class Siege {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: AsyncIterator<string>

  private constructor(order: Order) {
    const program = resolve(import.meta.dirname, "attackers.ts")
    const args = ["--conditions=udg-source", "--import", "tsx", program, JSON.stringify(order)]
    this.#child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] })
    this.#child.stdin.on("error", () => {})
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  /** Starts the attackers. Returns when they are ready. */
  static async begin(order: Order): Promise<Siege> {
    const siege = new Siege(order)
    await siege.#line()
    return siege
  }

  async #line(): Promise<string> {
    const { done, value } = await this.#lines.next()
    if (done === true) throw new Error("the attackers' process has ended")
    return value
  }

  #tell(words: string): void {
    this.#child.stdin.write(`${words}\n`)
  }

  attack(): void {
    this.#tell("attack")
  }

  /** Pauses the attack, and uses this share of a processor. */
  rest(duty: number): void {
    this.#tell(`rest ${duty}`)
  }

  async report(): Promise<Report> {
    this.#tell("report")
    return JSON.parse(await this.#line()) as Report
  }

  end(): void {
    this.#child.kill("SIGKILL")
  }
}
