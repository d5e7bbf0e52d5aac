/**
 * The content of an answer, ready to be written for any number of requests: the body, and every header that does not depend
 * on the client. A text stays a string until it is written, because head and body then go out as one string in one write;
 * a buffer is a second piece, which costs a quarter of a whole small answer.
 */
import * as ResponseHeaders from "./ResponseHeaders.js"

export interface Content {
  /** A mutable array only because `writeHead` takes no other. */
  readonly headers: Array<string>
  readonly body: string | Buffer
  readonly encoding: "latin1" | "utf8"
  /** Length of the body. */
  readonly bytes: number
}

/** A longer text is converted to bytes once, not for every request. */
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
    // As many bytes as characters: each is one byte in either encoding, and this one needs no look at them.
    encoding: bytes === body.length ? "latin1" : "utf8",
    bytes,
  }
}

/** `page`: the headers of a page that has scripts or styles in itself. */
export const text = (type: string, body: string, page?: ResponseHeaders.ResponseHeaders): Content =>
  make(type, body, ResponseHeaders.fleeting, page)

/** JavaScript writes less than a hundred sats in coins as 6e-8, which not every reader of decimal numbers takes. */
const EXPONENT = /("\w+_coin":)(\d(?:\.\d)?e-\d)/g

/** A text in a string of the JSON cannot look so: its quotes are escaped. */
const withoutExponents = (encoded: string): string =>
  encoded.includes("e-")
    ? encoded.replace(EXPONENT, (_, name, coins) => name + Number(coins).toFixed(8).replace(/0+$/, ""))
    : encoded

export const json = (value: unknown): Content => text(ResponseHeaders.json, withoutExponents(JSON.stringify(value)))

/** A file of a page; one whose name is made from its content never changes. */
export const file = (type: string, body: Buffer, isImmutable = false): Content =>
  make(type, body, isImmutable ? ResponseHeaders.immutable : ResponseHeaders.fleeting)
