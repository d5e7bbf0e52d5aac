/** Logs answers: refusals at `debug`, all of them at `trace`. A server that logs neither pays nothing. */
import { Effect } from "effect"
import type { Answered, OnAnswer } from "../../edge/server/Responder.js"
import * as Run from "../../effect3/fibers/Run.js"
import * as Log from "../../node/log/Log.js"
import * as LogFilter from "../../node/log/LogFilter.js"

const log = Log.for("rpc")

const isRefusal = ({ status }: Answered): boolean => status >= 400

/** Also passes every answer on. */
export const over = (next: OnAnswer) =>
  Effect.gen(function* () {
    const filter = yield* LogFilter.current.use(Effect.succeed)
    const passes = (level: "debug" | "trace"): boolean => LogFilter.passes(filter, "rpc", LogFilter.toLogLevel[level])
    if (!passes("debug")) return next
    const fork = yield* Run.scopedFork
    const observe: OnAnswer = (answered, ...more) => {
      next(answered, ...more)
      if (isRefusal(answered)) fork(log.debug("refused", { ...answered }))
      else if (passes("trace")) fork(log.trace("answered", { ...answered }))
    }
    return observe
  })
