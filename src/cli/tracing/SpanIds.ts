/** Trace and span ids, in hex. */
import { randomBytes } from "node:crypto"

const TRACE_BYTES = 16
const SPAN_BYTES = 8

const random = (bytes: number): string => randomBytes(bytes).toString("hex")

export const trace = (): string => random(TRACE_BYTES)

export const span = (): string => random(SPAN_BYTES)

/** A transaction's trace on every node, without a word on the wire: the first 16 bytes of its hash. */
export const traceOf = (hash: string): string => hash.slice(0, 2 * TRACE_BYTES)

/** Differs from node to node, because each has another salt. */
export const spanOf = (hash: string, salt: bigint): string =>
  (BigInt(`0x${hash.slice(-2 * SPAN_BYTES)}`) ^ salt).toString(16).padStart(2 * SPAN_BYTES, "0")

export const salt = (): bigint => BigInt(`0x${span()}`)

/** As many bits as a number holds exactly. */
const DIGITS = 13

/**
 * Whether a trace belongs to this share of all. As in OpenTelemetry's samplers, its last bits decide: every node decides
 * alike, and a smaller share is a part of a larger one.
 */
export const isSampled = (traceId: string, ratio: number): boolean =>
  Number.parseInt(traceId.slice(-DIGITS), 16) >= (1 - ratio) * 16 ** DIGITS
