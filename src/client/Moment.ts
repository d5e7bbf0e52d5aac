/** Times for display. Accepts any number, since a faulty or lying node can send any. Pure. */
import * as Natural from "../protocol/numbers/Natural.js"

const write = (format: (ms: number) => string, ms: number): string =>
  Math.abs(ms) <= Natural.LATEST ? format(ms) : `${ms} ms after 1970`

/** `2026-11-22T03:41:05.120Z`, in UTC. */
export const iso = (ms: number): string => write((at) => new Date(at).toISOString(), ms)

/** In the reader's own format and time zone. */
export const local = (form: Intl.DateTimeFormat, ms: number): string => write((at) => form.format(at), ms)
