import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { AddressBook, isPrivate, TOLD_AT_ONCE } from "../../src/network/AddressBook.js"
import * as PeerAddress from "../../src/network/PeerAddress.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"

const ID = "ab".repeat(32)
const NOBODY = () => false
const MEMBER = "aa".repeat(20) as Address
const OTHER = "bb".repeat(20) as Address
const book = () =>
  new AddressBook(
    () => 0.5,
    (validator) => validator === MEMBER,
  )
const stranger = (peer = ID) => ({ peer: peer as PeerId, validator: null })
const member = (peer = ID) => ({ peer: peer as PeerId, validator: MEMBER })
/** Other peer ids. */
const idOf = (n: number) => `${ID.slice(0, -4)}${String(n).padStart(4, "0")}`
const host = (n: number) => `203.0.113.${n}:9333`
/** Lets every due address fail, for some days. */
const failAll = (of: AddressBook, tries: number) => {
  for (let n = 0, now = 0; n < tries; n++, now += 700_000) {
    for (const place of of.due(now, NOBODY)) of.failed(place, now)
  }
}
const parsed = (text: string) => Option.getOrThrow(PeerAddress.parse(text))
const due = (of: AddressBook, now: number) => of.due(now, NOBODY).map(({ address }) => address)
const at = (n: number, id = ID) => `${id}@203.0.113.${n}:9333`

