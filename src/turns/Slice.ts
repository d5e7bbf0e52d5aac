/** How long a piece of background work holds the thread: sockets and timers wait no longer than that for their turn. */
export const SLICE_MS = 8

/** Answers yes for this long: the work may go on. */
export const begin = (): (() => boolean) => {
  const end = performance.now() + SLICE_MS
  return () => performance.now() < end
}
