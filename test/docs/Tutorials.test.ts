/**
 * Follows the tutorials with several nodes: starts nodes with the commands on the page, and types every `console` line.
 * UDG_REWRITE_DOCS=1 writes the output into the page instead. Ports and keys are those of this run.
 */
import { writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { resolve } from "node:path"
import { expect, it } from "vitest"
import { program, Running } from "../blackbox/Running.js"
import { Person } from "../blackbox/wallet/Person.js"
import * as Rest from "../support/Rest.js"
import { root } from "./Pages.js"
import { rewritten, shapeOf, stepsOf, type Typed } from "./Typed.js"

const isRewriting = process.env["UDG_REWRITE_DOCS"] === "1"
const COLUMNS = 80
const JSON_BODY = { "content-type": "application/json" }
const SOMEBODY = "00000000000000000000000000000000000000ab"
/** From a node's port to its HTTP port. */
const DISTANCE = 1000
/** The default port of a node. */
const USUAL_PORT = 9333

const isFree = (port: number): Promise<boolean> =>
  new Promise((settle) => {
    const server = createServer()
    server.once("error", () => settle(false))
    server.listen(port, "127.0.0.1", () => server.close(() => settle(true)))
  })

const freePair = async (): Promise<number> => {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 20_000)
    if ((await isFree(port)) && (await isFree(port + DISTANCE))) return port
  }
}

/** Maps the ports of a page to free ones. */
class Ports {
  readonly #real = new Map<number, number>()

  async of(written: number): Promise<number> {
    const known = this.#real.get(written)
    if (known !== undefined) return known
    const port = await freePair()
    this.#real.set(written, port)
    this.#real.set(written + DISTANCE, port + DISTANCE)
    return port
  }

  in(line: string): string {
    return line.replaceAll(/(?<=--port |127\.0\.0\.1:)\d+/g, (port) => String(this.#real.get(Number(port)) ?? port))
  }

  asWritten(text: string): string {
    return [...this.#real].reduce((shown, [written, real]) => shown.replaceAll(`:${real}`, `:${written}`), text)
  }
}

/** A reader who follows the page. */
class Reader {
  readonly #person = new Person({})
  readonly #ports = new Ports()
  readonly #nodes: Array<Running> = []
  /** Addresses and public keys, under the names that the page uses for them. */
  readonly #keys = new Map<string, string>()

  async start(line: string): Promise<void> {
    const port = Number(/--port (\d+)/.exec(line)?.[1] ?? USUAL_PORT)
    const real = await this.#ports.of(port)
    // Without a genesis the node creates a network, whose rounds can be fast here.
    const more = line.includes("--port") ? "" : ` --port ${real} --round-ms 100`
    const words = `${this.#ports.in(line)}${more} --host 127.0.0.1 --rate-limits off`.replace(/^udg/, "")
    const command = `cd '${this.#person.home}'; exec '${process.execPath}' '${program}' ${words}`
    const node = new Running("bash", ["-c", command], this.#person.environment())
    this.#nodes.push(node)
    await node.until(() => / {2}data directory/.test(node.stdout))
  }

  /** The URL of the first node, which may have a faucet. */
  async #first(): Promise<string> {
    return `http://127.0.0.1:${(await this.#ports.of(USUAL_PORT)) + DISTANCE}`
  }

  async type(line: string): Promise<Typed> {
    const url = await this.#first()
    const real = [...this.#keys].reduce((said, [name, key]) => said.replaceAll(name, key), this.#ports.in(line))
    const asked = /--node (\S+)/.exec(real)?.[1]
    if (asked !== undefined) await this.#settled(asked, line.includes("validators"))
    const terminal = this.#person.sit(`stty columns ${COLUMNS}; ${real}`, { UDG_NODE: url })
    await terminal.end()
    const shown = this.#ports
      .asWritten(terminal.screen.trimEnd().replaceAll(/ +$/gm, ""))
      .replaceAll(this.#person.home, "/home/you")
    const owner = /--out (\w+)\/validator\.key/.exec(line)?.[1]?.toUpperCase()
    if (owner !== undefined) {
      this.#keys.set(`${owner}-ADDRESS`, /address +([0-9a-f]{40})/.exec(shown)?.[1] ?? "")
      this.#keys.set(owner, /public key +([0-9a-f]{64})/.exec(shown)?.[1] ?? "")
    }
    return { line, shown }
  }

  /** Waits until the node has caught up and every account that staked has a seat. */
  async #settled(url: string, withSeats: boolean): Promise<void> {
    const answer = async (path: string) => (await fetch(url + path)).json()
    await expect.poll(async () => (await answer("/status")).last_finalized_round).toBeGreaterThan(3)
    if (!withSeats) return
    const first = await this.#first()
    const outside = async () => {
      const without = (await answer("/validators")).validators.filter(
        (it: { in_committee: boolean }) => !it.in_committee,
      )
      // Rounds come at full speed while transactions are pending.
      if (without.length > 0) {
        await fetch(`${first}/faucet`, {
          method: "POST",
          headers: JSON_BODY,
          body: JSON.stringify({ address: SOMEBODY }),
        })
      }
      return without
    }
    await expect.poll(outside, { interval: 100, timeout: 600_000 }).toEqual([])
  }

  async leave(): Promise<void> {
    for (const node of this.#nodes) node.signal("SIGTERM")
    for (const node of this.#nodes) await node.end()
    this.#person.leave()
  }
}

const NAME = "%s works as printed"
it.each(["docs/tutorials/validator.md", "docs/tutorials/consortium.md"])(
  Rest.of("a network of several programs for each page, which has to close an epoch", NAME),
  { timeout: 1_200_000 },
  async (file) => {
    const steps = stepsOf(file)
    const reader = new Reader()
    try {
      const seen: Array<Typed> = []
      for (const step of steps) {
        if ("started" in step) await reader.start(step.started)
        else seen.push(await reader.type(step.typed.line))
      }
      expect(seen.length).toBeGreaterThan(5)
      expect(seen.filter(({ shown }) => /^udg: /m.test(shown))).toEqual([])
      expect(seen.flatMap(({ shown }) => shown.split("\n")).filter((line) => line.length > COLUMNS)).toEqual([])
      if (isRewriting) return writeFileSync(resolve(root, file), rewritten(file, seen))
      const shown = steps.flatMap((step) => ("typed" in step ? [step.typed] : []))
      const shapes = (all: ReadonlyArray<Typed>) => all.map(({ line, shown }) => `$ ${line}\n${shapeOf(shown)}`)
      expect(shapes(seen)).toEqual(shapes(shown))
    } finally {
      await reader.leave()
    }
  },
)
