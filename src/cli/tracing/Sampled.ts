/**
 * A sampling tracer. The decision falls where a trace begins and holds for the whole trace. A span that is not sampled
 * costs an object and no random bytes.
 */
import { type Context, type Exit, Option, Tracer } from "effect"
import type { Ended } from "./Ended.js"
import * as SpanIds from "./SpanIds.js"

class Span implements Tracer.Span {
  readonly _tag = "Span"
  readonly sampled: boolean
  readonly attributes = new Map<string, unknown>()
  readonly links: Array<Tracer.SpanLink>
  status: Tracer.SpanStatus
  readonly name: string
  readonly parent: Option.Option<Tracer.AnySpan>
  readonly context: Context.Context<never>
  readonly kind: Tracer.SpanKind
  readonly #ended: (ended: Ended) => void
  #spanId: string | undefined
  #traceId: string | undefined

  constructor(
    { name, parent, context, links, startTime, kind }: Wanted,
    isTaken: () => boolean,
    ended: (ended: Ended) => void,
  ) {
    this.name = name
    this.parent = parent
    this.context = context
    this.links = [...links]
    this.kind = kind
    this.status = { _tag: "Started", startTime }
    this.sampled = Option.match(parent, { onNone: isTaken, onSome: ({ sampled }) => sampled })
    this.#ended = ended
  }

  get spanId(): string {
    this.#spanId ??= SpanIds.span()
    return this.#spanId
  }

  get traceId(): string {
    this.#traceId ??= Option.match(this.parent, { onNone: SpanIds.trace, onSome: ({ traceId }) => traceId })
    return this.#traceId
  }

  attribute(key: string, value: unknown): void {
    this.attributes.set(key, value)
  }

  event(): void {}

  addLinks(links: ReadonlyArray<Tracer.SpanLink>): void {
    this.links.push(...links)
  }

  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    const { startTime } = this.status
    this.status = { _tag: "Ended", startTime, endTime, exit }
    if (!this.sampled) return
    const { traceId, spanId, name, kind, attributes } = this
    const parentId = Option.getOrNull(Option.map(this.parent, (parent) => parent.spanId))
    this.#ended({
      ...{ traceId, spanId, parentId, hasRemoteParent: false, name, kind, attributes },
      links: this.links.map(({ span }) => span),
      startNanos: startTime,
      endNanos: endTime,
      hasFailed: exit._tag === "Failure",
    })
  }
}

interface Wanted {
  readonly name: string
  readonly parent: Option.Option<Tracer.AnySpan>
  readonly context: Context.Context<never>
  readonly links: ReadonlyArray<Tracer.SpanLink>
  readonly startTime: bigint
  readonly kind: Tracer.SpanKind
}

export const tracer = (isTaken: () => boolean, ended: (ended: Ended) => void): Tracer.Tracer =>
  Tracer.make({
    span: (name, parent, context, links, startTime, kind) =>
      new Span({ name, parent, context, links, startTime, kind }, isTaken, ended),
    context: (run) => run(),
  })
