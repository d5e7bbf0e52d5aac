/**
 * A development network: one node with its own genesis, in this process and without peers, which can be advanced,
 * reverted and given coins. Only its creator has these controls; no node has them, and no other network is joined.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Context, Effect, type Stream } from "effect"
import type { NodeEvent } from "../node/engine/NodeEvent.js"
import type { Ending } from "../node/lifecycle/Ending.js"
import { type Figures, Metrics } from "../node/reads/Metrics.js"
import type * as Address from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type { SecretKey } from "../protocol/identity/Keys.js"
import type { Name } from "../protocol/identity/Name.js"
import type * as Sats from "../protocol/numbers/Sats.js"
import * as Accounts from "./Accounts.js"
import * as Advancing from "./Advancing.js"
import { ControlRefused } from "./ControlRefused.js"
import { DevClock } from "./DevClock.js"
import * as DevNode from "./DevNode.js"
import type * as Impersonation from "./Impersonation.js"
import * as Snapshots from "./Snapshots.js"

export type { Options } from "./DevNode.js"
export { ControlRefused }

export interface Position {
  readonly round: number
  readonly finalized_round: number
  /** The network's clock, in milliseconds since 1970. */
  readonly time: number
}

const positionOf = ({ dagRound, finalizedRound }: Figures, clock: DevClock): Position => ({
  round: dagRound,
  finalized_round: finalizedRound,
  time: clock.unsafeCurrentTimeMillis(),
})

export interface Impersonated {
  readonly tx_hash: Hash
  readonly nonce: number
  readonly fee: number
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
  /** The whole network as bytes, for `load` or for another run. */
  readonly dump: Effect.Effect<Uint8Array, ControlRefused>
  readonly load: (state: Uint8Array) => Effect.Effect<Position, ControlRefused>
  /** Finds an account by hex, bech32m or `@name`. */
  readonly find: (text: string) => Effect.Effect<Address.Address, ControlRefused>
  readonly setBalance: (address: Address.Address, wanted: Sats.Sats) => Effect.Effect<Sats.Sats, ControlRefused>
  readonly setNonce: (address: Address.Address, wanted: number) => Effect.Effect<number, ControlRefused>
  readonly setStake: (address: Address.Address, wanted: Sats.Sats) => Effect.Effect<Sats.Sats, ControlRefused>
  readonly setName: (address: Address.Address, name: Name) => Effect.Effect<Name, ControlRefused>
  /** Carries out a transaction of any account, without its key; see `Impersonation`. */
  readonly impersonate: (
    address: Address.Address,
    given: Impersonation.Given,
  ) => Effect.Effect<Impersonated, ControlRefused>
  /** The key that this network accepts for every account. */
  readonly standIn: SecretKey
  /** What happens in the network, whichever node runs it. */
  readonly events: Stream.Stream<NodeEvent>
}

/** Runs until the scope ends. Controls run one at a time. */
export const make = (options: DevNode.Options) =>
  Effect.gen(function* () {
    const clock = new DevClock()
    if (options.roundsFor === "requests") clock.stop()
    const node = yield* DevNode.make(options, clock)
    const { ids, snapshot, revert, dump, load } = yield* Snapshots.make(node, clock, options)
    const advance = Advancing.make(node, clock, options)
    const accounts = Accounts.make(node, advance, options)
    if (options.roundsFor === "transactions") clock.isWanted = advance.isWanted
    const lock = yield* Effect.makeSemaphore(1)
    /** Uses the network's clock, because a payment with an earlier time would be too old. */
    const alone = <A, E>(control: Effect.Effect<A, E>) => Effect.withClock(lock.withPermits(1)(control), clock)
    const metrics = () => Context.get(node.services(), Metrics)
    const here = Effect.suspend(() => Effect.map(metrics().current, (figures) => positionOf(figures, clock)))
    return {
      url: node.url,
      ended: node.ended,
      position: () => positionOf(metrics().figures(), clock),
      snapshots: ids,
      advanceRounds: (count) => alone(Effect.zipRight(advance.rounds(count), here)),
      advanceTime: (ms) => alone(Effect.zipRight(advance.time(ms), here)),
      snapshot: alone(snapshot),
      revert: (id) => alone(Effect.zipRight(revert(id), here)),
      dump: alone(dump),
      load: (state) => alone(Effect.zipRight(load(state), here)),
      find: accounts.find,
      setBalance: (address, wanted) => alone(accounts.setBalance(address, wanted)),
      setNonce: (address, wanted) => alone(accounts.setNonce(address, wanted)),
      setStake: (address, wanted) => alone(accounts.setStake(address, wanted)),
      setName: (address, name) => alone(accounts.setName(address, name)),
      impersonate: (address, given) => alone(accounts.impersonate(address, given)),
      standIn: options.validator,
      events: node.events,
    } satisfies DevNetwork
  }).pipe(Effect.provide(NodeFileSystem.layer))
