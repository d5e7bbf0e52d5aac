/** Data from the node, reloaded without flicker when it can have changed. */
import type { ReadonlySignal } from "@preact/signals"
import { useEffect, useRef, useState } from "preact/hooks"
import * as Live from "./Live.js"
import { isMalformed, isMissing, mayPass, reasonOf } from "./Node.js"

export type Resource<A> =
  | { readonly state: "loading" }
  | {
      readonly state: "ready"
      readonly value: A
      /** When it was loaded, if a later reload failed. */
      readonly oldSince?: number
    }
  /** It does not exist, or its name is malformed. */
  | { readonly state: "missing"; readonly reason: string }
  /** Without `retry`, a second attempt cannot help. */
  | { readonly state: "failed"; readonly reason: string; readonly retry: (() => void) | undefined }

interface Kept<A> {
  readonly key: string
  readonly resource: Resource<A>
  readonly at: number
}

const LOADING = { state: "loading" } as const

/** Without an answer for this long, the last one is shown as stale. */
const PATIENCE_MS = 2_500

const aged = <A>({ key, resource, at }: Kept<A>): Kept<A> =>
  resource.state === "ready" ? { key, resource: { ...resource, oldSince: at }, at } : { key, resource, at }

/** While `key` stays the same, the last value stays until a newer one arrives, even if the node fails meanwhile. */
export const useResource = <A>(
  key: string,
  load: () => Promise<A>,
  follow: ReadonlySignal<number> = Live.beat,
): Resource<A> => {
  const [kept, setKept] = useState<Kept<A>>({ key, resource: LOADING, at: 0 })
  const [attempt, setAttempt] = useState(0)
  const latest = useRef(key)
  const inFlight = useRef<string | undefined>(undefined)
  const moment = follow.value
  latest.current = key
  useEffect(() => {
    if (inFlight.current === key) return
    inFlight.current = key
    const age = (): void => setKept((before) => (before.key === key ? aged(before) : before))
    const patience = setTimeout(age, PATIENCE_MS)
    const complete = (next: (before: Kept<A>) => Kept<A>): void => {
      clearTimeout(patience)
      if (inFlight.current === key) inFlight.current = undefined
      if (latest.current !== key) return
      setKept((before) => next(before.key === key ? before : { key, resource: LOADING, at: 0 }))
    }
    load().then(
      (value) => complete(() => ({ key, resource: { state: "ready", value }, at: Date.now() })),
      (error: unknown) =>
        complete((before) => {
          const reason = reasonOf(error)
          if (isMissing(error) || isMalformed(error)) return { key, resource: { state: "missing", reason }, at: 0 }
          if (before.resource.state === "ready") return aged(before)
          const retry = mayPass(error) ? () => setAttempt((count) => count + 1) : undefined
          return { key, resource: { state: "failed", reason, retry }, at: 0 }
        }),
    )
  }, [key, moment, attempt])
  if (kept.key !== key) return LOADING
  const standstill = follow === Live.never ? undefined : Live.standstill.value
  if (kept.resource.state !== "ready" || standstill === undefined) return kept.resource
  return { ...kept.resource, oldSince: kept.resource.oldSince ?? standstill }
}

/** Both values, once both are loaded. */
export const both = <A, B>(a: Resource<A>, b: Resource<B>): Resource<readonly [A, B]> => {
  if (a.state !== "ready") return a
  if (b.state !== "ready") return b
  const value = [a.value, b.value] as const
  const oldSince = a.oldSince ?? b.oldSince
  return oldSince === undefined ? { state: "ready", value } : { state: "ready", value, oldSince }
}
