import type { ComponentChildren } from "preact"
import type { Resource } from "../live/Resource.js"

interface Props<A> {
  readonly of: Resource<A>
  /** What is being read, as "this account". */
  readonly what: string
  /** Lines of a skeleton while it is read for the first time. */
  readonly lines?: number
  readonly children: (value: A) => ComponentChildren
}

const widths = ["w1", "w2", "w3", "w4"]

const Skeleton = ({ lines, what }: { readonly lines: number; readonly what: string }) => (
  <div class="skeleton" role="status" aria-label={`Reading ${what}`}>
    {Array.from({ length: lines }, (_, line) => (
      <span key={line} class={widths[line % widths.length]} />
    ))}
  </div>
)

/** What was read, or in its place why it is not there. */
export function Loaded<A>({ of, what, lines = 4, children }: Props<A>) {
  switch (of.state) {
    case "loading":
      return <Skeleton lines={lines} what={what} />
    case "ready":
      return <>{children(of.value)}</>
    case "missing":
      return (
        <div class="notice missing">
          <p>{`Not found: ${of.reason}.`}</p>
        </div>
      )
    case "failed":
      return (
        <div class="notice failed" role="alert">
          <p>{`Could not read ${what}: ${of.reason}.`}</p>
          <button type="button" class="button" onClick={of.retry}>
            Try again
          </button>
        </div>
      )
  }
}
