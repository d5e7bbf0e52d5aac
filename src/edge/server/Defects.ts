/**
 * Bugs that requests hit. The request gets a 500 and nothing else is affected. Each bug is counted, but logged with its
 * cause only once, so that a client that knows a failing request cannot fill the log.
 */
import { Cause } from "effect"

export interface Options {
  /** Called for every bug, for metrics. */
  readonly onDefect: (route: string) => void
  readonly log: Report
}

/** Further distinct bugs are only counted. */
const MAX_LOGGED_DEFECTS = 1_000

/** The place of the throw, because a message can repeat the request's text. */
const placeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error
  try {
    const [frame = ""] = /^ +at .*$/m.exec(error.stack ?? "") ?? []
    return `${error.name} ${frame}`
  } catch {
    // Its description throws when it is read.
    return "an error that cannot be read"
  }
}

export type Report = (route: string, cause: Cause.Cause<unknown>) => void

export const reporter = ({ onDefect, log }: Options): Report => {
  const logged = new Set<string>()
  return (route, cause) => {
    onDefect(route)
    const key = `${route} ${placeOf(Cause.squash(cause))}`
    if (logged.has(key) || logged.size >= MAX_LOGGED_DEFECTS) return
    logged.add(key)
    log(route, cause)
  }
}
