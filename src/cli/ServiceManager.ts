/**
 * Tells systemd that the node is ready, and then every now and then that its main thread still runs (`Type=notify` and
 * `WatchdogSec=` of a unit). Node.js has no datagram sockets of the file system, over which systemd listens, so its own program
 * `systemd-notify` carries the message; the unit must take it from there (`NotifyAccess=all`).
 */
import { execFile } from "node:child_process"
import { Duration, Effect, Option, Schedule } from "effect"
import * as Log from "../node/log/Log.js"
import { Health, type Obstacle } from "../node/reads/Health.js"
import * as Environment from "./terminal/Environment.js"

const log = Log.for("supervisor")

const PROGRAM = "systemd-notify"
/** It waits until systemd has taken the message. */
const PATIENCE_MS = 5_000
/** Two may be late or lost before systemd ends the node. */
const ALIVE_PER_PERIOD = 3
const MICROSECONDS = 1_000

/** The reason if it could not be told. */
const tell = (...states: ReadonlyArray<string>): Effect.Effect<string | null> =>
  Effect.async((resume) => {
    execFile(PROGRAM, states, { timeout: PATIENCE_MS }, (error, _, said) => {
      resume(Effect.succeed(error === null ? null : said.trim() || error.message))
    })
  })

/** A node that is behind has started all the same: systemd must not start it again for that, so this is a line of `systemctl status`. */
const statusOf = Option.match<string, Obstacle>({ onNone: () => "ready", onSome: ({ message }) => message })

const telling = (watchdogMs: number) =>
  Effect.gen(function* () {
    const { obstacle } = yield* Health
    let isSaid = false
    const say = (state: string) =>
      Effect.gen(function* () {
        const reason = yield* tell(state, `STATUS=${statusOf(yield* obstacle)}`)
        if (reason === null || isSaid) return
        isSaid = true
        yield* log.error(`systemd was not told ${state}, and will end this node: ${PROGRAM} failed`, { reason })
      })
    yield* say("READY=1")
    if (watchdogMs === 0) return yield* Effect.never
    const every = Duration.millis(Math.max(1, watchdogMs / ALIVE_PER_PERIOD))
    yield* Effect.repeat(say("WATCHDOG=1"), Schedule.spaced(every))
    return yield* Effect.never
  })

/** Goes on beside a node that is ready. Does nothing where no service manager listens. */
export const beside: Effect.Effect<never, never, Health> = Effect.gen(function* () {
  if ((yield* Environment.variable("NOTIFY_SOCKET")) === "") return yield* Effect.never
  const microseconds = Number(yield* Environment.variable("WATCHDOG_USEC"))
  return yield* telling(Number.isFinite(microseconds) ? microseconds / MICROSECONDS : 0)
})
