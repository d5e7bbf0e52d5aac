import { Cause, Effect, type LogLevel } from "effect"
import * as LogFilter from "./LogFilter.js"
import * as Secrets from "./Secrets.js"

/** The named values of a record besides its message, such as `round` or `tx`. */
export type Fields = Readonly<Record<string, unknown>>

/** A value, or a function that makes it and is not called if the record is filtered out. */
type Lazy<A> = A | (() => A)

type Write = (message: Lazy<string>, fields?: Lazy<Fields>, cause?: Cause.Cause<unknown>) => Effect.Effect<void>

export interface Log extends Readonly<Record<LogFilter.Level, Write>> {
  /** Writes records that are made only if wanted, since there may be thousands. */
  readonly traceEach: (make: () => ReadonlyArray<readonly [message: string, fields: Fields]>) => Effect.Effect<void>
}

const made = <A>(lazy: Lazy<A>): A => (typeof lazy === "function" ? (lazy as () => A)() : lazy)

const write =
  (module: LogFilter.Module, level: LogLevel.LogLevel): Write =>
  (message, fields, cause) =>
    LogFilter.current.use((filter) =>
      LogFilter.passes(filter, module, level)
        ? Effect.annotateLogs(Effect.logWithLevel(level, made(message), cause ?? Cause.empty), {
            // Plain values before Effect sees them: it hashes annotations, and a proxy or custom hash may throw.
            ...(fields === undefined ? {} : Secrets.redactFields(Object.entries(made(fields)))),
            module,
          })
        : Effect.void,
    )

const writeEach =
  (module: LogFilter.Module, level: LogLevel.LogLevel): Log["traceEach"] =>
  (make) =>
    LogFilter.current.use((filter) =>
      LogFilter.passes(filter, module, level)
        ? Effect.forEach(make(), ([message, fields]) => write(module, level)(message, fields), { discard: true })
        : Effect.void,
    )

const forModule = (module: LogFilter.Module): Log => ({
  error: write(module, LogFilter.toLogLevel.error),
  warn: write(module, LogFilter.toLogLevel.warn),
  info: write(module, LogFilter.toLogLevel.info),
  debug: write(module, LogFilter.toLogLevel.debug),
  trace: write(module, LogFilter.toLogLevel.trace),
  traceEach: writeEach(module, LogFilter.toLogLevel.trace),
})

/**
 * The logger of a module, made once at the top of its file: `const log = Log.for("mempool")`, then `log.debug(() =>
 * describe(tx), () => ({ tx: tx.hash }))`. The module belongs to the call, not to the fiber, so a record names the
 * service that wrote it even if another module's fiber called that service.
 */
export { forModule as for }
