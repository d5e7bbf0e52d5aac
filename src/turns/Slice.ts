/** How long a piece of background work holds the thread, and so the longest that sockets and timers wait for it. */
export const SLICE_MS = 8

/** Returns true for this long: the work may continue. */
export const begin = (): (() => boolean) => {
  const end = performance.now() + SLICE_MS
  return () => performance.now() < end
}
