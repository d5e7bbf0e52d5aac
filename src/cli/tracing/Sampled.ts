/**
 * A sampling tracer. The decision falls where a trace begins and holds for the whole trace. A span that is not sampled
 * costs an object and no random bytes.
 */
import { randomBytes } from "node:crypto"
import { type Context, type Exit, Option, Tracer } from "effect"

const hex = (bytes: number): string => randomBytes(bytes).toString("hex")

export interface Ended {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | null
  readonly name: string
  readonly kind: Tracer.SpanKind
  readonly startNanos: bigint
  readonly endNanos: bigint
  readonly attributes: ReadonlyMap<string, unknown>
  readonly hasFailed: boolean
}

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
    this.#spanId ??= hex(8)
    return this.#spanId
  }

  get traceId(): string {
    this.#traceId ??= Option.match(this.parent, { onNone: () => hex(16), onSome: ({ traceId }) => traceId })
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
    const hasFailed = exit._tag === "Failure"
    this.#ended({
      traceId,
      spanId,
      parentId,
      name,
      kind,
      startNanos: startTime,
      endNanos: endTime,
      attributes,
      hasFailed,
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
