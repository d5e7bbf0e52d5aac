import type { ComponentChildren } from "preact"
import { useEffect, useErrorBoundary } from "preact/hooks"
import * as Route from "../route/Route.js"

interface Props {
  /** What failed, such as "this page". */
  readonly what: string
  /** Another subject retries automatically. */
  readonly of?: unknown
  readonly children: ComponentChildren
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Contains rendering errors, so that the rest of the page survives. */
export const Boundary = ({ what, of, children }: Props) => {
  const [error, reset] = useErrorBoundary()
  // Not when the error arrives, which would repeat it.
  useEffect(() => {
    if (error !== undefined) reset()
  }, [of])
  if (error === undefined) return <>{children}</>
  return (
    <div class="notice failed" role="alert">
      <p>{`Could not show ${what}: ${reasonOf(error)}.`}</p>
      <button type="button" class="button" onClick={reset}>
        Try again
      </button>{" "}
      <a href={Route.overview}>Go to the overview</a>
    </div>
  )
}
