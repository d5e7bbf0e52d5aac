import { describe, expect, it } from "@effect/vitest"
import { Option } from "effect"
import * as Cidr from "../../src/node/start/Cidr.js"

const contains = (range: string, address: string) => Cidr.matcher([Option.getOrThrow(Cidr.parse(range))])(address)

describe("Cidr", () => {
  it.each([
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["10.1.2.3/8", "10.9.9.9", true],
    ["127.0.0.1", "127.0.0.1", true],
    ["127.0.0.1", "127.0.0.2", false],
    ["0.0.0.0/0", "198.51.100.1", true],
    ["fd00::/8", "fd12::1", true],
    ["fd00::/8", "fe80::1", false],
    ["::1", "::1", true],
    ["10.0.0.0/8", "not an address", false],
  ])("%s contains %s: %s", (range, address, expected) => {
    expect(contains(range, address)).toBe(expected)
  })

  it("treats an IPv4 address written as IPv6 as that IPv4 address", () => {
    expect(contains("10.0.0.0/8", "::ffff:10.0.0.1")).toBe(true)
    expect(contains("10.0.0.0/8", "::ffff:11.0.0.1")).toBe(false)
  })

  it("has a prefix even when it was read without one", () => {
    expect(Cidr.parse("::1")).toEqual(Option.some({ family: "ipv6", address: "::1", prefix: 128 }))
    expect(Cidr.parse("10.0.0.1")).toEqual(Option.some({ family: "ipv4", address: "10.0.0.1", prefix: 32 }))
  })

  it.each(["", "10.0.0.0/33", "::/129", "10.0.0/8", "10.0.0.0/", "10.0.0.0/-1", "proxy.example", "fe80::1%eth0"])(
    "%j is not a range",
    (text) => {
      expect(Cidr.parse(text)).toEqual(Option.none())
    },
  )
})