describe("the address book", () => {
  it("tries addresses the operator named first, then peers it met, then hearsay", () => {
    const addresses = book()
    addresses.learn([at(1)], "203.0.113.9")
    addresses.met("203.0.113.2:9333", stranger())
    addresses.name(parsed("203.0.113.3:9333"))
    expect(due(addresses, 0)).toEqual([3, 2, 1].map((n) => `203.0.113.${n}:9333`))
  })

  it("waits longer after each failure, never drops named addresses, and drops hearsay", () => {
    const addresses = book()
    addresses.name(parsed("203.0.113.3:9333"))
    addresses.learn([at(1)], "203.0.113.9")
    let now = 0
    for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      for (const place of addresses.due(now, NOBODY)) addresses.failed(place, now)
      expect(due(addresses, now + wait - 1)).not.toContain("203.0.113.3:9333")
      now += wait
      expect(due(addresses, now)).toContain("203.0.113.3:9333")
    }
    expect(addresses.all.map(({ origin }) => origin)).toEqual(["named"])
  })

  it("skips peers that are connected or being dialled, and soon retries lost ones", () => {
    const addresses = book()
    addresses.name(parsed("203.0.113.3:9333"))
    const [place] = addresses.due(0, NOBODY)
    if (place === undefined) return expect.unreachable()
    addresses.trying(place, 0)
    expect(due(addresses, 5_000)).toEqual([])
    addresses.answered(place, ID as PeerId)
    expect(addresses.due(100_000, ({ peer }) => peer === ID)).toEqual([])
    addresses.lost(ID as PeerId, 100_000)
    expect(due(addresses, 100_000)).toEqual([])
    expect(due(addresses, 101_000)).toEqual([place.address])
    addresses.forget(place)
    expect(addresses.all).toEqual([])
  })

  it("refuses names, nonsense and private addresses from peers, and takes a limited number at once", () => {
    const addresses = book()
    const nonsense = ["", "x".repeat(1_000), "evil.example:1", `${ID}@evil.example:1`]
    const house = [`${ID}@127.0.0.1:1`, `${ID}@10.0.0.1:1`, `${ID}@[fd00::1]:1`]
    addresses.learn([...nonsense, ...house, "203.0.113.1:9333"], "203.0.113.9")
    expect(addresses.all).toEqual([])
    addresses.learn(house, "192.168.1.5")
    expect(addresses.all).toHaveLength(3)
    addresses.learn(
      Array.from({ length: 200 }, (_, n) => at(n, idOf(n))),
      "203.0.113.9",
    )
    expect(addresses.all).toHaveLength(3 + TOLD_AT_ONCE)
  })

  it("is bounded, and hearsay displaces neither met peers nor named addresses", () => {
    const addresses = book()
    addresses.name(parsed("203.0.113.3:9333"))
    addresses.met("203.0.113.2:9333", stranger())
    for (let n = 0; n < 60; n++) {
      const told = Array.from({ length: TOLD_AT_ONCE }, (_, k) => `${idOf(n * TOLD_AT_ONCE + k)}@198.51.${n}.${k}:9333`)
      addresses.learn(told, "203.0.113.9")
    }
    expect(addresses.all).toHaveLength(1 + 512)
    expect(addresses.all.filter(({ origin }) => origin !== "told")).toHaveLength(2)
  })

  it("recognises private addresses", () => {
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

describe("a member of the committee in the address book", () => {
  it("is dialled at least every 75 seconds while it has its seat", () => {
    let seats = [MEMBER]
    const addresses = new AddressBook(
      () => 1,
      (validator) => seats.includes(validator),
    )
    addresses.came(host(1), member())
    failAll(addresses, 1_000)
    expect(addresses.all.map(({ origin }) => origin)).toEqual(["member"])
    const [place] = addresses.due(1e9, NOBODY)
    if (place === undefined) return expect.unreachable()
    addresses.failed(place, 1e9)
    expect(due(addresses, 1e9 + 75_000)).toEqual([host(1)])
    seats = []
    addresses.failed(place, 1e9)
    expect(addresses.all).toEqual([])
  })

  it("comes before peers that were met, and hearsay of its peer comes next", () => {
    const addresses = book()
    addresses.met(host(1), stranger(idOf(1)))
    addresses.learn([at(2), at(3, idOf(3))], "203.0.113.9")
    addresses.came(host(4), member())
    expect(due(addresses, 0)).toEqual([4, 2, 1, 3].map(host))
  })

  it("keeps its address despite all that strangers report, do or prove of themselves", () => {
    const addresses = book()
    // Another peer reports a different id for its address.
    addresses.learn([at(1, idOf(1))], "203.0.113.1")
    addresses.came(host(1), stranger(idOf(2)))
    addresses.came(host(1), { peer: idOf(3) as PeerId, validator: OTHER })
    addresses.came(host(1), member())
    for (let n = 0; n < 2_000; n++) {
      const address = `198.51.${n >> 8}.${n & 255}:9333`
      addresses.learn([`${ID}@${address}`], "198.51.0.1")
      addresses.met(address, stranger(idOf(n)))
      addresses.came(address, { peer: idOf(n) as PeerId, validator: OTHER })
    }
    failAll(addresses, 30)
    expect(addresses.all).toMatchObject([{ target: at(1), peer: ID, validator: MEMBER, origin: "member" }])
  })

  it("keeps its first address while a relay shows others, and has at most five", () => {
    const addresses = book()
    addresses.came(host(1), member())
    addresses.met(host(2), member())
    for (let n = 10; n < 200; n++) {
      failAll(addresses, 3)
      addresses.came(host(n), member())
      addresses.met(`198.51.100.${n}:9333`, member())
    }
    const kept = addresses.all.map(({ address }) => address)
    expect(kept).toHaveLength(5)
    expect(kept).toEqual(expect.arrayContaining([host(1), host(2), host(199), "198.51.100.199:9333"]))
  })

  it("is not first if it is known only from hearsay", () => {
    const addresses = book()
    addresses.learn([at(9)], "203.0.113.9")
    addresses.met(host(1), member())
    for (const n of [9, 10, 11, 12]) addresses.met(host(n), member())
    expect(addresses.all.map(({ address }) => address)).toContain(host(1))
  })

  it("can get a new node key, at its own address and where the operator named it without one", () => {
    const addresses = book()
    addresses.met(host(1), member())
    addresses.met(host(1), member(idOf(1)))
    expect(addresses.all.map(({ target }) => target)).toEqual([at(1, idOf(1))])
    addresses.name(parsed("203.0.113.2:9333"))
    addresses.met(host(2), member())
    expect(addresses.due(0, NOBODY).map(({ target }) => target)).toContain(host(2))
    addresses.missed(host(2), idOf(4) as PeerId, 0)
    expect(due(addresses, 0)).not.toContain(host(2))
  })

  it("is remembered beside peers that were met, over a restart and a long absence", () => {
    const addresses = book()
    for (let n = 0; n < 200; n++) addresses.met(host(n), stranger(idOf(n)))
    addresses.came("198.51.100.1:9333", member())
    expect(addresses.remembered).toHaveLength(129)
    const next = book()
    next.recall([...addresses.remembered, "", "nonsense", `${ID}@evil.example:1`, `${at(1)} x`])
    expect(next.all).toHaveLength(130)
    failAll(next, 30)
    expect(next.all).toMatchObject([{ address: "198.51.100.1:9333", validator: MEMBER, origin: "member" }])
  })

  it("cannot be displaced from hearsay by other addresses reported for it", () => {
    const addresses = book()
    addresses.learn(
      [1, 2, 3, 4, 5, 6].map((n) => at(n)),
      "203.0.113.9",
    )
    expect(due(addresses, 0)).toEqual([1, 2, 3, 4].map(host))
    addresses.failed({ target: at(2) }, 0)
    addresses.learn([at(7)], "203.0.113.8")
    expect(due(addresses, 0)).toEqual([1, 3, 4, 7].map(host))
  })
})
