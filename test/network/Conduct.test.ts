import { describe, expect, it } from "vitest"
import * as Conduct from "../../src/network/Conduct.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"

const peer = (n: number) => `peer-${n}` as PeerId
const HOST = "203.0.113.7"

/** Sends malformed bytes until they have a consequence. */
const untilBanned = (conduct: Conduct.Conduct, who: PeerId, now: number) => {
  const consequences: Array<Conduct.Consequence> = []
  do consequences.push(conduct.offend(who, HOST, "malformed", now))
  while (consequences.at(-1) !== "ban")
  return consequences
}

describe("conduct", () => {
  it("costs points first, then the connection, then a temporary ban", () => {
    const conduct = new Conduct.Conduct()
    expect(untilBanned(conduct, peer(1), 0)).toEqual(["none", "disconnect", "disconnect", "ban"])
    expect(conduct.isBanned(peer(1), Conduct.BAN_MS - 1)).toBe(true)
    expect(conduct.isBanned(peer(1), Conduct.BAN_MS)).toBe(false)
    expect(conduct.isBanned(peer(2), 0)).toBe(false)
  })

  it("forgives with time", () => {
    const conduct = new Conduct.Conduct()
    conduct.offend(peer(1), HOST, "malformed", 0)
    expect(conduct.points(peer(1), 150_000)).toBe(15)
    expect(conduct.points(peer(1), 400_000)).toBe(0)
    expect(conduct.offend(peer(1), HOST, "malformed", 400_000)).toBe("none")
  })

  it("bans longer each time, up to a day", () => {
    const conduct = new Conduct.Conduct()
    let now = 0
    for (const minutes of [10, 20, 40, 80, 160, 320, 640, 1_280, 1_440, 1_440]) {
      untilBanned(conduct, peer(1), now)
      expect(conduct.isBanned(peer(1), now + minutes * 60_000 - 1)).toBe(true)
      now += minutes * 60_000
      expect(conduct.isBanned(peer(1), now)).toBe(false)
    }
  })

  it("suspects an address only while several of its peers are banned", () => {
    const conduct = new Conduct.Conduct()
    for (let n = 0; n < Conduct.BANS_PER_ADDRESS; n++) {
      expect(conduct.isAddressSuspect(HOST, 0)).toBe(false)
      untilBanned(conduct, peer(n), 0)
    }
    expect(conduct.isAddressSuspect(HOST, 0)).toBe(true)
    expect(conduct.isAddressSuspect("203.0.113.8", 0)).toBe(false)
    expect(conduct.isAddressSuspect(HOST, Conduct.BAN_MS)).toBe(false)
  })

  it("suspects all addresses of one IPv6 network together", () => {
    const conduct = new Conduct.Conduct()
    for (let n = 0; n < Conduct.BANS_PER_ADDRESS; n++) {
      for (let i = 0; i < 2; i++) conduct.offend(peer(n), `2001:db8:1:2::${n + 1}`, "oversize", 0)
    }
    expect(conduct.isAddressSuspect("2001:db8:1:2::ffff", 0)).toBe(true)
    expect(conduct.isAddressSuspect("2001:db8:1:3::1", 0)).toBe(false)
  })

  it("remembers a bounded number of peers, and bans longer than points", () => {
    const conduct = new Conduct.Conduct()
    untilBanned(conduct, peer(0), 0)
    for (let n = 1; n < 6_000; n++) conduct.offend(peer(n), HOST, "flood", 0)
    expect(conduct.remembered).toBe(4_096)
    expect(conduct.isBanned(peer(0), 0)).toBe(true)
  })
})
