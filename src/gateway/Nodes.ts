/** The nodes behind a gateway. Healthy ones take turns. */
import { Context, Deferred, Duration, Effect, Either, Layer, Schedule } from "effect"
import * as Client from "../client/Effects.js"
import * as Log from "../node/log/Log.js"
import { Unanswered } from "../node/reads/Lookup.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import { addressPrefix } from "../protocol/identity/Network.js"
import type * as Core from "../rpc/api/Core.js"
import { CircuitBreaker } from "./CircuitBreaker.js"
import * as ConnectionPool from "./ConnectionPool.js"

const log = Log.for("rpc")

const LOOK_EVERY = Duration.seconds(1)
const LISTEN_AGAIN = Duration.millis(200)
const TIMEOUT_MS = 5_000
/** For the largest array of transactions, whose signatures a busy node checks. */
const LONG_TIMEOUT_MS = 30_000
/** After this long without an answer the next node is asked as well, and the first answer counts. */
const PATIENCE = Duration.seconds(1)
const LONG_PATIENCE = Duration.seconds(10)
/** For a node that may not answer yet. */
const SHORT_PATIENCE = Duration.millis(300)
const MOST_ASKED = 3

export type Status = typeof Core.NodeStatus.Type

interface Node {
  readonly url: string
  readonly client: Client.EffectClient
  readonly patient: Client.EffectClient
  /** Null while it does not answer or belongs to another network. */
  status: Status | null
  /** Whether the log says that it cannot be used. */
  isMissed: boolean
  /** Tracks its answers to questions; it may answer its status all the same. */
  readonly breaker: CircuitBreaker
}

/** Trouble of a node or the client, or a silent archive, against which answers are judged. */
export type Trouble = Client.Trouble | Unanswered

type Ask<A> = (client: Client.EffectClient) => Effect.Effect<A, Trouble>

