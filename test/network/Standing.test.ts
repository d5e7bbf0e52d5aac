import { describe, expect, it } from "vitest"
import { Standings } from "../../src/network/Standing.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"

const peer = (n: number) => `peer-${n}` as PeerId
const somebody = () => Address.fromPublicKey(SecretKey.generate().publicKey)

describe("the standing of a peer", () => {
  it("follows the committee of the running epoch", () => {
    const [one, two] = [somebody(), somebody()]
    const standings = new Standings()
    expect(standings.of(peer(1), one)).toBe("stranger")
    standings.setMembers([one])
    expect([standings.of(peer(1), one), standings.of(peer(2), two)]).toEqual(["member", "stranger"])
    standings.setMembers([two])
    expect([standings.of(peer(1), one), standings.of(peer(2), two)]).toEqual(["stranger", "member"])
    expect(standings.of(peer(1), null)).toBe("stranger")
  })

  it("is named for the one peer behind each named address", () => {
    const standings = new Standings()
    standings.name("/ip4/203.0.113.7/tcp/9333", peer(1))
    expect([standings.of(peer(1), null), standings.of(peer(2), null)]).toEqual(["named", "stranger"])
    standings.name("/ip4/203.0.113.7/tcp/9333", peer(2))
    expect([standings.of(peer(1), null), standings.of(peer(2), null)]).toEqual(["stranger", "named"])
  })

  it("is that of all other members together, if none is missing and nobody else is among them", () => {
    const [self, one, two, other] = [somebody(), somebody(), somebody(), somebody()]
    const standings = new Standings()
    expect(standings.areTheOthers(self, [])).toBe(false)
    standings.setMembers([self, one, two])
    expect(standings.areTheOthers(self, [one, two])).toBe(true)
    // A member may run two nodes.
    expect(standings.areTheOthers(self, [two, one, two])).toBe(true)
    expect(standings.areTheOthers(self, [one])).toBe(false)
    expect(standings.areTheOthers(self, [one, one])).toBe(false)
    expect(standings.areTheOthers(self, [one, two, other])).toBe(false)
    expect(standings.areTheOthers(self, [one, two, null])).toBe(false)
    expect(standings.areTheOthers(other, [self, one, two])).toBe(false)
    expect(standings.areTheOthers(other, [one, two])).toBe(false)
  })
})
