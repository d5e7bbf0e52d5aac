import { describe, expect, it } from "vitest"
import { networksAround } from "../../src/network/AddressGroup.js"
import * as ConnectionSlots from "../../src/network/ConnectionSlots.js"
import type { Standing } from "../../src/network/Standing.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"

const NOW = 1_000_000

const held = (n: number, host: string, changes: Partial<ConnectionSlots.Held> = {}): ConnectionSlots.Held => {
  return {
    peer: `peer-${n}` as PeerId,
    networks: networksAround(host),
    connectedSince: NOW - 1_000,
    news: 1,
    points: 0,
    ...changes,
  }
}

const judge = (all: ReadonlyArray<ConnectionSlots.Held>, standing: Standing, host: string, now: number) =>
  ConnectionSlots.judge(all, standing, networksAround(host), now)

const open = (all: ReadonlyArray<ConnectionSlots.Ungreeted>, host: string, now: number) =>
  ConnectionSlots.open(all, networksAround(host), now)

const many = (count: number, hostOf: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => held(n, hostOf(n)))

/** Each in a neighbourhood of its own. */
const apart = (n: number) => `${11 + n}.0.0.1`

describe("inbound slots", () => {
  it("are reserved for members and named peers, however many others have come", () => {
    const full = many(ConnectionSlots.STRANGERS, apart)
    expect(judge(full, "member", "203.0.113.7", NOW)).toEqual({ _tag: "Admitted" })
    expect(judge(full, "named", "203.0.113.7", NOW)).toEqual({ _tag: "Admitted" })
  })

  it("are available to strangers until taken", () => {
    expect(judge(many(ConnectionSlots.STRANGERS - 1, apart), "stranger", "203.0.113.7", NOW)._tag).toBe("Admitted")
    expect(judge(many(ConnectionSlots.STRANGERS, apart), "stranger", "203.0.113.7", NOW)._tag).toBe("Refused")
  })

  it("count all addresses of an IPv6 /64 as one, and IPv4 in IPv6 as IPv4", () => {
    const house = many(ConnectionSlots.STRANGERS_PER_HOST, (n) => `2001:db8:1:2::${n.toString(16)}`)
    expect(judge(house, "stranger", "2001:db8:1:2:ffff::1", NOW)._tag).toBe("Refused")
    expect(judge(house, "stranger", "2001:db8:1:3::1", NOW)._tag).toBe("Admitted")
    const mapped = many(ConnectionSlots.STRANGERS_PER_HOST, () => "::ffff:198.51.100.1")
    expect(judge(mapped, "stranger", "198.51.100.1", NOW)._tag).toBe("Refused")
  })

  it("pass from a crowd's worst peer to a newcomer from elsewhere", () => {
    const crowd = many(ConnectionSlots.STRANGERS, (n) => `198.51.100.${n % 4}`)
    const of = (changes: ReadonlyArray<ConnectionSlots.Held>) => judge(changes, "stranger", "203.0.113.7", NOW)
    const youngest = { ...held(7, "198.51.100.3"), connectedSince: NOW - 10 }
    const useless = { ...held(8, "198.51.100.0"), news: 0 }
    const bad = { ...held(9, "198.51.100.1"), points: 1 }
    const put = (...some: ReadonlyArray<ConnectionSlots.Held>) =>
      crowd.map((each) => some.find(({ peer }) => peer === each.peer) ?? each)
    expect(of(put(youngest))).toEqual({ _tag: "Instead", of: "peer-7" })
    expect(of(put(youngest, useless))).toEqual({ _tag: "Instead", of: "peer-8" })
    expect(of(put(youngest, useless, bad))).toEqual({ _tag: "Instead", of: "peer-9" })
  })

  it("do not pass to a peer that would only make another crowd as large", () => {
    const two = many(ConnectionSlots.STRANGERS, (n) => (n % 2 === 0 ? `198.51.100.${n}` : `203.0.113.${n}`))
    expect(judge(two, "stranger", "198.51.100.250", NOW)._tag).toBe("Refused")
    expect(judge(two, "stranger", "192.0.2.1", NOW)._tag).toBe("Instead")
  })

  it.each([
    ["a /48", "2001:db8:2::1", (n: number) => `2001:db8:1:${n.toString(16)}00::1`],
    ["a /56", "2001:db8:1:100::1", (n: number) => `2001:db8:1:${n.toString(16)}::1`],
    ["a /24 of IPv4", "198.51.7.1", (n: number) => `198.51.100.${n}`],
  ])("are not all for %s: one of its neighbours displaces its worst peer, and no other does", (_, newcomer, hostOf) => {
    const alone = [held(1_000, "2001:db8:7::1"), held(1_001, "198.51.9.1")].map((each) => ({ ...each, news: 0 }))
    const full = [
      ...many(ConnectionSlots.STRANGERS - 2, hostOf).map((each, n) => (n === 5 ? { ...each, news: 0 } : each)),
      ...alone,
    ]
    expect(judge(full, "stranger", newcomer, NOW)).toEqual({ _tag: "Instead", of: "peer-5" })
    expect(judge(full, "stranger", hostOf(200), NOW)._tag).toBe("Refused")
  })

  it("without a crowd are lost first by peers that misbehaved, then by peers that brought nothing in a minute", () => {
    const full = many(ConnectionSlots.STRANGERS, apart)
    const idle = held(3, apart(3), { news: 0, connectedSince: NOW - ConnectionSlots.PROBATION_MS })
    const fresh = held(4, apart(4), { news: 0 })
    const bad = held(5, apart(5), { points: 10 })
    const put = (...some: ReadonlyArray<ConnectionSlots.Held>) =>
      judge(
        full.map((each) => some.find(({ peer }) => peer === each.peer) ?? each),
        "stranger",
        "203.0.113.7",
        NOW,
      )
    expect(put(fresh)._tag).toBe("Refused")
    expect(put(fresh, idle)).toEqual({ _tag: "Instead", of: "peer-3" })
    expect(put(fresh, idle, bad)).toEqual({ _tag: "Instead", of: "peer-5" })
  })
})

describe("connections that have not greeted", () => {
  const waiting = (count: number, hostOf: (n: number) => string): ReadonlyArray<ConnectionSlots.Ungreeted> =>
    Array.from({ length: count }, (_, n) => ({ id: `${n}`, networks: networksAround(hostOf(n)), since: NOW + n }))

  it("are few per host", () => {
    const house = waiting(ConnectionSlots.UNGREETED_PER_HOST, (n) => `2001:db8::${n}`)
    expect(open(house, "2001:db8::abcd", NOW)._tag).toBe("Full")
    expect(open(house, "2001:db8:0:1::1", NOW)._tag).toBe("Opened")
  })

  it("give way in the narrowest crowded network, not in one beside it", () => {
    const flood = waiting(ConnectionSlots.UNGREETED, (n) =>
      n === 0 ? "2001:db8:2::1" : `2001:db8:1:${n.toString(16)}::1`,
    )
    expect(open(flood, "203.0.113.7", NOW)).toEqual({ _tag: "InsteadOf", id: "1" })
  })

  it("give way oldest first in the largest crowd", () => {
    const flood = waiting(ConnectionSlots.UNGREETED, (n) => (n === 0 ? "192.0.2.1" : `198.51.${n}.1`))
    expect(open(flood, "203.0.113.7", NOW)).toEqual({ _tag: "InsteadOf", id: "1" })
  })
})
