/** Response headers in the flat form of `writeHead`: name, value, name, value. */
import { createHash } from "node:crypto"

export type ResponseHeaders = ReadonlyArray<string>

/** On all responses. */
export const everywhere: ResponseHeaders = [
  "Access-Control-Allow-Origin",
  "*",
  "Access-Control-Allow-Methods",
  "GET, HEAD, POST, OPTIONS",
  "Access-Control-Allow-Headers",
  "Content-Type, Last-Event-ID, Traceparent, Tracestate, Udg-Commit",
  "Access-Control-Expose-Headers",
  "Retry-After, RateLimit, RateLimit-Policy, Allow, Udg-Commit",
  "X-Content-Type-Options",
  "nosniff",
]

/** On everything except files that never change. */
export const fleeting: ResponseHeaders = ["Cache-Control", "no-store"]

/** On files with a content hash in their names, which browsers need not request again. */
export const immutable: ResponseHeaders = ["Cache-Control", "public, max-age=31536000, immutable"]

/** For responses without a body, or with one that is not known in advance. */
export const bare: ResponseHeaders = [...everywhere, ...fleeting]

/** Only on responses to OPTIONS. */
export const preflight: ResponseHeaders = ["Access-Control-Max-Age", "3600"]

export const json = "application/json"

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

/** A page's inline scripts and styles. */
export interface Inline {
  readonly scripts: ReadonlyArray<string>
  readonly styles: ReadonlyArray<string>
}

/** A page can load anything from this server and nothing from other hosts, and only these inline parts run. */
export const pageWith = ({ scripts, styles }: Inline): ResponseHeaders => [
  "Content-Security-Policy",
  [
    "default-src 'none'",
    ["script-src 'self'", ...scripts.map(hashOf)].join(" "),
    ["style-src 'self'", ...styles.map(hashOf)].join(" "),
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "Referrer-Policy",
  "no-referrer",
]

const plainPage = pageWith({ scripts: [], styles: [] })

/** Headers of a body, by type and length. */
export const content = (type: string, length: number, page = plainPage): ResponseHeaders => [
  "Content-Type",
  type,
  "Content-Length",
  String(length),
  ...(type.startsWith("text/html") ? page : []),
]

export const retryAfter = (waitSeconds: number): ResponseHeaders => ["Retry-After", String(waitSeconds)]
