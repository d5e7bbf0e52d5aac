/** Sends spans to a collector in batches: OTLP over HTTP, in JSON. */
import type { Ended } from "./Sampled.js"

/** More spans than one interval produces. Further spans are dropped, so that a dead collector costs no memory. */
const MOST_WAITING = 4_096
const EVERY_MS = 2_000
const PATIENCE_MS = 5_000

const KINDS = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const
const FAILED = 2

const anyValueOf = (value: unknown): object => {
  if (typeof value === "boolean") return { boolValue: value }
  if (typeof value === "number" && Number.isSafeInteger(value)) return { intValue: String(value) }
  return typeof value === "number" ? { doubleValue: value } : { stringValue: String(value) }
}

const attributesOf = (entries: Iterable<readonly [string, unknown]>): ReadonlyArray<object> =>
  [...entries].map(([key, value]) => ({ key, value: anyValueOf(value) }))

const spanOf = ({
  traceId,
  spanId,
  parentId,
  name,
  kind,
  startNanos,
  endNanos,
  attributes,
  hasFailed,
}: Ended): object => ({
  traceId,
  spanId,
  ...(parentId === null ? {} : { parentSpanId: parentId }),
  name,
  kind: KINDS[kind],
  startTimeUnixNano: String(startNanos),
  endTimeUnixNano: String(endNanos),
  attributes: attributesOf(attributes),
  status: hasFailed ? { code: FAILED } : {},
})

export class Otlp {
  readonly #url: string
  readonly #resource: object
  readonly #failed: (reason: string) => void
  readonly #timer: NodeJS.Timeout
  #waiting: Array<Ended> = []
  #isSending = false

  /** `endpoint` is the collector's address without the signal's path. */
  constructor(endpoint: string, version: string, failed: (reason: string) => void) {
    this.#url = `${endpoint.replace(/\/+$/, "")}/v1/traces`
    this.#resource = {
      attributes: attributesOf([
        ["service.name", "udg"],
        ["service.version", version],
      ]),
    }
    this.#failed = failed
    this.#timer = setInterval(() => void this.flush(), EVERY_MS)
    this.#timer.unref()
  }

  add(span: Ended): void {
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push(span)
  }

  /** Runs one request at a time. Failed requests are not repeated, because traces are a sample anyway. */
  async flush(): Promise<void> {
    if (this.#isSending || this.#waiting.length === 0) return
    const spans = this.#waiting
    this.#waiting = []
    this.#isSending = true
    const scopeSpans = [{ scope: { name: "udg" }, spans: spans.map(spanOf) }]
    try {
      const answer = await fetch(this.#url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ resourceSpans: [{ resource: this.#resource, scopeSpans }] }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      await answer.text()
      if (!answer.ok) this.#failed(`it answers ${answer.status}`)
    } catch (error) {
      this.#failed(error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error))
    } finally {
      this.#isSending = false
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }
}
