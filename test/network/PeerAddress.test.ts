import { describe, expect, it } from "@effect/vitest"
import { Option } from "effect"
import * as PeerAddress from "../../src/network/PeerAddress.js"

const id = "12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN"

const canonical = (text: string) => Option.getOrNull(Option.map(PeerAddress.parse(text), PeerAddress.toMultiaddr))

describe("PeerAddress", () => {
  it.each([
    ["203.0.113.7:9333", "/ip4/203.0.113.7/tcp/9333"],
    ["[2001:db8::1]:9333", "/ip6/2001:db8::1/tcp/9333"],
    ["node.example:1", "/dns/node.example/tcp/1"],
    ["localhost:65535", "/dns/localhost/tcp/65535"],
    ["/ip4/203.0.113.7/tcp/9333", "/ip4/203.0.113.7/tcp/9333"],
    ["/ip6/::1/tcp/9333", "/ip6/::1/tcp/9333"],
    [`/dns4/node.example/tcp/9333/p2p/${id}`, `/dns4/node.example/tcp/9333/p2p/${id}`],
    ["/dns6/node.example/tcp/9333", "/dns6/node.example/tcp/9333"],
  ])("%s is the multiaddr %s", (text, expected) => {
    expect(canonical(text)).toBe(expected)
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
    "http://node.example:9333",
    "node .example:9333",
    "/ip4/node.example/tcp/9333",
    "/ip6/10.0.0.1/tcp/9333",
    "/dns/10.0.0.1/tcp/9333",
    "/ip4/10.0.0.1/udp/9333",
    "/ip4/10.0.0.1/tcp/9333/",
    "/ip4/10.0.0.1/tcp/9333/p2p/short",
    "/ip4/10.0.0.1/tcp/9333/ws",
  ])("%j is not a peer's address", (text) => {
    expect(canonical(text)).toBeNull()
  })
})
