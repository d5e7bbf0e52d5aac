/**
 * A network for developers: one node with a genesis of its own, in this process and without peers, which can be put forward,
 * set back and given coins. Only what made the network holds these controls: no node has them, and no network is joined.
 */
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Context, Data, Deferred, Effect, Exit, Layer, Option, Scope } from "effect"
import * as Network from "../network/Network.js"
import * as Engine from "../node/engine/Engine.js"
import type { Ending } from "../node/lifecycle/Ending.js"
import { Supervisor } from "../node/lifecycle/Supervisor.js"
import * as Node from "../node/Node.js"
import { RpcUrl } from "../node/RpcUrl.js"
import { Metrics } from "../node/reads/Metrics.js"
import { State } from "../node/reads/State.js"
import { Configuration } from "../node/start/Configuration.js"
import { Home } from "../node/start/Home.js"
import type { Genesis } from "../protocol/epoch/Genesis.js"
import * as Address from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type { SecretKey } from "../protocol/identity/Keys.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as AccountRecord from "../protocol/state/AccountRecord.js"
import * as Charges from "../protocol/transaction/Charges.js"
import * as HttpInterface from "../rpc/HttpInterface.js"
import { DataDirectory } from "../storage/files/DataDirectory.js"
import { DevClock } from "./DevClock.js"

export interface Options {
  readonly genesis: Genesis
  readonly validator: SecretKey
  /** Holds the reserve, from which balances are set. None on a mainnet. */
  readonly reserve: Option.Option<SecretKey>
  /** Accounts whose keys are known, so that coins can be taken from them. */
  readonly accounts: ReadonlyArray<SecretKey>
  readonly version: string
  /** 0 takes any free port. */
  readonly port: number
  /** Rounds only while transactions wait, or when asked for. */
  readonly isOnDemand: boolean
  /** Whether snapshots can be taken; the data is then in a directory of its own instead of in memory. */
  readonly hasSnapshots: boolean
}

/** What was asked for cannot be done; nothing has changed. */
export class ControlRefused extends Data.TaggedError("ControlRefused")<{ readonly message: string }> {}

const refused = (message: string) => new ControlRefused({ message })

export interface Position {
  readonly round: number
  readonly finalized_round: number
  /** Of the network's clock, in milliseconds since 1970. */
  readonly time: number
}

export const MOST_ROUNDS = 100_000
const YEAR_MS = 31_536_000_000
/** In all, so that every time remains a time. */
export const MOST_AHEAD_MS = 100 * YEAR_MS
export const MOST_SNAPSHOTS = 100
const LOOK_EVERY = "1 millis"
const LOOKS = 50

type Services = Engine.Engine | State | Metrics | Supervisor | RpcUrl

interface Running {
  readonly scope: Scope.CloseableScope
  readonly services: Context.Context<Services>
}

const isWithin = (value: number, least: number, most: number): boolean =>
  Number.isSafeInteger(value) && value >= least && value <= most

const configurationOf = ({ version }: Options, port: number) =>
  Layer.succeed(Configuration, {
    version,
    p2p: { host: "127.0.0.1", port: 0 },
    rpc: { host: "127.0.0.1", port },
    mode: Option.none(),
    dataDirectory: "",
    ephemeral: true,
    archive: true,
    history: Option.none(),
    genesisFile: Option.none(),
    validatorKeyFile: Option.none(),
    faucetKeyFile: Option.none(),
    validate: true,
    peers: [],
    trustedCheckpoint: Option.none(),
    signingWord: Option.none(),
    roundMs: Option.none(),
    rpcNames: [],
    trustedProxies: [],
    clientIpHeader: Option.none(),
    rateLimits: false,
  })

const homeOf = ({ genesis, validator, reserve }: Options, directory: Option.Option<string>) =>
  Effect.gen(function* () {
    const location = Option.isNone(directory)
      ? ({ _tag: "Ephemeral" } as const)
      : ({ _tag: "Directory", directory: yield* DataDirectory.open(directory.value) } as const)
    return Home.of({ location, genesis, isFounded: true, validatorKey: Option.some(validator), faucetKey: reserve })
  })

/** Starts the node, with its services until its scope is closed. */
const started = (options: Options, clock: DevClock, directory: Option.Option<string>, port: number) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const layer = Layer.provideMerge(HttpInterface.layer, Node.servicesOver(Engine.layer, Network.offline)).pipe(
      Layer.provideMerge(Layer.scoped(Home, homeOf(options, directory))),
      Layer.provide(configurationOf(options, port)),
      Layer.provide(NodeFileSystem.layer),
    )
    const services = yield* Layer.buildWithScope(layer, scope).pipe(
      Effect.withClock(clock),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause))),
    )
    return { scope, services } satisfies Running
  })

