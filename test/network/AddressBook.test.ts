import { Option } from "effect"
import { describe, expect, it } from "vitest"
import type { PeerId } from "../../src/consensus/replica/Peer.js"
import { AddressBook, isPrivate, TOLD_AT_ONCE } from "../../src/network/AddressBook.js"
import * as PeerAddress from "../../src/network/PeerAddress.js"

const ID = "12D3KooWAm2f767p7qUPRAuUkSBEtaE7v2y7jLzRqECLBKA5oEZJ"
const NOBODY = () => false
const book = () => new AddressBook(() => 0.5)
const parsed = (text: string) => Option.getOrThrow(PeerAddress.parse(text))
const due = (of: AddressBook, now: number) => of.due(now, NOBODY).map(({ address }) => address)
const at = (n: number, id = ID) => `/ip4/203.0.113.${n}/tcp/9333/p2p/${id}`

describe("the address book", () => {
  it("tries the operator's word first, then who was met, then hearsay", () => {
    const addresses = book()
    addresses.told([at(1)], "203.0.113.9")
    addresses.met("/ip4/203.0.113.2/tcp/9333", ID as PeerId)
    addresses.name(parsed("203.0.113.3:9333"))
    expect(due(addresses, 0)).toEqual([3, 2, 1].map((n) => `/ip4/203.0.113.${n}/tcp/9333`))
  })

  it("waits longer after each failure, never gives up on what was named, and forgets hearsay", () => {
    const addresses = book()
    addresses.name(parsed("203.0.113.3:9333"))
    addresses.told([at(1)], "203.0.113.9")
    let now = 0
    for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      for (const address of due(addresses, now)) addresses.failed(address, now)
      expect(due(addresses, now + wait - 1)).not.toContain("/ip4/203.0.113.3/tcp/9333")
      now += wait
      expect(due(addresses, now)).toContain("/ip4/203.0.113.3/tcp/9333")
    }
    expect(addresses.all.map(({ origin }) => origin)).toEqual(["named"])
  })

  it("does not try who is connected, or is being tried, and comes back soon to who was lost", () => {
    const addresses = book()
    addresses.name(parsed("203.0.113.3:9333"))
    const [place] = addresses.due(0, NOBODY)
    if (place === undefined) return expect.unreachable()
    addresses.trying(place.address, 0)
    expect(due(addresses, 5_000)).toEqual([])
    addresses.answered(place.address, ID as PeerId)
    expect(addresses.due(100_000, ({ peer }) => peer === ID)).toEqual([])
    addresses.lost(ID as PeerId, 100_000)
    expect(due(addresses, 100_000)).toEqual([])
    expect(due(addresses, 101_000)).toEqual([place.address])
    addresses.forget(place.address)
    expect(addresses.all).toEqual([])
  })

  it("believes no names, no nonsense and no private addresses from outside, and only so many at once", () => {
    const addresses = book()
    const nonsense = ["", "x".repeat(1_000), "/dns/evil.example/tcp/1", `/dns4/evil.example/tcp/1/p2p/${ID}`]
    const house = [`/ip4/127.0.0.1/tcp/1/p2p/${ID}`, `/ip4/10.0.0.1/tcp/1/p2p/${ID}`, `/ip6/fd00::1/tcp/1/p2p/${ID}`]
    addresses.told([...nonsense, ...house, "/ip4/203.0.113.1/tcp/9333"], "203.0.113.9")
    expect(addresses.all).toEqual([])
    addresses.told(house, "192.168.1.5")
    expect(addresses.all).toHaveLength(3)
    addresses.told(
      Array.from({ length: 200 }, (_, n) => at(n)),
      "203.0.113.9",
    )
    expect(addresses.all).toHaveLength(3 + TOLD_AT_ONCE)
  })

  it("is bounded, and hearsay pushes out neither who was met nor what was named", () => {
    const addresses = book()
    addresses.name(parsed("203.0.113.3:9333"))
    addresses.met("/ip4/203.0.113.2/tcp/9333", ID as PeerId)
    for (let n = 0; n < 60; n++) {
      const told = Array.from({ length: TOLD_AT_ONCE }, (_, k) => `/ip4/198.51.${n}.${k}/tcp/9333/p2p/${ID}`)
      addresses.told(told, "203.0.113.9")
    }
    expect(addresses.all).toHaveLength(512)
    expect(addresses.all.filter(({ origin }) => origin !== "told")).toHaveLength(2)
  })

  it("knows the addresses of a house", () => {
    for (const host of [
      "127.0.0.1",
      "10.1.2.3",
      "192.168.0.1",
      "172.16.0.1",
      "172.31.9.9",
      "::1",
      "fd12::1",
      "fe80::1",
    ]) {
      expect([host, isPrivate(host)]).toEqual([host, true])
    }
    for (const host of ["8.8.8.8", "172.32.0.1", "192.169.0.1", "2001:db8::1"]) {
      expect([host, isPrivate(host)]).toEqual([host, false])
    }
  })
})