export class Nodes extends Context.Tag("udg/gateway/Nodes")<
  Nodes,
  {
    /** How many there are, and how many answer their status and other questions. */
    readonly count: () => { readonly all: number; readonly healthy: number }
    /** The status of one of them, at most a second old. */
    readonly status: Effect.Effect<Status, Unanswered>
    /**
     * Asks one node and, if it is slow, does not answer or is about to stop, the next one as well. For questions that
     * can be asked twice.
     */
    readonly ask: <A>(question: Ask<A>) => Effect.Effect<A, Trouble>
    /** The same, with enough time for an array of transactions. */
    readonly askPatiently: <A>(question: Ask<A>) => Effect.Effect<A, Trouble>
    /** Listens to one node until that ends or the node becomes unusable, then to the next one, and so on. */
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

const tagOf = (trouble: Trouble): { readonly _tag?: string } => ("_tag" in trouble ? trouble : {})

const none = new Unanswered({
  message: "none of the gateway's nodes answers; ask again in a moment",
  retryAfterSeconds: 2,
})

/** A node that answers again may be another one: a wrong URL, or a machine with a new purpose. */
const requireNetwork = ({ client }: Node, genesis: Genesis.Genesis) =>
  Effect.filterOrFail(
    client.core.network(),
    ({ genesis_hash }) => genesis_hash === Genesis.hash(genesis),
    ({ network_id }) => ({
      message: `it belongs to ${network_id}, or to another genesis than that of ${genesis.networkId}; name a node of this network`,
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

const isUsed = ({ status, breaker }: Node): boolean => status !== null && breaker.isGood

/** Puts failing nodes behind the others, except one that is due for a test, which goes first. */
const inOrder = (nodes: ReadonlyArray<Node>, turn: number): ReadonlyArray<Node> => {
  const there = nodes.filter(({ status }) => status !== null)
  const due = there.find(({ breaker }) => breaker.isDue(performance.now()))
  const rotated = (some: ReadonlyArray<Node>) => some.map((_, n) => some[(turn + n) % some.length] ?? _)
  const good = rotated(there.filter((node) => isUsed(node)))
  // A question may be slow on all nodes, so failing ones are asked too: nobody can shut a gateway with such questions.
  const bad = rotated(there.filter((node) => !isUsed(node) && node !== due))
  return [...(due === undefined ? [] : [due]), ...good, ...bad].slice(0, MOST_ASKED)
}

const failed = (node: Node, reason: string) =>
  Effect.suspend(() => {
    const wasGood = node.breaker.isGood
    node.breaker.failed(performance.now())
    return wasGood && !node.breaker.isGood
      ? log.warn("a node does not answer requests", { url: node.url, reason })
      : Effect.void
  })

const answered = (node: Node) =>
  Effect.suspend(() => {
    const wasGood = node.breaker.isGood
    node.breaker.answered()
    return wasGood ? Effect.void : log.info("a node answers requests again", { url: node.url })
  })

/** An answer, or a refusal that any node would give. */
type Settled<A> = Either.Either<A, Trouble>

/** Asks one node after the other until one settles the question, each only when necessary. */
const settle = <A>(
  [node, ...others]: readonly [Node, ...ReadonlyArray<Node>],
  ask: (node: Node) => Effect.Effect<A, Trouble>,
  patience: Duration.Duration,
): Effect.Effect<Settled<A>, Trouble> =>
  Effect.gen(function* () {
    const isTried = !node.breaker.isGood
    if (isTried) node.breaker.try()
    let isLate = false
    const first = Effect.matchEffect(ask(node), {
      onSuccess: (answer) => Effect.as(isLate ? Effect.void : answered(node), Either.right(answer)),
      onFailure: (trouble) =>
        isOfNode(tagOf(trouble))
          ? Effect.zipRight(isLate ? Effect.void : failed(node, trouble.message), Effect.fail(trouble))
          : Effect.as(isLate ? Effect.void : answered(node), Either.left(trouble)),
    }).pipe(Effect.ensuring(Effect.sync(() => node.breaker.leave())))
    const [next, ...rest] = others
    if (next === undefined) return yield* first
    const over = yield* Deferred.make<void>()
    const late = Effect.zipRight(
      Effect.sleep(isTried ? Duration.min(patience, SHORT_PATIENCE) : patience),
      Effect.suspend(() => {
        isLate = true
        return failed(node, "the answer takes too long")
      }),
    )
    const second = Effect.zipRight(
      Effect.raceFirst(late, Deferred.await(over)),
      Effect.suspend(() => settle([next, ...rest], ask, patience)),
    )
    return yield* Effect.race(
      Effect.tapError(first, () => Deferred.succeed(over, undefined)),
      second,
    )
  })

const make = (urls: ReadonlyArray<string>, genesis: Genesis.Genesis) =>
  Effect.gen(function* () {
    const send = yield* ConnectionPool.make
    const network = { networkId: genesis.networkId, prefix: addressPrefix(genesis.mode) }
    const nodes = yield* Effect.forEach(urls, (url) =>
      Effect.map(
        Effect.all({
          client: Client.make(url, { retries: 0, timeoutMs: TIMEOUT_MS, send, network }),
          patient: Client.make(url, { retries: 0, timeoutMs: LONG_TIMEOUT_MS, send, network }),
        }),
        (clients): Node => ({ url, ...clients, status: null, isMissed: false, breaker: new CircuitBreaker() }),
      ),
    )
    yield* Effect.forEach(nodes, (node) => look(node, genesis), { concurrency: "unbounded" })
    for (const node of nodes) yield* Effect.forkScoped(Effect.repeat(look(node, genesis), Schedule.spaced(LOOK_EVERY)))
    let turn = 0
    /**
     * Completes when the node is unusable and another is usable. Its connection may have gone silent without ending.
     */
    const unusable = (node: Node) =>
      Effect.repeat(
        Effect.sync(() => node.status !== null && (isUsed(node) || !nodes.some(isUsed))),
        { while: (isBest) => isBest, schedule: Schedule.spaced(LOOK_EVERY) },
      )
    const asking =
      (clientOf: (node: Node) => Client.EffectClient, patience: Duration.Duration) =>
      <A>(question: Ask<A>) =>
        Effect.suspend(() => {
          const [first, ...others] = inOrder(nodes, turn++)
          return first === undefined
            ? Effect.fail(none)
            : Effect.flatMap(
                settle([first, ...others], (node) => question(clientOf(node)), patience),
                (settled): Effect.Effect<A, Trouble> => settled,
              )
        })
    let heard: Node | undefined
    return Nodes.of({
      listen: (listening) =>
        Effect.suspend(() => {
          const order = inOrder(nodes, turn++)
          const node = order.find((node) => node !== heard && isUsed(node)) ?? order[0]
          if (node === undefined) return Effect.void
          heard = node
          return Effect.zipRight(
            log.debug("listening to a node", { url: node.url }),
            Effect.raceFirst(listening(node.client), unusable(node)),
          )
        }).pipe(
          Effect.catchAll(({ message }) => log.warn("lost a node's events", { reason: message })),
          Effect.zipRight(Effect.sleep(LISTEN_AGAIN)),
          Effect.forever,
        ),
      count: () => ({ all: nodes.length, healthy: nodes.filter(isUsed).length }),
      status: Effect.suspend(() => {
        const status = inOrder(nodes, turn++)[0]?.status ?? null
        return status === null ? Effect.fail(none) : Effect.succeed(status)
      }),
      ask: asking(({ client }) => client, PATIENCE),
      askPatiently: asking(({ patient }) => patient, LONG_PATIENCE),
    })
  })

export const layer = (urls: ReadonlyArray<string>, genesis: Genesis.Genesis) => Layer.scoped(Nodes, make(urls, genesis))
