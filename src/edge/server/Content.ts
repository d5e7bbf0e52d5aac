/**
 * A response's content, ready to be written to any number of requests: the body and every header that does not depend
 * on the client. Text stays a string until it is written, so that head and body go out in one write; a separate buffer
 * costs a quarter of a small response.
 */
import * as ResponseHeaders from "./ResponseHeaders.js"

export interface Content {
  /** A mutable array only because `writeHead` requires one. */
  readonly headers: Array<string>
  readonly body: string | Buffer
  readonly encoding: "latin1" | "utf8"
  /** The body's length. */
  readonly bytes: number
}

/** Longer texts are converted to bytes once instead of for every request. */
const LONG_TEXT_BYTES = 16_384

const make = (
  type: string,
  given: string | Buffer,
  more: ResponseHeaders.ResponseHeaders,
  page?: ResponseHeaders.ResponseHeaders,
): Content => {
  const bytes = Buffer.byteLength(given)
  const body = bytes > LONG_TEXT_BYTES && typeof given === "string" ? Buffer.from(given) : given
  return {
    headers: [...ResponseHeaders.everywhere, ...more, ...ResponseHeaders.content(type, bytes, page)],
    body,
    // With as many bytes as characters, both encodings are the same, and latin1 skips the scan.
    encoding: bytes === body.length ? "latin1" : "utf8",
    bytes,
  }
}

/** `page` has the headers of a page with inline scripts or styles. */
export const text = (type: string, body: string, page?: ResponseHeaders.ResponseHeaders): Content =>
  make(type, body, ResponseHeaders.fleeting, page)

/** JavaScript prints less than a hundred sats in coins as 6e-8, which some parsers of decimal numbers reject. */
const EXPONENT = /("\w+_coin":)(\d(?:\.\d)?e-\d)/g

/** Strings within the JSON cannot match, because their quotes are escaped. */
const withoutExponents = (encoded: string): string =>
  encoded.includes("e-")
    ? encoded.replace(EXPONENT, (_, name, coins) => name + Number(coins).toFixed(8).replace(/0+$/, ""))
    : encoded

export const json = (value: unknown): Content => text(ResponseHeaders.json, withoutExponents(JSON.stringify(value)))

/** A page's file. Immutable files have a content hash in their names. */
export const file = (type: string, body: Buffer, isImmutable = false): Content =>
  make(type, body, isImmutable ? ResponseHeaders.immutable : ResponseHeaders.fleeting)
