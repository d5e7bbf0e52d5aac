import type { ComponentChildren } from "preact"
import * as Live from "../live/Live.js"
import type { Resource } from "../live/Resource.js"
import * as Words from "./Words.js"

export interface LoadedProps<A> {
  readonly of: Resource<A>
  /** The thing being loaded, such as "this account". */
  readonly what: string
  /** Lines of the skeleton during the first load. */
  readonly lines?: number | undefined
  readonly children: (value: A) => ComponentChildren
}

const widths = ["w1", "w2", "w3", "w4"]

const Skeleton = ({ lines, what }: { readonly lines: number; readonly what: string }) => (
  <div class="skeleton" role="status" aria-label={`Loading ${what}`}>
    {Array.from({ length: lines }, (_, line) => (
      <span key={line} class={widths[line % widths.length]} />
    ))}
  </div>
)

/** For a single response that stopped coming. If nothing moves, the banner says so. */
const AsOf = ({ oldSince }: { readonly oldSince: number | undefined }) =>
  oldSince === undefined || Live.standstill.value !== undefined ? null : (
    <p class="as-of">as of {Words.timeOfDay(oldSince)}, not answered since</p>
  )

/** The loaded value; before that a skeleton, or the reason for its absence. */
export function Loaded<A>({ of, what, lines = 4, children }: LoadedProps<A>) {
  switch (of.state) {
    case "loading":
      return <Skeleton lines={lines} what={what} />
    case "ready":
      return (
        <div class={of.oldSince === undefined ? "loaded" : "loaded old"}>
          <AsOf oldSince={of.oldSince} />
          {children(of.value)}
        </div>
      )
    case "missing":
      return (
        <div class="notice missing">
          <p>{`Not found: ${of.reason}.`}</p>
        </div>
      )
    case "failed":
      return (
        <div class="notice failed" role="alert">
          <p>{`Could not load ${what}: ${of.reason}.`}</p>
          {of.retry === undefined ? undefined : (
            <button type="button" class="button" onClick={of.retry}>
              Try again
            </button>
          )}
        </div>
      )
  }
}