/** The node, which can be stopped and started again on other data under the same address. */
const nodeOf = (options: Options, clock: DevClock) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const base = options.hasSnapshots
      ? Option.some(yield* files.makeTempDirectoryScoped({ prefix: "udg-dev-" }))
      : Option.none<string>()
    const directory = Option.map(base, (path) => join(path, "data"))
    const ended = yield* Deferred.make<never, Ending>()
    const watch = ({ scope, services }: Running) =>
      Effect.forkIn(
        Effect.catchAll(Context.get(services, Supervisor).ended, (ending) => Deferred.fail(ended, ending)),
        scope,
      )
    let running: Running = yield* started(options, clock, directory, options.port)
    yield* watch(running)
    yield* Effect.addFinalizer(() => Effect.suspend(() => Scope.close(running.scope, Exit.void)))
    const url = Context.get(running.services, RpcUrl).url
    return {
      url,
      base,
      ended: Deferred.await(ended),
      services: () => running.services,
      /** Nothing runs while the work is done. */
      restarted: <A, E, R>(work: (directory: string) => Effect.Effect<A, E, R>) =>
        Effect.gen(function* () {
          yield* Scope.close(running.scope, Exit.void)
          const done = yield* Effect.exit(work(Option.getOrElse(directory, () => "")))
          running = yield* Effect.orDie(started(options, clock, directory, Number(new URL(url).port)))
          yield* watch(running)
          return yield* done
        }),
    }
  })

type DevNode = Effect.Effect.Success<ReturnType<typeof nodeOf>>

const positionOf = (node: DevNode, clock: DevClock): Position => {
  const { dagRound, finalizedRound } = Context.get(node.services(), Metrics).figures()
  return { round: dagRound, finalized_round: finalizedRound, time: clock.unsafeCurrentTimeMillis() }
}

const copies = (node: DevNode) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    let newest = 0
    const ids: Array<number> = []
    const folder = Option.getOrElse(node.base, () => "")
    const pathOf = (id: number) => join(folder, `snapshot-${id}`)
    const required = Effect.suspend(() =>
      Option.isNone(node.base)
        ? refused("this network is kept in memory; start it with snapshots: true to take snapshots")
        : Effect.void,
    )
    return {
      ids: (): ReadonlyArray<number> => ids,
      snapshot: Effect.gen(function* () {
        yield* required
        if (ids.length >= MOST_SNAPSHOTS) {
          return yield* refused(
            `there are ${ids.length} snapshots, as many as may be; revert to one, which drops the later`,
          )
        }
        const id = ++newest
        yield* node.restarted((directory) => Effect.orDie(files.copy(directory, pathOf(id))))
        ids.push(id)
        return id
      }),
      /** The snapshot stays; later ones go. */
      revert: (id: number) =>
        Effect.gen(function* () {
          yield* required
          const at = ids.indexOf(id)
          if (at === -1) return yield* refused(`there is no snapshot ${id}`)
          yield* node.restarted((directory) =>
            Effect.orDie(
              Effect.zipRight(files.remove(directory, { recursive: true }), files.copy(pathOf(id), directory)),
            ),
          )
          for (const later of ids.splice(at + 1)) {
            yield* Effect.ignore(files.remove(pathOf(later), { recursive: true }))
          }
        }),
    }
  })

const advancing = (node: DevNode, clock: DevClock, { genesis }: Options) => {
  let wantedRound = 0
  const { roundIntervalMs } = genesis.protocol
  const engine = () => Context.get(node.services(), Engine.Engine)
  const round = () => engine().pulse().round

  /**
   * Each round is due as soon as the one before it is there. When a round is due is decided a moment after the one before is
   * seen, so a round that does not come is given another interval.
   */
  const untilRound = (target: number) =>
    Effect.gen(function* () {
      wantedRound = target
      while (round() < target) {
        const before = round()
        clock.putForward(roundIntervalMs)
        engine().wake()
        for (let looks = 0; round() === before && looks < LOOKS; looks++) yield* Effect.sleep(LOOK_EVERY)
      }
    }).pipe(Effect.ensuring(Effect.sync(() => (wantedRound = 0))))

  const requireTime = (ms: number) =>
    clock.aheadMs + ms > MOST_AHEAD_MS ? refused("the clock would be more than 100 years ahead") : Effect.void

  return {
    isWanted: () => round() < wantedRound || engine().view.pool.size > 0,
    next: Effect.suspend(() => untilRound(round() + 1)),
    rounds: (count: number) =>
      isWithin(count, 1, MOST_ROUNDS)
        ? Effect.zipRight(
            requireTime(count * roundIntervalMs),
            Effect.suspend(() => untilRound(round() + count)),
          )
        : refused(`rounds: a whole number from 1 to ${MOST_ROUNDS} expected; got ${count}`),
    time: (ms: number) =>
      isWithin(ms, 1, MOST_AHEAD_MS)
        ? Effect.zipRight(
            requireTime(ms),
            Effect.suspend(() => {
              clock.putForward(ms)
              // Of a round that is final, the time is that of the round before it.
              return untilRound(round() + FINAL_AFTER)
            }),
          )
        : refused(`time_ms: a whole number of milliseconds from 1 to ${MOST_AHEAD_MS} expected; got ${ms}`),
  }
}

