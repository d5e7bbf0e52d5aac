import { describe, expect, it } from "@effect/vitest"
import { Option } from "effect"
import * as PeerAddress from "../../src/network/PeerAddress.js"

const key = "0a".repeat(32)

const canonical = (text: string) => Option.getOrNull(Option.map(PeerAddress.parse(text), PeerAddress.toText))

describe("PeerAddress", () => {
  it.each([
    "203.0.113.7:9333",
    "[2001:db8::1]:9333",
    "node.example:1",
    "localhost:65535",
    `${key}@203.0.113.7:9333`,
    `${key}@[::1]:9333`,
    `${key}@node.example:9333`,
  ])("accepts %s", (text) => {
    expect(canonical(text)).toBe(text)
  })

  it("has its key in lower case", () => {
    expect(canonical(`${key.toUpperCase()}@node.example:1`)).toBe(`${key}@node.example:1`)
  })

  it.each([
    "",
    "node.example",
    "node.example:",
    "node.example:0",
    "node.example:65536",
    "10.0.0.256:9333",
    "2001:db8::1:9333",
    "[10.0.0.1]:9333",
    "[2001:db8::1]",
    "http://node.example:9333",
    "node .example:9333",
    "@node.example:9333",
    "short@node.example:9333",
    `${key}0@node.example:9333`,
    `${key}@`,
    `${key}@${key}@node.example:9333`,
    `${key}@2001:db8::1:9333`,
    "/ip4/203.0.113.7/tcp/9333",
  ])("rejects %j", (text) => {
    expect(canonical(text)).toBeNull()
  })
})
