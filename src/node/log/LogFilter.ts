import { LogLevel } from "effect"
import * as FiberValue from "../../effect3/fibers/FiberValue.js"

/** The modules of the log. `node` is the program itself and everything that names no module. */
export const modules = [
  "checkpoints",
  "consensus",
  "dag",
  "governance",
  "mempool",
  "metrics",
  "network",
  "node",
  "rpc",
  "staking",
  "state",
  "storage",
  "supervisor",
  "sync",
  "validator",
] as const

export type Module = (typeof modules)[number]

/** The levels that a directive can name, most important first. */
export const levels = ["error", "warn", "info", "debug", "trace"] as const

export type Level = (typeof levels)[number]

export const toLogLevel: Readonly<Record<Level, LogLevel.LogLevel>> = {
  error: LogLevel.Error,
  warn: LogLevel.Warning,
  info: LogLevel.Info,
  debug: LogLevel.Debug,
  trace: LogLevel.Trace,
}

/** The name shown for a record's level: Effect has more levels than these five. */
export const levelOf = (logLevel: LogLevel.LogLevel): Level =>
  levels.find((level) => logLevel.ordinal >= toLogLevel[level].ordinal) ?? "trace"

/** For each module, the lowest ordinal (of Effect's LogLevel) that is written. Operators can change it at run time. */
export interface LogFilter {
  readonly thresholds: Record<Module, number>
}

export const isModule = (text: string): text is Module => (modules as ReadonlyArray<string>).includes(text)

const isLevel = (text: string): text is Level => (levels as ReadonlyArray<string>).includes(text)

const everywhere = (level: Level): Record<Module, number> =>
  Object.fromEntries(modules.map((module) => [module, toLogLevel[level].ordinal])) as Record<Module, number>

export const passes = (filter: LogFilter, module: Module, logLevel: LogLevel.LogLevel): boolean =>
  logLevel.ordinal >= filter.thresholds[module]

const nameOf = (ordinal: number): Level => levels.find((level) => toLogLevel[level].ordinal === ordinal) ?? "info"

/** As directives: first the level of all modules that are not named. */
export const describe = ({ thresholds }: LogFilter): string => {
  const all = Object.values(thresholds)
  const countOf = (ordinal: number) => all.filter((each) => each === ordinal).length
  const general = all.reduce((best, each) => (countOf(each) > countOf(best) ? each : best))
  const others = modules.filter((module) => thresholds[module] !== general)
  return [nameOf(general), ...others.map((module) => `${module}=${nameOf(thresholds[module])}`)].join(",")
}

/** Takes effect immediately for everything that shares this filter. */
export const change = (filter: LogFilter, to: LogFilter): void => void Object.assign(filter.thresholds, to.thresholds)

/**
 * Parses RUST_LOG: comma-separated directives, each a general level or a `module=level` pair. Case and spaces are
 * ignored. The last of two directives for the same thing wins, and a pair wins over the general level wherever it
 * appears. The default is `info`. There is no level `off`: it would hide why a node died.
 */
export const parse = (text: string): { readonly filter: LogFilter; readonly unreadable: ReadonlyArray<string> } => {
  const unreadable: Array<string> = []
  const named = new Map<Module, Level>()
  let general: Level = "info"
  for (const directive of text.split(",").map((part) => part.trim())) {
    const [first = "", second, ...rest] = directive
      .toLowerCase()
      .split("=")
      .map((part) => part.trim())
    if (directive === "") continue
    if (second === undefined && isLevel(first)) general = first
    else if (second !== undefined && rest.length === 0 && isModule(first) && isLevel(second)) named.set(first, second)
    else unreadable.push(directive)
  }
  const thresholds = everywhere(general)
  for (const [module, level] of named) thresholds[module] = toLogLevel[level].ordinal
  return { filter: { thresholds }, unreadable }
}

/** The filter in force for a fiber and those it starts. */
export const current = FiberValue.make<LogFilter>("udg/LogFilter/current", () => ({ thresholds: everywhere("info") }))