/** A transaction is final three rounds after the one that holds it. */
const FINAL_AFTER = 4

/** Balances are set by payments from the reserve and back to it, so that the supply remains what it is. */
const balances = (node: DevNode, next: Effect.Effect<void>, { genesis, reserve, accounts, validator }: Options) => {
  const keys = new Map(accounts.map((key) => [Address.fromPublicKey(key.publicKey), key]))
  const validatorAddress = Address.fromPublicKey(validator.publicKey)
  const balanceOf = (address: Address.Address) =>
    Effect.map(Context.get(node.services(), State).account(address), ({ balance }) => balance)

  const isFinal = (id: Hash) =>
    Context.get(node.services(), State)
      .transaction(id)
      .pipe(
        Effect.map(({ _tag }) => _tag === "Finalized"),
        Effect.mapError(() => refused(`the payment ${id} had no effect`)),
      )

  const paid = (key: SecretKey, to: Address.Address, amount: number, fee: Sats.Sats) =>
    Effect.gen(function* () {
      const { signAndSubmit } = Context.get(node.services(), Engine.Engine)
      const operation = { _tag: "Transfer", to, amount: Sats.make(amount), memo: "" } as const
      const { id } = yield* Effect.mapError(signAndSubmit({ key, fee, operation }), ({ _tag }) =>
        refused(
          _tag === "InsufficientBalance" ? "the reserve has less than that left" : `the payment is refused: ${_tag}`,
        ),
      )
      while (!(yield* isFinal(id))) yield* next
    })

  /** Pending transactions of the account would change what was just set. */
  const settled = Effect.gen(function* () {
    while (Context.get(node.services(), Engine.Engine).view.pool.size > 0) yield* next
  })

  return (address: Address.Address, wanted: Sats.Sats) =>
    Effect.gen(function* () {
      if (Option.isNone(reserve) || genesis.faucet === null) return yield* refused("this network has no reserve")
      if (address === genesis.faucet.address || address === validatorAddress) {
        return yield* refused("the balances of the reserve and of the validator change with every payment and round")
      }
      yield* settled
      const balance = yield* balanceOf(address)
      const { parameters } = yield* Context.get(node.services(), State).summary
      const fee = Sats.make(parameters.minFee)
      if (wanted > balance) {
        const account = yield* Context.get(node.services(), State).account(address)
        const first = Sats.make(Charges.transferFee(parameters, !AccountRecord.isEmpty(account)))
        yield* paid(reserve.value, address, wanted - balance, first)
      }
      if (wanted < balance) {
        const key = keys.get(address)
        if (key === undefined) {
          return yield* refused("coins can be taken only from the accounts that the network was started with")
        }
        const back = balance - wanted - fee
        // The account pays the fee too.
        if (back < 1) yield* paid(reserve.value, address, 1 - back, fee)
        yield* paid(key, genesis.faucet.address, Math.max(1, back), fee)
      }
      return yield* balanceOf(address)
    })
}

export interface DevNetwork {
  readonly url: string
  readonly ended: Effect.Effect<never, Ending>
  readonly position: () => Position
  readonly snapshots: () => ReadonlyArray<number>
  readonly advanceRounds: (count: number) => Effect.Effect<Position, ControlRefused>
  readonly advanceTime: (ms: number) => Effect.Effect<Position, ControlRefused>
  readonly snapshot: Effect.Effect<number, ControlRefused>
  readonly revert: (id: number) => Effect.Effect<Position, ControlRefused>
  readonly setBalance: (address: Address.Address, wanted: Sats.Sats) => Effect.Effect<Sats.Sats, ControlRefused>
}

/** Runs until the scope ends. One control at a time. */
export const make = (options: Options) =>
  Effect.gen(function* () {
    const clock = new DevClock()
    const node = yield* nodeOf(options, clock)
    const { ids, snapshot, revert } = yield* copies(node)
    const advance = advancing(node, clock, options)
    if (options.isOnDemand) clock.isWanted = advance.isWanted
    const lock = yield* Effect.makeSemaphore(1)
    const alone = lock.withPermits(1)
    const here = Effect.sync(() => positionOf(node, clock))
    return {
      url: node.url,
      ended: node.ended,
      position: () => positionOf(node, clock),
      snapshots: ids,
      advanceRounds: (count) => alone(Effect.zipRight(advance.rounds(count), here)),
      advanceTime: (ms) => alone(Effect.zipRight(advance.time(ms), here)),
      snapshot: alone(snapshot),
      revert: (id) => alone(Effect.zipRight(revert(id), here)),
      setBalance: (address, wanted) => alone(balances(node, advance.next, options)(address, wanted)),
    } satisfies DevNetwork
  }).pipe(Effect.provide(NodeFileSystem.layer))
