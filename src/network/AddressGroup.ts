/**
 * Groups addresses that one party can hold: whoever has one of a 64-bit IPv6 network has all, and ranges are for rent. Limits
 * of peers and of clients count by these groups.
 */
import { isIPv4, isIPv6 } from "node:net"

const MAPPED = "::ffff:"

/** An address in one canonical form; none for anything else. */
export const plain = (text: string): string | undefined => {
  const trimmed = text.trim()
  if (isIPv4(trimmed)) return trimmed
  const unbracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed
  const [address = ""] = unbracketed.split("%", 1)
  if (address.toLowerCase().startsWith(MAPPED) && isIPv4(address.slice(MAPPED.length))) {
    return address.slice(MAPPED.length)
  }
  return isIPv4(address) || isIPv6(address) ? address.toLowerCase() : undefined
}

/** The groups of an IPv6 address as numbers; a dotted tail counts as two. */
const groupsOf = (address: string): ReadonlyArray<number> => {
  const [head = "", tail] = address.split("::")
  const read = (part: string): ReadonlyArray<number> =>
    part === ""
      ? []
      : part.split(":").flatMap((group) => {
          if (!group.includes(".")) return [Number.parseInt(group, 16)]
          const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number)
          return [a * 256 + b, c * 256 + d]
        })
  const left = read(head)
  const right = tail === undefined ? [] : read(tail)
  return [...left, ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => 0), ...right]
}

const dotted = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join(".")

/**
 * The IPv4 address that an IPv6 address stands for. Whoever has one IPv4 address has all these as well, 65,536 networks in the
 * case of 6to4, and they are not more than one client.
 */
const embeddedIn = (groups: ReadonlyArray<number>): string | undefined => {
  const [first = 0, second = 0, third = 0, , , sixth = 0, high = 0, low = 0] = groups
  const isZero = (from: number, to: number): boolean => groups.slice(from, to).every((group) => group === 0)
  // ::ffff:0:0/96, of which ::ffff:7f00:1 is an address, and NAT64, RFC 6052.
  const isMapped = isZero(0, 5) && sixth === 0xffff
  const isTranslated = first === 0x64 && second === 0xff9b && isZero(2, 6)
  if (isMapped || isTranslated) return dotted(high, low)
  // 6to4, RFC 3056.
  if (first === 0x2002) return dotted(second, third)
  // Teredo, RFC 4380, has it inverted.
  if (first === 0x2001 && second === 0) return dotted(high ^ 0xffff, low ^ 0xffff)
  return undefined
}

/** One machine, as far as an address in canonical form shows: an IPv4 address, or 64 bits of IPv6. Other text is itself. */
export const hostOf = (address: string): string => {
  if (!address.includes(":")) return address
  const groups = groupsOf(address)
  const hex = groups.slice(0, 4).map((group) => group.toString(16))
  return embeddedIn(groups) ?? `${hex.join(":")}::/64`
}

/**
 * The networks that a host as `hostOf` names it belongs to, the widest first, and at last the host itself. An owner of
 * addresses has many hosts: a provider gives its customers a /56 or /48 of IPv6, and has a /32 itself. IPv4 is
 * handed out in blocks of /24 and more.
 */
export const networksOf = (host: string): ReadonlyArray<string> => {
  const [first = "", second = "", third = "", fourth = ""] = host.split(host.includes(":") ? ":" : ".", 4)
  if (fourth === "") return [host]
  if (!host.includes(":")) return [`${first}.${second}`, `${first}.${second}.${third}`, host]
  const wide = `${first}:${second}`
  return [wide, `${wide}:${third}`, `${wide}:${third}:${fourth.padStart(4, "0").slice(0, 2)}/56`, host]
}

/** The host in any spelling that a socket or a configuration gives it. */
export const hostGroup = (address: string): string => hostOf(plain(address) ?? address)
