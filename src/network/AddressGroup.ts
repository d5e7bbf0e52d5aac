/**
 * Groups addresses that one party can control, so that limits for peers and clients count owners. The holder of one
 * address in an IPv6 /64 has all of them, and ranges are for rent.
 */
import { isIPv4, isIPv6 } from "node:net"

const MAPPED = "::ffff:"

/** The canonical form of an address; undefined if the text is not an address. */
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

/** The eight groups of an IPv6 address as numbers; a dotted tail counts as two. */
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
 * The IPv4 address embedded in an IPv6 address. Its holder also controls every IPv6 form of it (65,536 networks with
 * 6to4), so all of them count as one client.
 */
const embeddedIn = (groups: ReadonlyArray<number>): string | undefined => {
  const [first = 0, second = 0, third = 0, , , sixth = 0, high = 0, low = 0] = groups
  const isZero = (from: number, to: number): boolean => groups.slice(from, to).every((group) => group === 0)
  // IPv4-mapped (::ffff:0:0/96) and NAT64 (RFC 6052).
  const isMapped = isZero(0, 5) && sixth === 0xffff
  const isTranslated = first === 0x64 && second === 0xff9b && isZero(2, 6)
  if (isMapped || isTranslated) return dotted(high, low)
  // 6to4, RFC 3056.
  if (first === 0x2002) return dotted(second, third)
  // Teredo (RFC 4380) stores the address inverted.
  if (first === 0x2001 && second === 0) return dotted(high ^ 0xffff, low ^ 0xffff)
  return undefined
}

/** The machine behind a canonical address: an IPv4 address or an IPv6 /64. Other text is returned unchanged. */
export const hostOf = (address: string): string => {
  if (!address.includes(":")) return address
  const groups = groupsOf(address)
  const hex = groups.slice(0, 4).map((group) => group.toString(16))
  return embeddedIn(groups) ?? `${hex.join(":")}::/64`
}

/**
 * The networks that contain a host named by `hostOf`, widest first, ending with the host itself. One owner has many
 * hosts: providers hold an IPv6 /32 and assign customers a /48 or /56; IPv4 is assigned in blocks of /24 and larger.
 */
export const networksOf = (host: string): ReadonlyArray<string> => {
  const [first = "", second = "", third = "", fourth = ""] = host.split(host.includes(":") ? ":" : ".", 4)
  if (fourth === "") return [host]
  if (!host.includes(":")) return [`${first}.${second}`, `${first}.${second}.${third}`, host]
  const wide = `${first}:${second}`
  return [wide, `${wide}:${third}`, `${wide}:${third}:${fourth.padStart(4, "0").slice(0, 2)}/56`, host]
}

/** The host of an address, in any spelling used by a socket or a configuration. */
export const hostGroup = (address: string): string => hostOf(plain(address) ?? address)

/** The networks that contain an address, in any spelling used by a socket or a configuration. */
export const networksAround = (address: string): ReadonlyArray<string> => networksOf(hostGroup(address))
