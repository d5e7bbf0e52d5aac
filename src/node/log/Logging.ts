import { Cause, Clock, Effect, HashMap, Layer, List, Logger, LogLevel, Option } from "effect"
import * as LogFilter from "./LogFilter.js"
import { Repetitions } from "./Repetitions.js"
import * as Secrets from "./Secrets.js"

export type Format = "pretty" | "json"

/** A record in its parts, without secrets. */
interface Record {
  readonly timestamp: string
  readonly level: LogFilter.Level
  readonly module: LogFilter.Module
  readonly message: string
  readonly annotations: Readonly<{ [name: string]: unknown }>
  readonly cause: Option.Option<string>
}

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

const moduleOf = (annotations: HashMap.HashMap<string, unknown>): LogFilter.Module =>
  HashMap.get(annotations, "module").pipe(
    Option.filter((name): name is LogFilter.Module => typeof name === "string" && LogFilter.isModule(name)),
    Option.getOrElse((): LogFilter.Module => "node"),
  )

const recordOf = (options: Logger.Logger.Options<unknown>, module: LogFilter.Module): Record => {
  const { annotations, cause, date, logLevel, message, spans } = options
  const spent = List.toArray(spans).map(({ label, startTime }) => [`${label}_ms`, date.getTime() - startTime] as const)
  return {
    timestamp: date.toISOString(),
    level: LogFilter.levelOf(logLevel),
    module,
    message: (Array.isArray(message) ? message : [message]).map((part) => asText(Secrets.plain(part))).join(" "),
    annotations: Secrets.redactFields([...HashMap.toEntries(HashMap.remove(annotations, "module")), ...spent]),
    cause: Cause.isEmpty(cause)
      ? Option.none()
      : Option.some(Secrets.orUnprintable(() => Secrets.redactText(Cause.pretty(cause, { renderErrorCause: true })))),
  }
}

/** One JSON object, with annotations and cause only if present. */
const json = ({ annotations, cause, ...rest }: Record): string =>
  JSON.stringify({
    ...rest,
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    ...Option.match(cause, { onNone: () => ({}), onSome: (text) => ({ cause: text }) }),
  })

/** A program's last message as a line of this log, for an end before the log exists or after it is closed. */
export const lastWords = (message: string, exitCode: number, cause: Option.Option<string>, at: number): string =>
  `${json({
    timestamp: new Date(at).toISOString(),
    level: "error",
    module: "supervisor",
    message: Secrets.redactText(message),
    annotations: { exitCode },
    cause: Option.map(cause, Secrets.redactText),
  })}\n`

const colourOf: Readonly<{ [level in LogFilter.Level]: number }> = {
  error: 31,
  warn: 33,
  info: 32,
  debug: 34,
  trace: 90,
}
const dim = 2

