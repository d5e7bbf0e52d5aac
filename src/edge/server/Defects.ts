/**
 * Bugs that a request met. The request is answered with 500 and nothing else suffers; here each bug is counted, and logged
 * with its cause the first time: otherwise a client that knows a failing request could fill the log.
 */
import { Cause } from "effect"

export interface Options {
  /** Called for every one, for metrics. */
  readonly onDefect: (route: string) => void
  readonly log: Report
}

/** More different ones are only counted. */
const MAX_LOGGED_DEFECTS = 1_000

/** Where it was thrown, since a message may repeat what the request said. */
const placeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error
  try {
    const [frame = ""] = /^ +at .*$/m.exec(error.stack ?? "") ?? []
    return `${error.name} ${frame}`
  } catch {
    // It describes itself by a value that throws when it is read.
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
