/** A network of real processes that a run does bad things to: validators, a follower and, where PostgreSQL is installed, gateways. */
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { type Follower, follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import * as Serving from "../gateway/Serving.js"
import { Lines } from "../network/Lines.js"
import * as Processes from "../network/Processes.js"

const VALIDATORS = 4
const SPENDERS = 4
const FOLLOWER = "follower"
const ALLOWANCE = Sats.make(1_000 * Sats.SATS_PER_COIN)
const stepped = ["--import", resolve(import.meta.dirname, "../network/steppedClock.mjs")]

export interface Options {
  /** What the processes run, by default the built program. */
  readonly program?: string | undefined
  readonly hasGateways: boolean
  /** Whether it may mount disks of its own, to fill them. */
  readonly hasDisks?: boolean
}

interface Archived {
  readonly server: Server.Server
  readonly follower: Follower
  readonly database: string
  readonly gateways: Map<string, Serving.Gateway>
}

const DISK = "size=256m"
const CHUNK = Buffer.alloc(1_048_576)

/** Whether the archive has its first commit. */
const isBegun = async (database: string): Promise<boolean> =>
  (await Server.query(database, "select 1 from position").catch(() => [])).length > 0

const portOf = (place: string): string => place.split(":").at(-1) ?? ""

export class World {
  readonly network: Processes.Founded
  readonly spenders: ReadonlyArray<SecretKey>
  readonly #options: Options
  readonly lines: Lines
  readonly #nodes = new Map<string, Processes.Started>()
  archived: Archived | null = null

  private constructor(options: Options, lines: Lines) {
    this.#options = options
    this.lines = lines
    this.spenders = Array.from({ length: SPENDERS }, () => SecretKey.generate())
    this.network = Processes.found({
      ...{ validators: VALIDATORS, roundMs: 100, epochRounds: 120, networkId: "udg-histories" },
      allocations: this.spenders.map(({ publicKey }) => ({
        address: Address.fromPublicKey(publicKey),
        amount: ALLOWANCE,
      })),
    })
  }

  static readonly #running = new Set<World>()

  static async endAll(): Promise<void> {
    for (const world of World.#running) await world.end()
  }

  static async start(options: Options): Promise<World> {
    const world = new World(options, await Lines.open())
    World.#running.add(world)
    try {
      if (options.hasDisks === true) world.#mount("3")
      for (const n of world.network.keys.keys()) await world.startNode(String(n))
      await world.startNode(FOLLOWER)
      for (const name of world.names) await Processes.everybodySigns(world.network, world.node(name))
      if (options.hasGateways && Server.isThere) await world.#startGateways()
      return world
    } catch (error) {
      await world.end()
      throw error
    }
  }

  /** Nodes with a disk of their own. */
  readonly mounted: Array<string> = []

  #mount(name: string): void {
    const directory = this.#directoryOf(name)
    mkdirSync(directory, { mode: 0o700 })
    execFileSync("mount", ["-t", "tmpfs", "-o", `${DISK},mode=0700`, "tmpfs", directory])
    this.mounted.push(name)
  }

  #directoryOf(name: string): string {
    return join(this.network.folder, `node-${name}`)
  }

  /** Takes all room on its disk, and gives it back. */
  fill(name: string): () => void {
    const ballast = join(this.#directoryOf(name), "ballast")
    try {
      for (;;) writeFileSync(ballast, CHUNK, { flag: "a" })
    } catch {
      return () => rmSync(ballast, { force: true })
    }
  }

  async startCopy(name: string): Promise<Processes.Started> {
    const key = join(this.network.folder, `${name}.key`)
    const peers = [...this.#nodes.values()].flatMap(({ p2p }) => ["--peer", p2p])
    rmSync(this.#directoryOf(`${name}-copy`), { recursive: true, force: true })
    return Processes.start(this.network, `${name}-copy`, ["--validator-key", key, "--rpc-port", "0", ...peers], "warn")
  }

  get names(): ReadonlyArray<string> {
    return [...this.#nodes.keys()]
  }

  get validators(): ReadonlyArray<string> {
    return this.names.filter((name) => name !== FOLLOWER)
  }

  get accounts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.spenders.map(({ publicKey }) => [Address.fromPublicKey(publicKey), ALLOWANCE]))
  }

  /** Whom clients ask, by name. */
  get doors(): ReadonlyMap<string, string> {
    const nodes = [...this.#nodes].map(([name, { http }]) => [name, http ?? ""] as const)
    const gateways = [...(this.archived?.gateways ?? [])].map(([name, { url }]) => [name, url] as const)
    return new Map([...nodes, ...gateways])
  }

  node(name: string): Processes.Started {
    const node = this.#nodes.get(name)
    if (node === undefined) throw new Error(`there is no node ${name}`)
    return node
  }

  /** At the ports it had, so that everybody finds it again. */
  async startNode(name: string): Promise<void> {
    const before = this.#nodes.get(name)
    const again = before === undefined ? [] : ["--port", portOf(before.p2p), "--rpc-port", portOf(before.http ?? "")]
    const peers = [...this.#nodes.values()].filter((node) => node.name !== name)
    const isFollower = name === FOLLOWER
    const words = ["--rate-limits", "off", ...again, ...(name === "0" ? ["--archive"] : [])]
    const way = this.lines.wayOf(name)
    const through = {
      execArgv: [...way.execArgv, ...stepped],
      environment: { ...way.environment, UDG_CLOCK_FILE: join(this.network.folder, `${name}.clock`) },
      ...(this.#options.program === undefined ? {} : { program: this.#options.program }),
    }
    const dialled = peers.flatMap(({ p2p }) => ["--peer", p2p])
    const node = isFollower
      ? await Processes.start(this.network, name, ["--no-validate", ...words, ...dialled], "warn", through)
      : await Processes.startValidator(this.network, Number(name), peers, words, "warn", through)
    this.lines.leadsTo(name, node.p2p)
    this.#nodes.set(name, node)
  }

  setClock(name: string, aheadMs: number): void {
    writeFileSync(join(this.network.folder, `${name}.clock`), String(aheadMs))
  }

  /** The follower as it is on its disk, and back to that. It signs nothing, so going back is no equivocation. */
  async saveFollower(): Promise<(whileDown: () => void) => Promise<void>> {
    const { directory, stop } = this.node(FOLLOWER)
    const copy = `${directory}-copy`
    await stop()
    rmSync(copy, { recursive: true, force: true })
    cpSync(directory, copy, { recursive: true })
    await this.startNode(FOLLOWER)
    return async (whileDown) => {
      await this.node(FOLLOWER).stop()
      whileDown()
      rmSync(directory, { recursive: true, force: true })
      cpSync(copy, directory, { recursive: true })
      await this.startNode(FOLLOWER)
    }
  }

  async #startGateways(): Promise<void> {
    const server = await Server.make()
    const database = await server.create("histories")
    const follower = follow(this.network, "a", database, this.node("0"))
    this.archived = { server, follower, database, gateways: new Map() }
    await Processes.until(`the archive begins: ${follower.said()}`, () => isBegun(database))
    for (const name of ["gateway-0", "gateway-1"]) await this.startGateway(name)
  }

  async startGateway(name: string): Promise<void> {
    if (this.archived === null) return
    const urls = [...this.#nodes.values()].flatMap(({ http }) => http ?? [])
    this.archived.gateways.set(name, await Serving.serve(this.network.genesisFile, this.archived.database, urls))
  }

  async killGateway(name: string): Promise<void> {
    const child = this.archived?.gateways.get(name)?.child
    const ended = new Promise((settle) => child?.once("close", settle))
    child?.kill("SIGKILL")
    await ended
  }

  async end(): Promise<void> {
    if (!World.#running.delete(this)) return
    this.lines.close()
    for (const { child } of this.archived?.gateways.values() ?? []) child.kill("SIGKILL")
    await this.archived?.follower.end("SIGKILL")
    await this.archived?.server.remove()
    for (const name of this.mounted) execFileSync("umount", ["-l", this.#directoryOf(name)])
    await Processes.removeAll()
  }
}
