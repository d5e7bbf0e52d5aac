/** The network between machines. Its implementation is loaded here, in parallel with the rest of the start. */
import { createServer } from "node:net"
import { Data, Duration, Effect, Layer, Option, Queue, Schedule, SubscriptionRef } from "effect"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { SecretKey } from "../../protocol/identity/Keys.js"
import type { NetworkId } from "../../protocol/identity/Network.js"
import { Inbox } from "../../turns/Inbox.js"
import * as ConnectionSlots from "../ConnectionSlots.js"
import { Network, type Peer, type Received } from "../Network.js"
import type { LogEntry } from "../peers/PeerLog.js"
import type * as Switchboard from "../peers/Switchboard.js"
import { Standings } from "../Standing.js"
import { nodeClock } from "./NodeClock.js"

export interface Options extends Pick<Switchboard.Options, "signer" | "named" | "remembered"> {
  readonly agent: string
  readonly networkId: NetworkId
  readonly genesisHash: Hash
  /** This node's identity among nodes, not the validator's key. */
  readonly nodeKey: SecretKey
  readonly listen: { readonly host: string; readonly port: number }
  readonly remember: (addresses: ReadonlyArray<string>) => Effect.Effect<void>
}

const IN_USE = "the port is in use"

export class CannotListen extends Data.TaggedError("CannotListen")<{
  readonly host: string
  readonly port: number
  readonly reason: string
}> {
  get isInUse(): boolean {
    return this.reason === IN_USE
  }

  override get message(): string {
    return `cannot listen for other nodes on ${this.host} port ${this.port}: ${this.reason}; give another --host or --port`
  }
}

const TICK = Duration.millis(500)
const REMEMBERED_EVERY = Duration.minutes(1)
const STOP_LIMIT = Duration.seconds(1)

const REASONS = [
  ["EADDRINUSE", IN_USE],
  ["EADDRNOTAVAIL", "this machine has no such address"],
  ["EACCES", "this user lacks permission for the port"],
  ["ENOTFOUND", "the host name is unknown"],
] as const

/** Omits the address and port, which the message already has. */
const reasonOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error)
  const [, known] = REASONS.find(([code]) => text.includes(code)) ?? []
  return known ?? text.replaceAll(/\s+/g, " ")
}

const cannotListen = (listen: Options["listen"], error: unknown): CannotListen =>
  new CannotListen({ ...listen, reason: reasonOf(error) })

/** Fails if this node could not listen there now. */
export const probe = (listen: Options["listen"]): Effect.Effect<void, CannotListen> =>
  Effect.async((resume) => {
    const server = createServer()
    server.once("error", (error) => resume(cannotListen(listen, error)))
    server.listen(listen, () => server.close(() => resume(Effect.void)))
  })

const levels = { debug: Effect.logDebug, info: Effect.logInfo, warn: Effect.logWarning } as const

const log = ({ level, message, fields }: LogEntry): Effect.Effect<void> =>
  Effect.annotateLogs(levels[level](message), { ...fields, module: "network" })

const make = (options: Options) =>
  Effect.gen(function* () {
    const { Switchboard } = yield* Effect.promise(() => import("../peers/Switchboard.js"))
    const { TlsWire } = yield* Effect.promise(() => import("./TlsWire.js"))
    const inbound = new Inbox<Received>()
    /** In the order in which they are reported. */
    const reports = yield* Queue.unbounded<Effect.Effect<void>>()
    const peers = yield* SubscriptionRef.make<ReadonlyArray<Peer>>([])
    const standings = new Standings()
    const { agent } = options

    const board = yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: () =>
          Switchboard.start({
            wire: new TlsWire({ key: options.nodeKey, listen: options.listen, clock: nodeClock }),
            hello: { networkId: options.networkId, genesisHash: options.genesisHash, agent },
            signer: options.signer,
            standings,
            named: options.named,
            remembered: options.remembered,
            clock: nodeClock,
            listener: {
              heard: (received) => inbound.push(received),
              changed: (all) => Queue.unsafeOffer(reports, SubscriptionRef.set(peers, all)),
              logged: (entry) => Queue.unsafeOffer(reports, log(entry)),
            },
          }),
        catch: (error) => cannotListen(options.listen, error),
      }),
      (started) =>
        Effect.ignore(
          // Releases are uninterruptible by default, and a timeout waits for the effect it interrupts.
          Effect.timeout(Effect.interruptible(Effect.promise(() => started.stop())), STOP_LIMIT),
        ),
    )
    yield* log({ level: "debug", message: "listening", fields: { addresses: board.addresses } })
    const remember = Effect.suspend(() => options.remember(board.remembered))
    yield* Effect.addFinalizer(() => remember)
    yield* Effect.forkScoped(Effect.schedule(remember, Schedule.spaced(REMEMBERED_EVERY)))
    yield* Effect.forkScoped(
      Effect.repeat(
        Effect.sync(() => board.tend()),
        Schedule.spaced(TICK),
      ),
    )
    yield* Effect.forkScoped(Effect.forever(Effect.flatten(Queue.take(reports))))

    return Network.of({
      listensAt: Option.fromNullable(board.addresses[0]),
      send: (to, message) => Effect.sync(() => board.send(to, message)),
      broadcast: (message) => Effect.sync(() => board.broadcast(message)),
      inbound,
      // Read from the sessions, since latencies change.
      peers: Effect.sync(() => board.peers),
      figures: () => ({
        freePlaces: Math.max(0, ConnectionSlots.STRANGERS - board.strangers),
        failures: board.failures,
        volume: board.volume,
      }),
      changes: peers.changes,
      misbehaved: (peer, what, offence = "invalid") => Effect.sync(() => board.misbehaved(peer, what, offence)),
      setMembers: (members) => Effect.sync(() => standings.setMembers(members)),
    })
  })

export const layer = (options: Options): Layer.Layer<Network, CannotListen> => Layer.scoped(Network, make(options))