const escaped = (character: string): string => {
  const short = JSON.stringify(character).slice(1, -1)
  if (short !== character) return short
  return [...Array(character.length).keys()]
    .map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`)
    .join("")
}

/**
 * Escapes control characters, line separators, invisible characters and those that change the writing direction
 * (U+2028, U+202E), so that no log message can draw on the operator's terminal, start a new line or reverse text.
 */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped)

/** A bare word unchanged, anything else quoted, so that `name=value` can be parsed. */
const field = (value: unknown): string => {
  const text = asText(value ?? null)
  return /^[^\s"=]+$/.test(text) && typeof value === "string"
    ? printable(text)
    : printable(JSON.stringify(value ?? null))
}

/** `12:00:01.250 INFO  mempool      transaction accepted  tx=3f…`; a cause follows on indented lines. */
const pretty = (colours: boolean) => {
  const paint = (code: number, text: string) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text)
  return ({ timestamp, level, module, message, annotations, cause }: Record): string => {
    const fields = Object.entries(annotations).map(([name, value]) => paint(dim, `${printable(name)}=${field(value)}`))
    const line = [
      paint(dim, timestamp.slice(11, 23)),
      paint(colourOf[level], level.toUpperCase().padEnd(5)),
      paint(dim, module.padEnd(11)),
      printable(message),
      ...(fields.length > 0 ? [` ${fields.join(" ")}`] : []),
    ].join(" ")
    const lines = Option.match(cause, { onNone: () => [], onSome: (text) => text.split("\n") })
    return [line, ...lines.map((each) => `    ${printable(each)}`)].join("\n")
  }
}

/** Words identify a record's subject and state; numbers differ each time. */
const isWord = (value: unknown): boolean => typeof value === "string" && !/^-?\d+$/.test(value)

/** The stack frames, if the cause has any: its message may repeat a stranger's input and differ each time. */
const placeOf = (cause: string): string => {
  const frames = cause.split("\n").filter((line) => /^\s*at /.test(line))
  return frames.length === 0 ? cause : frames.join("\n")
}

/** Two records are the same if message, words and the place of the cause agree. */
const keyOf = ({ level, module, message, annotations, cause }: Record): string => {
  const words = Object.entries(annotations).filter(([, value]) => isWord(value))
  return JSON.stringify([level, module, message, words, Option.getOrNull(Option.map(cause, placeOf))])
}

/** The record, or none if it only repeats a warning. Other levels are never suppressed. */
const unlessRepeated = (repetitions: Repetitions, record: Record, now: number): Option.Option<Record> => {
  if (record.level !== "warn" && record.level !== "error") return Option.some(record)
  const leftOut = repetitions.admit(keyOf(record), now)
  if (leftOut === null) return Option.none()
  return Option.some(leftOut === 0 ? record : { ...record, annotations: { ...record.annotations, repeated: leftOut } })
}

const logger = (filter: LogFilter.LogFilter, render: (record: Record) => string, write: (line: string) => void) => {
  const repetitions = new Repetitions()
  return Logger.make<unknown, void>((options) => {
    const module = moduleOf(options.annotations)
    if (!LogFilter.passes(filter, module, options.logLevel)) return
    const record = unlessRepeated(repetitions, recordOf(options, module), options.date.getTime())
    if (Option.isSome(record)) write(`${render(record.value)}\n`)
  })
}

/** An unreadable directive can be anything, even a secret key pasted into the wrong variable. */
const shown = (directive: string): string => {
  if (Secrets.mayBeKey(directive)) return "(not shown: it looks like a key)"
  return JSON.stringify(directive.length > longestShown ? `${directive.slice(0, longestShown)}…` : directive)
}

const longestShown = 80
const mostShown = 10

const warning = (unreadable: ReadonlyArray<string>, at: number): Record => ({
  timestamp: new Date(at).toISOString(),
  level: "warn",
  module: "node",
  message:
    `RUST_LOG: ignored ${unreadable.slice(0, mostShown).map(shown).join(", ")}; a directive is a level ` +
    `(${LogFilter.levels.join(", ")}) or module=level, where module is one of ${LogFilter.modules.join(", ")}`,
  annotations: {},
  cause: Option.none(),
})

export interface Options {
  readonly directives: string
  readonly format: Format
  readonly colours: boolean
  readonly write: (line: string) => void
}

/**
 * Replaces Effect's logger for everything below this layer according to RUST_LOG. `Log` decides before a message is
 * built whether to write it; the logger decides for libraries' messages. Effect's own minimum level rejects nothing,
 * since the filter can change at run time. The warning about an unreadable directive bypasses all filters: otherwise a
 * mistyped level would go unnoticed.
 */
export const layer = ({ directives, format, colours, write }: Options): Layer.Layer<never> => {
  const { filter, unreadable } = LogFilter.parse(directives)
  const render = format === "json" ? json : pretty(colours)
  const warn = Effect.map(Clock.currentTimeMillis, (now) => write(`${render(warning(unreadable, now))}\n`))
  return Layer.mergeAll(
    Logger.replace(Logger.defaultLogger, logger(filter, render, write)),
    Logger.minimumLogLevel(LogLevel.Trace),
    LogFilter.current.layer(filter),
    Layer.effectDiscard(unreadable.length === 0 ? Effect.void : warn),
  )
}
