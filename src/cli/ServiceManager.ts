/**
 * Notifies systemd that the node is ready, then regularly that its main thread still runs (`Type=notify` and
 * `WatchdogSec=` of a unit). Node.js cannot open the Unix datagram sockets that systemd listens on, so `systemd-notify`
 * sends the message; the unit needs `NotifyAccess=all`.
 */
import { execFile } from "node:child_process"
import { Duration, Effect, Option, Schedule } from "effect"
import * as Log from "../node/log/Log.js"
import { Health, type Obstacle } from "../node/reads/Health.js"
import * as Environment from "./terminal/Environment.js"

const log = Log.for("supervisor")

const PROGRAM = "systemd-notify"
/** `systemd-notify` waits until systemd has received the message. */
const PATIENCE_MS = 5_000
/** Two messages can be late or lost before systemd ends the node. */
const ALIVE_PER_PERIOD = 3
const MICROSECONDS = 1_000

/** Returns the reason if the notification failed. */
const tell = (...states: ReadonlyArray<string>): Effect.Effect<string | null> =>
  Effect.async((resume) => {
    execFile(PROGRAM, states, { timeout: PATIENCE_MS }, (error, _, said) => {
      resume(Effect.succeed(error === null ? null : said.trim() || error.message))
    })
  })

/** A node that is behind counts as started, or systemd would restart it; the lag is shown in `systemctl status`. */
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
        yield* log.error(`systemd did not get ${state} and will end this node: ${PROGRAM} failed`, { reason })
      })
    yield* say("READY=1")
    if (watchdogMs === 0) return yield* Effect.never
    const every = Duration.millis(Math.max(1, watchdogMs / ALIVE_PER_PERIOD))
    yield* Effect.repeat(say("WATCHDOG=1"), Schedule.spaced(every))
    return yield* Effect.never
  })

/** Runs beside the node. Does nothing without a service manager. */
export const beside: Effect.Effect<never, never, Health> = Effect.gen(function* () {
  if ((yield* Environment.variable("NOTIFY_SOCKET")) === "") return yield* Effect.never
  const microseconds = Number(yield* Environment.variable("WATCHDOG_USEC"))
  return yield* telling(Number.isFinite(microseconds) ? microseconds / MICROSECONDS : 0)
})
