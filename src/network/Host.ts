import { isIP } from "node:net"

/** How a host is written: an IPv4 address, an IPv6 address, or a name that DNS resolves. */
export type Kind = "ip4" | "ip6" | "dns"

const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i

/** A last label of digits is a mistyped address (`10.0.0.256`), which DNS must not be asked about. */
const isName = (text: string): boolean => {
  const labels = text.replace(/\.$/, "").split(".")
  return text.length <= 253 && labels.every((part) => label.test(part)) && !/^\d+$/.test(labels.at(-1) ?? "")
}

/** The kind of host in the text; undefined if it is none (a port, a scheme, brackets or spaces make it none). */
export const kindOf = (text: string): Kind | undefined => {
  const version = isIP(text)
  if (version === 4) return "ip4"
  if (version === 6) return "ip6"
  return isName(text) ? "dns" : undefined
}
