/** Data from the node, loaded again without flicker when it may have changed. */
import type { ReadonlySignal } from "@preact/signals"
import { useEffect, useRef, useState } from "preact/hooks"
import * as Live from "./Live.js"
import { isMalformed, isMissing, reasonOf } from "./Node.js"

export type Resource<A> =
  | { readonly state: "loading" }
  | { readonly state: "ready"; readonly value: A }
  /** There is no such thing, or its name is malformed. */
  | { readonly state: "missing"; readonly reason: string }
  | { readonly state: "failed"; readonly reason: string; readonly retry: () => void }

interface Kept<A> {
  readonly key: string
  readonly resource: Resource<A>
}

const LOADING = { state: "loading" } as const

/** While `key` stays the same, the last value stays until a newer one arrives, even if the node fails in between. */
export const useResource = <A>(
  key: string,
  load: () => Promise<A>,
  follow: ReadonlySignal<number> = Live.beat,
): Resource<A> => {
  const [kept, setKept] = useState<Kept<A>>({ key, resource: LOADING })
  const [attempt, setAttempt] = useState(0)
  const latest = useRef(key)
  const inFlight = useRef<string | undefined>(undefined)
  const moment = follow.value
  latest.current = key
  useEffect(() => {
    if (inFlight.current === key) return
    inFlight.current = key
    const complete = (next: (before: Resource<A>) => Resource<A>): void => {
      if (inFlight.current === key) inFlight.current = undefined
      if (latest.current !== key) return
      setKept((before) => ({ key, resource: next(before.key === key ? before.resource : LOADING) }))
    }
    load().then(
      (value) => complete(() => ({ state: "ready", value })),
      (error: unknown) =>
        complete((before) => {
          const reason = reasonOf(error)
          if (isMissing(error) || isMalformed(error)) return { state: "missing", reason }
          if (before.state === "ready") return before
          return { state: "failed", reason, retry: () => setAttempt((count) => count + 1) }
        }),
    )
  }, [key, moment, attempt])
  return kept.key === key ? kept.resource : LOADING
}

/** Both values, once both are loaded. */
export const both = <A, B>(a: Resource<A>, b: Resource<B>): Resource<readonly [A, B]> => {
  if (a.state !== "ready") return a
  if (b.state !== "ready") return b
  return { state: "ready", value: [a.value, b.value] }
}
