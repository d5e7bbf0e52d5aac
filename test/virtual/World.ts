/** A network for histories whose nodes are whole programs on virtual time, each with a real directory. */
import { cpSync, rmSync } from "node:fs"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Cause, type Console, Effect, Exit, Fiber, Layer, Logger, LogLevel, Option } from "effect"
import { MixedScheduler } from "effect/Scheduler"
import * as Node from "../../src/node/Node.js"
import * as Configuration from "../../src/node/start/Configuration.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as HttpInterface from "../../src/rpc/HttpInterface.js"
import type { Of } from "../histories/History.js"
import type { Place } from "../histories/Run.js"
import { Signed } from "../histories/Signed.js"
import type { Stage } from "../histories/Stage.js"
import * as Processes from "../network/Processes.js"
import { faults } from "./Faults.js"
import * as Threads from "./Threads.js"
import { Machine } from "./Time.js"
import * as Universe from "./Universe.js"

const VALIDATORS = 4
const SPENDERS = 4
const FOLLOWER = "follower"
const P2P_PORT = 9_333
const FIRST_RPC_PORT = 10_000
const ALLOWANCE = Sats.make(1_000 * Sats.SATS_PER_COIN)
/** What Effect has by default. */
const MOST_TASKS_BEFORE_TIMERS = 2_048

const NAMES = [...Array.from({ length: VALIDATORS }, (_, n) => String(n)), FOLLOWER]
const ALL = NAMES.flatMap((name) => [name, `${name}-copy`])

export const hostOf = (name: string): string => `10.0.0.${1 + ALL.indexOf(name)}`

const silent: Console.Console = { ...Effect.runSync(Effect.console), log: () => Effect.void }

const logger = (name: string) =>
  Logger.make(({ logLevel, message }) => {
    if (logLevel.ordinal >= LogLevel.Error.ordinal) process.stderr.write(`${name}: ${JSON.stringify(message)}\n`)
  })

/** A node that can be stopped or killed like a process. */
class Running {
  readonly machine: Machine
  readonly #fiber: Fiber.RuntimeFiber<unknown, unknown>

  private constructor(machine: Machine, fiber: Fiber.RuntimeFiber<unknown, unknown>) {
    this.machine = machine
    this.#fiber = fiber
  }

  /** Returns once the node serves. */
  static start(machine: Machine, settings: Configuration.Settings): Promise<Running> {
    return new Promise((resolve) => machine.run(() => Running.#fork(machine, settings, resolve)))
  }

  static #fork(machine: Machine, settings: Configuration.Settings, started: (running: Running) => void): void {
    const serving: Effect.Effect<never> = Effect.zipRight(
      Effect.sync(() => started(new Running(machine, fiber))),
      Effect.never,
    )
    const layers = Layer.mergeAll(
      NodeContext.layer,
      Layer.succeed(Configuration.Configuration, settings),
      Logger.replace(Logger.defaultLogger, logger(machine.name)),
    )
    const run = Node.run(HttpInterface.layer, serving).pipe(Effect.provide(layers), Effect.withConsole(silent))
    // Effect's own scheduler is one for all, and what has no fiber would run as the machine that came first.
    const fiber = Effect.runFork(run, { scheduler: new MixedScheduler(MOST_TASKS_BEFORE_TIMERS) })
    fiber.addObserver((exit) => {
      if (Exit.isFailure(exit) && !Cause.isInterruptedOnly(exit.cause))
        Universe.here().failed(new Error(`${machine.name} has ended: ${Cause.pretty(exit.cause)}`))
    })
  }

  async kill(): Promise<void> {
    this.machine.die()
  }

  async stop(): Promise<void> {
    await this.machine.run(() => Effect.runPromise(Fiber.interrupt(this.#fiber)))
    this.machine.die()
  }
}

export class World implements Stage {
  readonly network: Processes.Founded
  readonly spenders: ReadonlyArray<SecretKey>
  readonly names = NAMES
  readonly #running = new Map<string, Running>()
  readonly #seen = new Signed()

  private constructor() {
    this.spenders = Array.from({ length: SPENDERS }, () => SecretKey.generate())
    this.network = Processes.found({
      ...{ validators: VALIDATORS, roundMs: 100, epochRounds: 120, networkId: "udg-virtual" },
      allocations: this.spenders.map(({ publicKey }) => ({
        address: Address.fromPublicKey(publicKey),
        amount: ALLOWANCE,
      })),
    })
  }

  static async start(): Promise<World> {
    const world = new World()
    for (const name of NAMES) await world.startNode(name)
    return world
  }

  get validators(): ReadonlyArray<string> {
    return NAMES.filter((name) => name !== FOLLOWER)
  }

  get accounts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.spenders.map(({ publicKey }) => [Address.fromPublicKey(publicKey), ALLOWANCE]))
  }

  get doors(): ReadonlyMap<string, string> {
    return new Map(NAMES.map((name) => [name, `http://127.0.0.1:${this.#rpcPortOf(name)}`]))
  }

  readonly lines = {
    cut: (isCut: (from: string, to: string) => boolean): void => {
      const nameOf = ({ host }: { readonly host: string }) => ALL.find((name) => hostOf(name) === host) ?? ""
      Universe.here().net.cut((from, to) => isCut(nameOf(from), nameOf(to)))
    },
    heal: (): void => Universe.here().net.heal(),
  }

  #rpcPortOf(name: string): number {
    return FIRST_RPC_PORT + ALL.indexOf(name)
  }

  #directoryOf(name: string): string {
    return join(this.network.folder, `node-${name}`)
  }

