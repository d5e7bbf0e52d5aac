/**
 * A shared worker with one event stream for all tabs. A browser opens at most six connections to an origin, so with one
 * stream per tab, the seventh tab could request nothing.
 *
 * Tabs renew their subscription with messages, because a port does not tell when its tab closes. Without readers the
 * stream is closed, since a node has few.
 */

/** Visible tabs renew every two seconds. */
const LEASE_MS = 8_000
const CHECK_MS = 2_000
/** Every round brings events. A stream without any can be broken; its heartbeats are invisible here. */
const LONGEST_SILENCE_MS = 30_000

const TYPES = ["round", "alert"] as const

const readers = new Map<MessagePort, number>()
let source: EventSource | undefined
let heardAt = 0

const tell = ({ data }: MessageEvent): void => {
  heardAt = performance.now()
  for (const port of readers.keys()) port.postMessage(data)
}

const close = (): void => {
  source?.close()
  source = undefined
}

const open = (): void => {
  close()
  heardAt = performance.now()
  source = new EventSource(`/events?type=${TYPES.join(",")}`)
  for (const type of TYPES) source.addEventListener(type, tell)
}

const check = (): void => {
  const now = performance.now()
  for (const [port, spokeAt] of readers) if (now - spokeAt > LEASE_MS) readers.delete(port)
  if (readers.size === 0) {
    close()
    return
  }
  // The browser reopens a lost connection, but gives up one that the node refused.
  if (source === undefined || source.readyState === EventSource.CLOSED || now - heardAt > LONGEST_SILENCE_MS) open()
}

addEventListener("connect", (event) => {
  const [port] = event instanceof MessageEvent ? event.ports : []
  if (port === undefined) return
  port.onmessage = () => {
    const isFirst = readers.size === 0
    readers.set(port, performance.now())
    if (isFirst) check()
  }
})

setInterval(check, CHECK_MS)
