/** The nodes behind a gateway: those that answer take turns. */
import { Context, Duration, Effect, Layer, Schedule } from "effect"
import * as Client from "../client/Effects.js"
import * as Log from "../node/log/Log.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import type * as Core from "../rpc/api/Core.js"
import * as Failure from "../rpc/api/Failure.js"
import * as Sending from "./Sending.js"

const log = Log.for("rpc")

const LOOK_EVERY = Duration.seconds(1)
const LISTEN_AGAIN = Duration.millis(200)
const TIMEOUT_MS = 5_000
/** For as many transactions as one request holds, whose signatures a busy node checks. */
const LONG_TIMEOUT_MS = 30_000

export type Status = typeof Core.NodeStatus.Type

interface Node {
  readonly url: string
  readonly client: Client.EffectClient
  readonly patient: Client.EffectClient
  /** Null while it does not answer, or is of another network. */
  status: Status | null
  /** Whether it was told in the log that it cannot be used. */
  isMissed: boolean
}

type Ask<A> = (client: Client.EffectClient) => Effect.Effect<A, Client.Trouble>

export class Nodes extends Context.Tag("udg/gateway/Nodes")<
  Nodes,
  {
    /** How many there are, and how many answered when they were last asked. */
    readonly count: () => { readonly all: number; readonly healthy: number }
    /** Of one of them, a second old at most. */
    readonly status: Effect.Effect<Status, Failure.Unavailable>
    /** Asks one and, if it does not answer or is about to stop, one more. For what may be asked twice. */
    readonly ask: <A>(question: Ask<A>) => Effect.Effect<A, Client.Trouble | Failure.Unavailable>
    /** The same with the time that an array of transactions takes. */
    readonly askPatiently: <A>(question: Ask<A>) => Effect.Effect<A, Client.Trouble | Failure.Unavailable>
    /** Listens to one of them until that ends or the node answers no more, then to the next one, and so on. */
    readonly listen: (listening: Ask<void>) => Effect.Effect<never>
  }
>() {}

/** The node itself is the obstacle, and another may not have it. */
const isOfNode = ({ _tag }: { readonly _tag?: string }): boolean =>
  _tag === undefined ||
  _tag === "ShuttingDown" ||
  _tag === "NotReady" ||
  _tag === "Overloaded" ||
  _tag === "RateLimited"

const tagOf = (trouble: Client.Trouble): { readonly _tag?: string } => ("_tag" in trouble ? trouble : {})

const none = new Failure.Unavailable({
  message: "none of the gateway's nodes answers; ask again in a moment",
  retry_after_seconds: 2,
})

/** Whoever answers anew may be another one: a wrong URL, or a machine that is used for something else. */
const requireNetwork = ({ client }: Node, genesis: Genesis.Genesis) =>
  Effect.filterOrFail(
    client.core.network(),
    ({ genesis_hash }) => genesis_hash === Genesis.hash(genesis),
    ({ network_id }) => ({
      message: `it is of ${network_id}, or of another genesis than ${genesis.networkId}; name a node of this network`,
    }),
  )

const look = (node: Node, genesis: Genesis.Genesis) =>
  node.client.core.status().pipe(
    Effect.tap(() => (node.status === null ? requireNetwork(node, genesis) : Effect.void)),
    Effect.matchEffect({
      onSuccess: (status) => {
        const was = node.status
        node.status = status
        node.isMissed = false
        return was === null ? log.info("a node answers", { url: node.url }) : Effect.void
      },
      onFailure: ({ message }) => {
        const { isMissed } = node
        node.status = null
        node.isMissed = true
        return isMissed ? Effect.void : log.warn("a node cannot be used", { url: node.url, reason: message })
      },
    }),
  )

const make = (urls: ReadonlyArray<string>, genesis: Genesis.Genesis) =>
  Effect.gen(function* () {
    const send = yield* Sending.make
    const nodes = yield* Effect.forEach(urls, (url) =>
      Effect.map(
        Effect.all({
          client: Client.make(url, { retries: 0, timeoutMs: TIMEOUT_MS, send }),
          patient: Client.make(url, { retries: 0, timeoutMs: LONG_TIMEOUT_MS, send }),
        }),
        (clients): Node => ({ url, ...clients, status: null, isMissed: false }),
      ),
    )
    yield* Effect.forEach(nodes, (node) => look(node, genesis), { concurrency: "unbounded" })
    for (const node of nodes) yield* Effect.forkScoped(Effect.repeat(look(node, genesis), Schedule.spaced(LOOK_EVERY)))
    let turn = 0
    const healthy = () => nodes.filter(({ status }) => status !== null)
    /** The next one, and not `except` if there is another. */
    const next = (except?: Node): Node | undefined => {
      const others = healthy().filter((node) => node !== except)
      return others[turn++ % Math.max(1, others.length)]
    }
    /** When it does not answer; its connection may have fallen silent without an end. */
    const silent = (node: Node) =>
      Effect.repeat(
        Effect.sync(() => node.status),
        {
          until: (status) => status === null,
          schedule: Schedule.spaced(LOOK_EVERY),
        },
      )
    const asking =
      (clientOf: (node: Node) => Client.EffectClient) =>
      <A>(question: Ask<A>) =>
        Effect.gen(function* () {
          const first = next()
          if (first === undefined) return yield* Effect.fail(none)
          return yield* Effect.catchAll(question(clientOf(first)), (trouble) => {
            const second = isOfNode(tagOf(trouble)) ? next(first) : undefined
            return second === undefined ? Effect.fail(trouble) : question(clientOf(second))
          })
        })
    let heard: Node | undefined
    return Nodes.of({
      listen: (listening) =>
        Effect.suspend(() => {
          const node = next(heard) ?? next()
          if (node === undefined) return Effect.void
          heard = node
          return Effect.zipRight(
            log.debug("listens to a node", { url: node.url }),
            Effect.raceFirst(listening(node.client), silent(node)),
          )
        }).pipe(
          Effect.catchAll(({ message }) => log.warn("hears a node no more", { reason: message })),
          Effect.zipRight(Effect.sleep(LISTEN_AGAIN)),
          Effect.forever,
        ),
      count: () => ({ all: nodes.length, healthy: healthy().length }),
      status: Effect.suspend(() => {
        const status = next()?.status ?? null
        return status === null ? Effect.fail(none) : Effect.succeed(status)
      }),
      ask: asking(({ client }) => client),
      askPatiently: asking(({ patient }) => patient),
    })
  })

export const layer = (urls: ReadonlyArray<string>, genesis: Genesis.Genesis) => Layer.scoped(Nodes, make(urls, genesis))
