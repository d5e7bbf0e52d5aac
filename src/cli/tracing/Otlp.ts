/** Sends spans to a collector in batches: OTLP over HTTP, in JSON. */
import type { Ended, SpanContext } from "./Ended.js"

/** More spans than one interval produces. Further spans are dropped, so that a dead collector costs no memory. */
const MOST_WAITING = 4_096
/** No flood of requests displaces all other spans. */
const MOST_REQUESTS = MOST_WAITING / 2
const EVERY_MS = 2_000
const PATIENCE_MS = 5_000

const KINDS = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const
const FAILED = 2
/** Flags of spans and links: the first is W3C's, and the others say whether the parent or linked span is remote. */
const SAMPLED = 0x01
const KNOWS_IF_REMOTE = 0x100
const IS_REMOTE = 0x200

const anyValueOf = (value: unknown): object => {
  if (typeof value === "boolean") return { boolValue: value }
  if (typeof value === "number" && Number.isSafeInteger(value)) return { intValue: String(value) }
  return typeof value === "number" ? { doubleValue: value } : { stringValue: String(value) }
}

const attributesOf = (entries: Iterable<readonly [string, unknown]>): ReadonlyArray<object> =>
  [...entries].map(([key, value]) => ({ key, value: anyValueOf(value) }))

const linkOf = ({ traceId, spanId, sampled }: SpanContext): object => ({
  traceId,
  spanId,
  flags: KNOWS_IF_REMOTE | (sampled ? SAMPLED : 0),
})

const spanOf = ({
  traceId,
  spanId,
  parentId,
  hasRemoteParent,
  name,
  kind,
  startNanos,
  endNanos,
  attributes,
  links,
  hasFailed,
}: Ended): object => ({
  traceId,
  spanId,
  ...(parentId === null ? {} : { parentSpanId: parentId }),
  flags: SAMPLED | KNOWS_IF_REMOTE | (hasRemoteParent ? IS_REMOTE : 0),
  name,
  kind: KINDS[kind],
  startTimeUnixNano: String(startNanos),
  endTimeUnixNano: String(endNanos),
  attributes: attributesOf(attributes),
  ...(links.length === 0 ? {} : { links: links.map(linkOf) }),
  status: hasFailed ? { code: FAILED } : {},
})

export class Otlp {
  readonly #url: string
  #resource: ReadonlyArray<readonly [string, string]> = []
  #failed: (reason: string) => void = () => {}
  #timer: NodeJS.Timeout | undefined
  #waiting: Array<Ended> = []
  #sending: Promise<void> | undefined

  /** `endpoint` is the collector's address without the signal's path. */
  constructor(endpoint: string) {
    this.#url = `${endpoint.replace(/\/+$/, "")}/v1/traces`
  }

  /** Sends from now on. Earlier spans have waited, because only a running node knows what it is. */
  begin(resource: ReadonlyArray<readonly [string, string]>, failed: (reason: string) => void): void {
    this.#resource = resource
    this.#failed = failed
    this.#timer ??= setInterval(() => {
      this.#sending ??= this.#flush().finally(() => {
        this.#sending = undefined
      })
    }, EVERY_MS).unref()
  }

  add(span: Ended): void {
    if (this.#waiting.length < (span.kind === "server" ? MOST_REQUESTS : MOST_WAITING)) this.#waiting.push(span)
  }

  /** Failed requests are not repeated, because traces are a sample anyway. */
  async #flush(): Promise<void> {
    const spans = this.#waiting
    if (spans.length === 0) return
    this.#waiting = []
    try {
      await this.#send(spans)
    } catch (error) {
      this.#failed(error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error))
    }
  }

  async #send(spans: ReadonlyArray<Ended>): Promise<void> {
    const resource = { attributes: attributesOf(this.#resource) }
    const scopeSpans = [{ scope: { name: "udg" }, spans: spans.map(spanOf) }]
    const answer = await fetch(this.#url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    await answer.body?.cancel()
    if (!answer.ok) this.#failed(`it answers ${answer.status}`)
  }

  /** Sends what is left of a node that ran. */
  async stop(): Promise<void> {
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    await Promise.all([this.#sending, this.#flush()])
  }
}
