/**
 * Groups addresses that one party can hold: whoever has one of a 64-bit IPv6 network has all, and ranges are for rent.
 */
import { isIP } from "node:net"

const HOST_WORDS = 4
const NEIGHBOURHOOD_WORDS = 2
const MAPPED = /^::ffff:(?:0{1,4}:)?(\d+\.\d+\.\d+\.\d+)$/i
const MAPPED_HEX = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i

/** An IPv4 address that is written as an IPv6 address, as itself. */
const plain = (host: string): string => {
  const [bare = ""] = host.split("%")
  const dotted = MAPPED.exec(bare)?.[1]
  if (dotted !== undefined) return dotted
  const [, high, low] = MAPPED_HEX.exec(bare) ?? []
  if (high === undefined || low === undefined) return bare
  const number = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16)
  return [24, 16, 8, 0].map((bits) => Math.floor(number / 2 ** bits) % 256).join(".")
}

/** The eight words of an IPv6 address. */
const wordsOf = (host: string): ReadonlyArray<number> => {
  const [head = "", tail] = host.split("::")
  const read = (part: string | undefined): Array<number> =>
    part === undefined || part === ""
      ? []
      : part.split(":").flatMap((word) => {
          // The last 32 bits may be written as an IPv4 address.
          const bytes = word.split(".").map(Number)
          const [a = 0, b = 0, c = 0, d = 0] = bytes
          return bytes.length === 4 ? [a * 256 + b, c * 256 + d] : [Number.parseInt(word, 16)]
        })
  const [before, after] = [read(head), read(tail)]
  return [...before, ...new Array<number>(Math.max(0, 8 - before.length - after.length)).fill(0), ...after]
}

const prefix = (host: string, words: number): string =>
  wordsOf(host)
    .slice(0, words)
    .map((word) => word.toString(16))
    .join(":")

/** One machine, as far as its address shows: an IPv4 address, or 64 bits of IPv6. */
export const hostGroup = (host: string): string => {
  const address = plain(host)
  return isIP(address) === 6 ? `${prefix(address, HOST_WORDS)}::/64` : address
}

/** One landlord, perhaps: 16 bits of IPv4, or 32 of IPv6. */
export const neighbourhood = (host: string): string => {
  const address = plain(host)
  if (isIP(address) === 6) return `${prefix(address, NEIGHBOURHOOD_WORDS)}::/32`
  return isIP(address) === 4 ? `${address.split(".").slice(0, 2).join(".")}.0.0/16` : address
}
