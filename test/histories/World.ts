/** A network of real processes for faults: validators, a follower and, with PostgreSQL installed, gateways. */
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { type Follower, follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import * as Serving from "../gateway/Serving.js"
import { Lines, type Way } from "../network/Lines.js"
import * as Processes from "../network/Processes.js"
import * as Signers from "../network/Signers.js"
import * as SignerProcess from "../signer/SignerProcess.js"
import type { Chance } from "../simulation/Chance.js"
import type { Of } from "./History.js"
import * as Nemesis from "./Nemesis.js"
import type { Place } from "./Run.js"
import { Signed } from "./Signed.js"
import type { Stage } from "./Stage.js"

const VALIDATORS = 4
const SPENDERS = 4
const FOLLOWER = "follower"
const SIGNER = "signer"
const ALLOWANCE = Sats.make(1_000 * Sats.SATS_PER_COIN)
const stepped = ["--import", resolve(import.meta.dirname, "../network/steppedClock.mjs")]

export interface Options {
  /** What the processes run; the built program by default. */
  readonly executed?: Required<Processes.Executed>
  /** Draws the validator whose key only a signer has. */
  readonly chance: Chance
  readonly hasGateways: boolean
  /** Whether it can mount private disks and fill them. */
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

export class World implements Stage {
  readonly network: Processes.Founded
  readonly spenders: ReadonlyArray<SecretKey>
  readonly #options: Options
  readonly lines: Lines
  readonly #nodes = new Map<string, Processes.Started>()
  /** The validator whose key only the signer has. */
  readonly signed: string
  #signer: SignerProcess.SignerProcess | null = null
  readonly #nodeKey = SecretKey.generate()
  readonly #copyKey = SecretKey.generate()
  readonly #seen = new Signed()
  archived: Archived | null = null

  private constructor(options: Options, lines: Lines) {
    this.#options = options
    this.lines = lines
    this.signed = String(options.chance.below(VALIDATORS))
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
      const place = world.#place
      if ((await SignerProcess.signFrom(place, "1:1")) !== 0) throw new Error("the signer does not take its key")
      Signers.nodeKeyOf(world.network, world.signed, world.#nodeKey)
      await world.startSigner()
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

  /** Nodes with a private disk. */
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

  /** Fills its disk. Returns a function that frees the space. */
  fill(name: string): () => void {
    const ballast = join(this.#directoryOf(name), "ballast")
    try {
      for (;;) writeFileSync(ballast, CHUNK, { flag: "a" })
    } catch {
      return () => rmSync(ballast, { force: true })
    }
  }

  /** A second node with the key or, if that is at the signer, with the same signer. Its disk is empty. */
  async startCopy(name: string): Promise<Processes.Started> {
    rmSync(this.#directoryOf(`${name}-copy`), { recursive: true, force: true })
    return name === this.signed ? this.#startTwin() : this.#runCopy(name, this.#localKey(name))
  }

  /**
   * Starts the signer's node again, and a second one with a copy of its disk. They reach the others in the same moment:
   * the first of the two to hear of the other one's vertices would be silent.
   */
  async startTwins(): Promise<Processes.Started> {
    const own = this.#directoryOf(this.signed)
    await this.node(this.signed).kill()
    rmSync(`${own}-copy`, { recursive: true, force: true })
    cpSync(own, `${own}-copy`, { recursive: true })
    const isTwin = (name: string): boolean => [SIGNER, this.signed, `${this.signed}-copy`].includes(name)
    this.lines.cut((from, to) => isTwin(from) !== isTwin(to))
    const [twin] = await Promise.all([this.#startTwin(), this.startNode(this.signed)])
    this.lines.heal()
    return twin
  }

  #startTwin(): Promise<Processes.Started> {
    Signers.nodeKeyOf(this.network, `${this.signed}-copy`, this.#copyKey)
    return this.#runCopy(this.signed, Signers.wordsOf(this.signer))
  }

  #runCopy(name: string, key: ReadonlyArray<string>): Promise<Processes.Started> {
    const copy = `${name}-copy`
    const words = [...key, "--rpc-port", "0", ...[...this.#nodes.values()].flatMap(({ p2p }) => ["--peer", p2p])]
    return Processes.start(this.network, copy, words, "warn", this.#through(copy))
  }

  #through(name: string): Way & Processes.Program {
    const { execArgv, environment } = this.lines.wayOf(name)
    const { program = Processes.built, execArgv: planted = [] } = this.#options.executed ?? {}
    return {
      program,
      execArgv: [...execArgv, ...stepped, ...planted],
      environment: { ...environment, UDG_CLOCK_FILE: join(this.network.folder, `${name}.clock`) },
    }
  }

  get signer(): SignerProcess.SignerProcess {
    if (this.#signer === null) throw new Error("there is no signer")
    return this.#signer
  }

  get #place(): SignerProcess.Place {
    return { ...Signers.placeOf(this.network, Number(this.signed)), executed: this.#options.executed }
  }

  /** At its previous port. */
  async startSigner(): Promise<void> {
    const nodes = [this.#nodeKey, this.#copyKey].map(NodeProof.idOf)
    this.#signer = await SignerProcess.start(this.#place, nodes, this.#signer?.port)
    this.lines.leadsTo(SIGNER, String(this.#signer.port))
  }

  newlySigned(): ReadonlyArray<Of<"signed">> {
    const names = this.names.flatMap((name) => [name, `${name}-copy`])
    return this.#seen.newly(names.map((name) => [name, this.#directoryOf(name)]))
  }

  pause(name: string): void {
    process.kill(this.node(name).pid, "SIGSTOP")
  }

  resume(name: string): void {
    process.kill(this.node(name).pid, "SIGCONT")
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

  /** The nodes and gateways that clients use, by name. */
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

  /** At its previous ports, so that others find it again. */
  async startNode(name: string): Promise<void> {
    const before = this.#nodes.get(name)
    const again = before === undefined ? [] : ["--port", portOf(before.p2p), "--rpc-port", portOf(before.http ?? "")]
    const peers = [...this.#nodes.values()].filter((node) => node.name !== name)
    const words = ["--rate-limits", "off", ...again, ...(name === "0" ? ["--archive"] : [])]
    const dialled = peers.flatMap(({ p2p }) => ["--peer", p2p])
    const all = [...this.#keyWords(name), ...words, ...dialled]
    const node = await Processes.start(this.network, name, all, "warn", this.#through(name))
    this.lines.leadsTo(name, node.p2p)
    this.#nodes.set(name, node)
  }

  #keyWords(name: string): ReadonlyArray<string> {
    if (name === FOLLOWER) return ["--no-validate"]
    return name === this.signed ? Signers.wordsOf(this.signer) : this.#localKey(name)
  }

  #localKey(name: string): ReadonlyArray<string> {
    return ["--validator-key", join(this.network.folder, `${name}.key`)]
  }

  setClock(name: string, aheadMs: number): void {
    writeFileSync(join(this.network.folder, `${name}.clock`), String(aheadMs))
  }

  /**
   * Copies the follower's disk; the returned function restores it. A follower signs nothing, so going back cannot
   * equivocate.
   */
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
    const follower = follow(this.network, "a", database, this.node("0"), this.#options.executed)
    this.archived = { server, follower, database, gateways: new Map() }
    await Processes.until(`the archive begins: ${follower.said()}`, () => isBegun(database))
    for (const name of ["gateway-0", "gateway-1"]) await this.startGateway(name)
  }

  async startGateway(name: string): Promise<void> {
    if (this.archived === null) return
    const urls = [...this.#nodes.values()].flatMap(({ http }) => http ?? [])
    const { genesisFile } = this.network
    const { database, gateways } = this.archived
    gateways.set(name, await Serving.serve(genesisFile, database, urls, undefined, this.#options.executed))
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
    await this.#signer?.kill()
    for (const name of this.mounted) execFileSync("umount", ["-l", this.#directoryOf(name)])
    await Processes.removeAll()
  }
}

/** A run with processes. */
export const place = (options: Omit<Options, "chance">): Place<World> => ({
  start: (chance) => World.start({ ...options, chance: chance.stream("signer") }),
  faults: Nemesis.OF_PROCESSES,
})
