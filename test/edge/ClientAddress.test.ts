import { Option } from "effect"
import { describe, expect, it } from "vitest"
import * as ClientAddress from "../../src/edge/admission/ClientAddress.js"
import * as AddressGroup from "../../src/network/AddressGroup.js"
import * as Cidr from "../../src/node/start/Cidr.js"

const clientOf = (
  peer: string | undefined,
  headers: Readonly<Record<string, string>> = {},
  trusted: ReadonlyArray<string> = [],
  clientIpHeader?: string,
): string =>
  ClientAddress.reader({
    trustedProxies: trusted.map((text) => Option.getOrThrow(Cidr.parse(text))),
    clientIpHeader: Option.fromNullable(clientIpHeader),
  })({ socket: { remoteAddress: peer }, headers })

const forwarded = (chain: string) => ({ "x-forwarded-for": chain })

describe("without a trusted proxy", () => {
  it("takes the peer as the client, regardless of headers", () => {
    expect(clientOf("203.0.113.7", forwarded("198.51.100.1"))).toBe("203.0.113.7")
    expect(clientOf("203.0.113.7", { "x-real-ip": "198.51.100.1" }, [], "x-real-ip")).toBe("203.0.113.7")
  })

  it("takes an IPv4 address as one client in every spelling", () => {
    for (const peer of ["203.0.113.7", "::ffff:203.0.113.7", "::FFFF:203.0.113.7", "::ffff:cb00:7107"]) {
      expect(clientOf(peer)).toBe("203.0.113.7")
    }
  })

  it("distinguishes IPv6 clients by their first 64 bits", () => {
    expect(clientOf("2001:db8:0:1::1")).toBe("2001:db8:0:1::/64")
    expect(clientOf("2001:0DB8:0000:0001:ffff:ffff:ffff:ffff")).toBe("2001:db8:0:1::/64")
    expect(clientOf("2001:db8:0:2::1")).toBe("2001:db8:0:2::/64")
    expect(clientOf("fe80::1%eth0")).toBe("fe80:0:0:0::/64")
    expect(clientOf("::1")).toBe("0:0:0:0::/64")
    expect(clientOf("64:ff9b:1::192.0.2.1")).toBe("64:ff9b:1:0::/64")
  })

  it("takes an IPv6 address that embeds an IPv4 address as the client of that", () => {
    for (const peer of [
      "64:ff9b::203.0.113.7",
      "64:ff9b::cb00:7107",
      "2002:cb00:7107::1",
      "2002:cb00:7107:ffff::1",
      "2001:0:4136:e378:8000:63bf:34ff:8ef8",
      "2001::34ff:8ef8",
    ]) {
      expect(clientOf(peer), peer).toBe("203.0.113.7")
    }
    expect(clientOf("2001:1::34ff:8ef8")).toBe("2001:1:0:0::/64")
  })

  it("assigns a client to nested networks: 16 and 24 bits of IPv4; 32, 48 and 56 of IPv6", () => {
    const networksOf = (peer: string) => AddressGroup.networksOf(clientOf(peer))
    const shared = (a: string, b: string) => {
      const others = networksOf(b)
      return networksOf(a).filter((network, i) => network === others[i]).length
    }
    expect(["203.0.113.7", "203.0.113.8", "203.0.9.7", "203.1.113.7"].map((b) => shared("203.0.113.7", b))).toEqual([
      3, 2, 1, 0,
    ])
    const ipv6 = [
      "2001:db8:1:100::1",
      "2001:db8:1:1ff::1",
      "2001:db8:1:200::1",
      "2001:db8:2:100::1",
      "2001:db9:1:100::1",
    ]
    expect(ipv6.map((b) => shared("2001:db8:1:100::9", b))).toEqual([4, 3, 2, 1, 0])
    expect(shared("2001:db8:1:1::1", "2001:db8:1:ff::1")).toBe(3)
    expect(networksOf("::1")).toHaveLength(4)
    expect(AddressGroup.networksOf(clientOf(undefined))).toEqual(["unknown"])
  })

  it("counts requests of closed sockets as one client", () => {
    expect(clientOf(undefined)).toBe("unknown")
  })
})

describe("behind trusted proxies", () => {
  const proxies = ["10.0.0.0/8", "fd00::/8"]

  it("takes the right-most untrusted address as the client", () => {
    expect(clientOf("10.0.0.1", forwarded("198.51.100.1"), proxies)).toBe("198.51.100.1")
    expect(clientOf("10.0.0.1", forwarded("198.51.100.1, 203.0.113.7, 10.1.1.1"), proxies)).toBe("203.0.113.7")
    expect(clientOf("::ffff:10.0.0.1", forwarded("6.6.6.6,203.0.113.7 , fd00::2"), proxies)).toBe("203.0.113.7")
  })

  it("ignores a header that the client sent itself", () => {
    for (const forged of ["1.1.1.1", "10.9.9.9", "garbage", ""]) {
      expect(clientOf("10.0.0.1", forwarded(`${forged}, 203.0.113.7`), proxies)).toBe("203.0.113.7")
    }
  })

  it("ignores the header of an untrusted peer", () => {
    expect(clientOf("203.0.113.7", forwarded("198.51.100.1"), proxies)).toBe("203.0.113.7")
  })

  it("falls back to the last known hop without a usable header", () => {
    expect(clientOf("10.0.0.1", {}, proxies)).toBe("10.0.0.1")
    expect(clientOf("10.0.0.1", forwarded("not an address"), proxies)).toBe("10.0.0.1")
    expect(clientOf("10.0.0.1", forwarded("203.0.113.7, not an address, 10.0.0.2"), proxies)).toBe("10.0.0.2")
    expect(clientOf("10.0.0.1", forwarded("10.0.0.3, 10.0.0.2"), proxies)).toBe("10.0.0.3")
  })

  it("strips ports and brackets from the address", () => {
    expect(clientOf("10.0.0.1", forwarded("203.0.113.7:5123"), proxies)).toBe("203.0.113.7")
    expect(clientOf("10.0.0.1", forwarded("[2001:db8::7]:5123"), proxies)).toBe("2001:db8:0:0::/64")
  })

  it("reads only the configured header instead of X-Forwarded-For", () => {
    const headers = { "cf-connecting-ip": "203.0.113.7", ...forwarded("198.51.100.1") }
    expect(clientOf("10.0.0.1", headers, proxies, "cf-connecting-ip")).toBe("203.0.113.7")
    expect(clientOf("10.0.0.1", forwarded("198.51.100.1"), proxies, "cf-connecting-ip")).toBe("10.0.0.1")
    expect(clientOf("10.0.0.1", { "cf-connecting-ip": "6.6.6.6, 203.0.113.7" }, proxies, "cf-connecting-ip")).toBe(
      "203.0.113.7",
    )
  })
})
