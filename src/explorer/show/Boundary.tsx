import type { ComponentChildren } from "preact"
import { useEffect, useErrorBoundary } from "preact/hooks"
import * as Route from "../route/Route.js"

interface Props {
  /** What is missing when it fails, such as "this page". */
  readonly what: string
  /** Another subject is tried again by itself. */
  readonly of?: unknown
  readonly children: ComponentChildren
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Keeps what throws while it is drawn from taking the rest of the page with it. */
export const Boundary = ({ what, of, children }: Props) => {
  const [error, reset] = useErrorBoundary()
  // Not when the error comes: that would be the same again.
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
