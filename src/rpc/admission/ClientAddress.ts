/** The client as limits count it: an IPv4 address, or the 64 bits of IPv6 that one customer of a provider gets. */
import { isIPv4, isIPv6 } from "node:net"
import { Option } from "effect"
import * as Cidr from "../../node/start/Cidr.js"

export interface Settings {
  /** The proxies whose statement about the client is believed. */
  readonly trustedProxies: ReadonlyArray<Cidr.Cidr>
  /** Lower case. When given, `X-Forwarded-For` is not read, since a proxy that sets the one may pass on the other. */
  readonly clientIpHeader: Option.Option<string>
}

/** The part of a request that is read. */
export interface Asking {
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}

/** Repetitions joined by commas. */
const headerOf = ({ headers }: Asking, name: string): string => headers[name]?.toString() ?? ""

const MAPPED = "::ffff:"

/** An address in one canonical form; none for anything else. */
const plain = (text: string): string | undefined => {
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

const keyOf = (address: string): string => {
  if (!address.includes(":")) return address
  const groups = groupsOf(address)
  const hex = groups.slice(0, 4).map((group) => group.toString(16))
  return embeddedIn(groups) ?? `${hex.join(":")}::/64`
}

/**
 * The networks that a client as `reader` names it belongs to, the widest first, and at last the client itself. An owner of
 * addresses has many clients: a provider gives its customers a /56 or /48 of IPv6, and has a /32 itself. IPv4 is
 * handed out in blocks of /24 and more.
 */
export const networksOf = (client: string): ReadonlyArray<string> => {
  const [first = "", second = "", third = "", fourth = ""] = client.split(client.includes(":") ? ":" : ".", 4)
  if (fourth === "") return [client]
  if (!client.includes(":")) return [`${first}.${second}`, `${first}.${second}.${third}`, client]
  const wide = `${first}:${second}`
  return [wide, `${wide}:${third}`, `${wide}:${third}:${fourth.padStart(4, "0").slice(0, 2)}/56`, client]
}

/** From the right, past all trusted proxies: the first address that only an honest proxy can have written. */
const behindProxies = (chain: string, peer: string, isTrusted: (address: string) => boolean): string => {
  let client = peer
  for (const hop of chain.split(",").reverse()) {
    const address = plain(hop)
    // Text that is no address was written by someone behind the last hop that is one.
    if (address === undefined) return client
    client = address
    if (!isTrusted(address)) return client
  }
  return client
}

/** The client that a socket belongs to. A closed socket has no address any more; all of these count as one client. */
export const ofSocket = ({ remoteAddress }: Asking["socket"]): string =>
  remoteAddress === undefined ? "unknown" : keyOf(plain(remoteAddress) ?? remoteAddress)

/** Whether a socket is one of a trusted proxy, behind which there may be any number of clients. */
export const isProxy = ({ trustedProxies }: Settings): ((socket: Asking["socket"]) => boolean) => {
  const isTrusted = Cidr.matcher(trustedProxies)
  return ({ remoteAddress }) => trustedProxies.length > 0 && isTrusted(plain(remoteAddress ?? "") ?? "")
}

/** Whether a trusted proxy says on whose behalf it asks. */
export const isForwarded = (settings: Settings): ((request: Asking) => boolean) => {
  const ofProxy = isProxy(settings)
  const header = Option.getOrElse(settings.clientIpHeader, () => "x-forwarded-for")
  return (request) => ofProxy(request.socket) && headerOf(request, header) !== ""
}

/** How to tell a request's client, made once from the settings. */
export const reader = (settings: Settings): ((request: Asking) => string) => {
  const isTrusted = Cidr.matcher(settings.trustedProxies)
  const named = Option.getOrUndefined(settings.clientIpHeader)
  const hasProxies = settings.trustedProxies.length > 0

  const throughProxy = (peer: string, request: Asking): string => {
    if (named === undefined) return behindProxies(headerOf(request, "x-forwarded-for"), peer, isTrusted)
    return plain(headerOf(request, named).split(",").at(-1) ?? "") ?? peer
  }

  return (request) => {
    const peer = request.socket.remoteAddress
    if (!hasProxies || peer === undefined) return ofSocket(request.socket)
    const address = plain(peer) ?? peer
    return keyOf(isTrusted(address) ? throughProxy(address, request) : address)
  }
}
