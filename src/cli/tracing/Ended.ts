/** A span that has ended, for export. */
import type { Tracer } from "effect"

/** A span as others name it. */
export type SpanContext = Pick<Tracer.AnySpan, "traceId" | "spanId" | "sampled">

export interface Ended extends Pick<SpanContext, "traceId" | "spanId"> {
  readonly parentId: string | null
  /** Whether the parent is a span of another program. */
  readonly hasRemoteParent: boolean
  readonly name: string
  readonly kind: Tracer.SpanKind
  readonly startNanos: bigint
  readonly endNanos: bigint
  readonly attributes: Iterable<readonly [string, unknown]>
  readonly links: ReadonlyArray<SpanContext>
  readonly hasFailed: boolean
}

const MICROS_PER_MS = 1_000
const NANOS_PER_MICRO = 1_000n

/** To the microsecond: a number cannot hold more since 1970. */
export const nanosOf = (milliseconds: number): bigint =>
  BigInt(Math.round(milliseconds * MICROS_PER_MS)) * NANOS_PER_MICRO
