import { BlockList, isIP } from "node:net"
import { Option } from "effect"

/** A range of IP addresses: those that share the first `prefix` bits with `address`. */
export interface Cidr {
  readonly family: "ipv4" | "ipv6"
  readonly address: string
  readonly prefix: number
}

/** The accepted forms, for errors and help texts. */
export const expected = "an IP address or a range such as 10.0.0.0/8 or fd00::/8"

/** Parses `address/prefix`; a single address is a range of one. */
export const parse = (text: string): Option.Option<Cidr> => {
  const [, address = "", digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0 || address.includes("%")) return Option.none()
  const bits = version === 4 ? 32 : 128
  const prefix = digits === undefined ? bits : Number(digits)
  return prefix > bits ? Option.none() : Option.some({ family: version === 4 ? "ipv4" : "ipv6", address, prefix })
}

/**
 * A test for "is this address in one of these ranges", built once and called for each request. A dual-stack socket
 * reports IPv4 addresses in IPv6 form (`::ffff:10.0.0.1`), which match as the IPv4 addresses they are.
 */
export const matcher = (ranges: ReadonlyArray<Cidr>): ((address: string) => boolean) => {
  const list = new BlockList()
  for (const range of ranges) list.addSubnet(range.address, range.prefix, range.family)
  return (address) => {
    const version = isIP(address)
    return version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6")
  }
}
