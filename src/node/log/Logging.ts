import { Cause, Clock, Effect, HashMap, Layer, List, Logger, Option } from "effect"
import * as LogFilter from "./LogFilter.js"
import * as Secrets from "./Secrets.js"

export type Format = "pretty" | "json"

/** One thing said, taken apart and without secrets. */
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

/** One JSON object; annotations and cause only where there are any. */
const json = ({ annotations, cause, ...rest }: Record): string =>
  JSON.stringify({
    ...rest,
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    ...Option.match(cause, { onNone: () => ({}), onSome: (text) => ({ cause: text }) }),
  })

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
 * Control characters, separators of lines and what is invisible or turns the direction of writing (U+2028, U+202E) as
 * escapes: nobody draws on the operator's terminal, begins a line or shows it backwards through a log message.
 */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped)

/** A bare word as it is, everything else quoted, so that `name=value` reads back. */
const field = (value: unknown): string => {
  const text = asText(value ?? null)
  return /^[^\s"=]+$/.test(text) && typeof value === "string"
    ? printable(text)
    : printable(JSON.stringify(value ?? null))
}

/** `12:00:01.250 INFO  mempool      transaction accepted  tx=3f…`; a cause follows on lines of its own, indented. */
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

const logger = (filter: LogFilter.LogFilter, render: (record: Record) => string, write: (line: string) => void) =>
  Logger.make<unknown, void>((options) => {
    const module = moduleOf(options.annotations)
    if (LogFilter.passes(filter, module, options.logLevel)) write(`${render(recordOf(options, module))}\n`)
  })

/** A directive that cannot be read may be anything, a secret key pasted into the wrong variable too. */
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
  /** The text of RUST_LOG. */
  readonly directives: string
  readonly format: Format
  readonly colours: boolean
  readonly write: (line: string) => void
}

/**
 * Replaces Effect's logger by ours for everything below this layer, as the directives of RUST_LOG say. Whether a module
 * speaks is decided before its message is made (`Log`); Effect's own minimum level keeps out what no module lets
 * through, and the logger judges the rest, which libraries say without asking. That a directive cannot be read is said
 * past all filters: who mistyped a level would otherwise never know.
 */
export const layer = ({ directives, format, colours, write }: Options): Layer.Layer<never> => {
  const { filter, unreadable } = LogFilter.parse(directives)
  const render = format === "json" ? json : pretty(colours)
  const warn = Effect.map(Clock.currentTimeMillis, (now) => write(`${render(warning(unreadable, now))}\n`))
  return Layer.mergeAll(
    Logger.replace(Logger.defaultLogger, logger(filter, render, write)),
    Logger.minimumLogLevel(LogFilter.lowest(filter)),
    LogFilter.current.layer(filter),
    Layer.effectDiscard(unreadable.length === 0 ? Effect.void : warn),
  )
}
