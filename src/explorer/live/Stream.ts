/**
 * A shared worker with the one event stream of all tabs. A browser opens six connections at a time to an origin, so a stream
 * for each tab would leave none for the seventh tab's requests.
 *
 * A tab says that it reads by any message, again and again: a port does not tell when its tab is closed. Without readers
 * the stream is closed, since a node has few.
 */

/** Tabs speak every two seconds while they are visible. */
const LEASE_MS = 8_000
const CHECK_MS = 2_000
/** Events come with every round. A stream without any may be broken: its heartbeats are not to be seen here. */
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
  // The browser opens a lost connection again, and gives up one that the node refused.
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
