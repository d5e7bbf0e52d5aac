/** A development network's node: it can be stopped and restarted on other data behind the same HTTP interface. */
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Context, Deferred, Effect, Exit, Layer, Option, PubSub, Scope, Stream } from "effect"
import * as Group from "../edge/server/Group.js"
import * as Server from "../edge/server/Server.js"
import * as Network from "../network/Network.js"
import * as Engine from "../node/engine/Engine.js"
import type { NodeEvent } from "../node/engine/NodeEvent.js"
import * as Pace from "../node/engine/Pace.js"
import type { Ending } from "../node/lifecycle/Ending.js"
import { Supervisor } from "../node/lifecycle/Supervisor.js"
import * as Node from "../node/Node.js"
import type { Metrics } from "../node/reads/Metrics.js"
import type { State } from "../node/reads/State.js"
import * as Configuration from "../node/start/Configuration.js"
import { Home } from "../node/start/Home.js"
import * as Loading from "../node/start/Loading.js"
import type { Genesis } from "../protocol/epoch/Genesis.js"
import type { Address } from "../protocol/identity/Address.js"
import type { SecretKey } from "../protocol/identity/Keys.js"
import { Api } from "../rpc/api/Api.js"
import * as HttpInterface from "../rpc/HttpInterface.js"
import * as Prometheus from "../rpc/metrics/Prometheus.js"
import { DataDirectory } from "../storage/files/DataDirectory.js"
import * as DataFiles from "./DataFiles.js"
import type { DevClock } from "./DevClock.js"
import * as Face from "./Face.js"
import type * as StateFile from "./StateFile.js"

export interface Options {
  readonly genesis: Genesis
  /** Makes the vertices and can sign for every account. */
  readonly validator: SecretKey
  /** The faucet's key; none on a mainnet. */
  readonly reserve: Option.Option<SecretKey>
  /** The account whose coins set balances, if any. */
  readonly purse: Address | null
  /** Accounts with known keys, from which coins can be taken. */
  readonly accounts: ReadonlyArray<SecretKey>
  readonly version: string
  /** 0 takes any free port. */
  readonly port: number
  readonly pace: Pace.Way
  /** When it makes rounds: steadily, for pending transactions or on request, or on request only. */
  readonly roundsFor: "time" | "transactions" | "requests"
  /** Whether snapshots are possible; the data is then in its own directory instead of memory. */
  readonly hasSnapshots: boolean
  /** Continues from there. Needs `hasSnapshots`. */
  readonly from?: Pick<StateFile.Kept, "files" | "aheadMs">
}

type Services = Engine.Engine | State | Metrics | Supervisor

interface Running {
  readonly scope: Scope.CloseableScope
  readonly services: Context.Context<Services>
  readonly face: Face.Node
}

const configurationOf = ({ version, port }: Options) =>
  Layer.succeed(Configuration.Configuration, { ...Configuration.embedded, version, rpc: { host: "127.0.0.1", port } })

const homeOf = ({ genesis, validator, reserve }: Options, directory: Option.Option<string>) =>
  Effect.gen(function* () {
    const location = Option.isNone(directory)
      ? ({ _tag: "Ephemeral" } as const)
      : ({ _tag: "Directory", directory: yield* DataDirectory.open(directory.value), isTemporary: true } as const)
    return Home.of({
      location,
      genesis,
      isFounded: true,
      validatorKey: Option.some(validator),
      remoteSigner: Option.none(),
      faucetKey: reserve,
    })
  })

/**
 * This network's ledger accepts the validator's signature for every account: its coins are worthless, and nobody else
 * has any.
 */
const impersonating =
  ({ validator }: Options): Engine.Load =>
  (...from) =>
    Effect.tap(Loading.load(...from), ({ opened }) =>
      Effect.sync(() => opened.ledger.letSignForAll(validator.publicKey)),
    )

/** Starts the node with its services, until its scope closes. */
const started = (options: Options, clock: DevClock, directory: Option.Option<string>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const layer = Layer.provideMerge(HttpInterface.groups, Prometheus.layer).pipe(
      Layer.provideMerge(Node.servicesOver(Engine.layerLoading(impersonating(options)), Network.offline)),
      Layer.provideMerge(Layer.scoped(Home, homeOf(options, directory))),
      Layer.provide(configurationOf(options)),
      Layer.provide(NodeFileSystem.layer),
      Layer.provide(Layer.succeed(Pace.Pace, options.pace)),
    )
    const services = yield* Layer.buildWithScope(layer, scope).pipe(
      Effect.withClock(clock),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause))),
    )
    const behind = yield* Effect.provide(HttpInterface.behind, services)
    const handlers = yield* Effect.provide(Group.all(Api), services)
    return { scope, services, face: { handlers, behind } } satisfies Running
  })

/** Serves the interface until the scope ends. */
const served = (face: Face.Face, options: Options, clock: DevClock) =>
  Layer.build(HttpInterface.server(face.behind)).pipe(
    Effect.provide(Group.over(Api, face.handlers)),
    Effect.provide(configurationOf(options)),
    Effect.withClock(clock),
    Effect.map((context) => Server.urlOf(Context.get(context, Server.Server))),
  )

export const make = (options: Options, clock: DevClock) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const base = options.hasSnapshots
      ? Option.some(yield* files.makeTempDirectoryScoped({ prefix: "udg-dev-" }))
      : Option.none<string>()
    const directory = Option.map(base, (path) => join(path, "data"))
    if (options.from !== undefined && Option.isSome(directory)) {
      yield* Effect.orDie(DataFiles.put(directory.value, options.from.files))
      clock.putForward(options.from.aheadMs)
    }
    const ended = yield* Deferred.make<never, Ending>()
    const events = yield* PubSub.unbounded<NodeEvent>()
    const watch = ({ scope, services }: Running) =>
      Effect.all([
        Effect.forkIn(
          Effect.catchAll(Context.get(services, Supervisor).ended, (ending) => Deferred.fail(ended, ending)),
          scope,
        ),
        Effect.forkIn(
          Stream.runForEach(Context.get(services, Engine.Engine).events, (event) => PubSub.publish(events, event)),
          scope,
        ),
      ])
    let running: Running = yield* started(options, clock, directory)
    yield* watch(running)
    yield* Effect.addFinalizer(() => Effect.suspend(() => Scope.close(running.scope, Exit.void)))
    const face = new Face.Face(running.face)
    const url = yield* served(face, options, clock)
    return {
      url,
      base,
      ended: Deferred.await(ended),
      /** Events of the current node and all later ones. */
      events: Stream.fromPubSub(events),
      services: () => running.services,
      /** No node runs during the work. */
      restarted: <A, E, R>(work: (directory: string) => Effect.Effect<A, E, R>) =>
        face.replaced(
          Effect.gen(function* () {
            yield* Scope.close(running.scope, Exit.void)
            const done = yield* Effect.exit(work(Option.getOrElse(directory, () => "")))
            running = yield* Effect.orDie(started(options, clock, directory))
            yield* watch(running)
            return [running.face, yield* done] as const
          }),
        ),
    }
  })

export type DevNode = Effect.Effect.Success<ReturnType<typeof make>>
