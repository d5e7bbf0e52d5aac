import { isIP } from "node:net"

export type Kind = "ip4" | "ip6" | "dns"

const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i

/** A numeric last label is a mistyped address (`10.0.0.256`), which must not reach DNS. */
const isName = (text: string): boolean => {
  const labels = text.replace(/\.$/, "").split(".")
  return text.length <= 253 && labels.every((part) => label.test(part)) && !/^\d+$/.test(labels.at(-1) ?? "")
}

/** The kind of host; undefined for other text (with a port, a scheme, brackets or spaces). */
export const kindOf = (text: string): Kind | undefined => {
  const version = isIP(text)
  if (version === 4) return "ip4"
  if (version === 6) return "ip6"
  return isName(text) ? "dns" : undefined
}