  node(name: string): Running {
    const node = this.#running.get(name)
    if (node === undefined) throw new Error(`there is no node ${name}`)
    return node
  }

  async startNode(name: string): Promise<void> {
    this.#running.set(name, await this.#start(name, name))
  }

  #start(name: string, key: string): Promise<Running> {
    const peers = NAMES.filter((other) => other !== name)
    return Running.start(new Machine(name, Universe.here().time), {
      ...Configuration.embedded,
      version: "0.0.0",
      p2p: { host: Option.some(hostOf(name)), port: P2P_PORT },
      rpc: { host: "127.0.0.1", port: this.#rpcPortOf(name) },
      dataDirectory: this.#directoryOf(name),
      ephemeral: false,
      archive: key === "0",
      genesisFile: Option.some(this.network.genesisFile),
      validatorKeyFile: key === FOLLOWER ? Option.none() : Option.some(join(this.network.folder, `${key}.key`)),
      validate: key !== FOLLOWER,
      peers: peers.map((other) => ({ host: hostOf(other), port: P2P_PORT, key: Option.none() })),
    })
  }

  pause(name: string): void {
    this.node(name).machine.pause()
  }

  resume(name: string, areTimersFirst = false): void {
    this.node(name).machine.resume(areTimersFirst)
  }

  endThreads(name: string, program: string): void {
    Threads.end(this.node(name).machine, program)
  }

  setClock(name: string, aheadMs: number): void {
    this.node(name).machine.aheadMs = aheadMs
  }

  async saveFollower(): Promise<(whileDown: () => void) => Promise<void>> {
    const directory = this.#directoryOf(FOLLOWER)
    const copy = `${directory}-saved`
    await this.node(FOLLOWER).stop()
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

  async startCopy(name: string): Promise<Running> {
    rmSync(this.#directoryOf(`${name}-copy`), { recursive: true, force: true })
    return this.#start(`${name}-copy`, name)
  }

  newlySigned(): ReadonlyArray<Of<"signed">> {
    return this.#seen.newly(ALL.map((name) => [name, this.#directoryOf(name)]))
  }

  async end(): Promise<void> {
    for (const node of this.#running.values()) await node.kill()
    rmSync(this.network.folder, { recursive: true, force: true })
  }
}

export const place: Place<World> = { start: () => World.start(), faults }
