/** Times for people: total, since a broken or lying node may give any number as a time. Pure. */
import * as Natural from "../protocol/numbers/Natural.js"

const write = (format: (ms: number) => string, ms: number): string =>
  Math.abs(ms) <= Natural.LATEST ? format(ms) : `${ms} ms after 1970`

/** `2026-11-22T03:41:05.120Z`, in UTC. */
export const iso = (ms: number): string => write((at) => new Date(at).toISOString(), ms)

/** In a reader's own form and time zone. */
export const local = (form: Intl.DateTimeFormat, ms: number): string => write((at) => form.format(at), ms)
