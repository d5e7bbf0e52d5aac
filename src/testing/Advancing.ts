/** Advances a development network's rounds and time as fast as its node makes rounds. */
import { Context, Effect } from "effect"
import * as Engine from "../node/engine/Engine.js"
import * as EventLoop from "../turns/EventLoop.js"
import * as SteadyClock from "../turns/SteadyClock.js"
import { refused } from "./ControlRefused.js"
import type { DevClock } from "./DevClock.js"
import type { DevNode, Options } from "./DevNode.js"

export const MOST_ROUNDS = 100_000
const YEAR_MS = 31_536_000_000
/** In total, so that every time stays valid. */
export const MOST_AHEAD_MS = 100 * YEAR_MS
const PATIENCE_MS = 20
const STEPS = 10
/** A transaction is final three rounds after the round that contains it. */
const FINAL_AFTER = 4

const isWithin = (value: number, least: number, most: number): boolean =>
  Number.isSafeInteger(value) && value >= least && value <= most

export const make = (node: DevNode, clock: DevClock, { genesis }: Options) => {
  let wantedRound = 0
  const { roundIntervalMs } = genesis.protocol
  const engine = () => Context.get(node.services(), Engine.Engine)
  const round = () => engine().pulse().round

  /** Whether the round arrives without moving the clock further. */
  const comes = (after: number) =>
    Effect.gen(function* () {
      const until = SteadyClock.now() + PATIENCE_MS
      while (round() === after && SteadyClock.now() < until) {
        // Each time, because plans show at the next look at the clock, and the node can be busy with this one.
        engine().wake()
        yield* EventLoop.turn
      }
      return round() > after
    })

  /**
   * Each round is due one interval after the previous one. A missing round waits for a busy machine or for more time,
   * as at the end of an epoch, so the clock moves on in small steps.
   */
  const untilRound = (target: number) =>
    Effect.gen(function* () {
      wantedRound = target
      while (round() < target) {
        const before = round()
        clock.putForward(roundIntervalMs)
        while (!(yield* comes(before))) clock.putForward(Math.ceil(roundIntervalMs / STEPS))
      }
    }).pipe(Effect.ensuring(Effect.sync(() => (wantedRound = 0))))

  const requireTime = (ms: number) =>
    clock.aheadMs + ms > MOST_AHEAD_MS ? refused("the clock would be more than 100 years ahead") : Effect.void

  const next = Effect.suspend(() => untilRound(round() + 1))

  /** Afterwards everything is final that can be. Transactions after a missing nonce keep waiting. */
  const settled = Effect.gen(function* () {
    for (let rounds = 0; rounds < FINAL_AFTER && engine().view.pool.size > 0; rounds++) yield* next
  })

  return {
    isWanted: () => round() < wantedRound || engine().view.pool.size > 0,
    next,
    settled,
    rounds: (count: number) =>
      isWithin(count, 1, MOST_ROUNDS)
        ? Effect.zipRight(
            requireTime(count * roundIntervalMs),
            Effect.suspend(() => untilRound(round() + count)),
          )
        : refused(`rounds: expected a whole number from 1 to ${MOST_ROUNDS}; got ${count}`),
    time: (ms: number) =>
      isWithin(ms, 1, MOST_AHEAD_MS)
        ? Effect.zipRight(
            // A pending transaction would be too old after an hour.
            Effect.zipRight(requireTime(ms), settled),
            Effect.suspend(() => {
              clock.putForward(ms)
              // A final round's time is that of the round before it.
              return untilRound(round() + FINAL_AFTER)
            }),
          )
        : refused(`time_ms: expected a whole number of milliseconds from 1 to ${MOST_AHEAD_MS}; got ${ms}`),
  }
}

export type Advancing = ReturnType<typeof make>
