/** Something read from the node, and read again when it may have changed, without flicker. */
import type { ReadonlySignal } from "@preact/signals"
import { useEffect, useRef, useState } from "preact/hooks"
import * as Live from "./Live.js"
import { isMalformed, isMissing, reasonOf } from "./Node.js"

export type Resource<A> =
  | { readonly state: "loading" }
  | { readonly state: "ready"; readonly value: A }
  /** There is no such thing, or what was asked for is none. */
  | { readonly state: "missing"; readonly reason: string }
  | { readonly state: "failed"; readonly reason: string; readonly retry: () => void }

interface Kept<A> {
  readonly key: string
  readonly resource: Resource<A>
}

const LOADING = { state: "loading" } as const

/**
 * `key` names what is read: while it stays the same, what was read last stays on the page until something newer is there,
 * and a node that fails to answer once takes nothing away.
 */
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
    const settle = (next: (before: Resource<A>) => Resource<A>): void => {
      if (inFlight.current === key) inFlight.current = undefined
      if (latest.current !== key) return
      setKept((before) => ({ key, resource: next(before.key === key ? before.resource : LOADING) }))
    }
    load().then(
      (value) => settle(() => ({ state: "ready", value })),
      (error: unknown) =>
        settle((before) => {
          const reason = reasonOf(error)
          if (isMissing(error) || isMalformed(error)) return { state: "missing", reason }
          if (before.state === "ready") return before
          return { state: "failed", reason, retry: () => setAttempt((count) => count + 1) }
        }),
    )
  }, [key, moment, attempt])
  return kept.key === key ? kept.resource : LOADING
}

/** Both, once both are there. */
export const both = <A, B>(a: Resource<A>, b: Resource<B>): Resource<readonly [A, B]> => {
  if (a.state !== "ready") return a
  if (b.state !== "ready") return b
  return { state: "ready", value: [a.value, b.value] }
}
