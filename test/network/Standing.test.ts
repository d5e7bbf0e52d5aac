import { describe, expect, it } from "vitest"
import { Standings } from "../../src/network/Standing.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"

const peer = (n: number) => `peer-${n}` as PeerId
const somebody = () => Address.fromPublicKey(SecretKey.generate().publicKey)

describe("the standing of a peer", () => {
  it("follows the committee of the current epoch", () => {
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
    standings.name("203.0.113.7:9333", peer(1))
    expect([standings.of(peer(1), null), standings.of(peer(2), null)]).toEqual(["named", "stranger"])
    standings.name("203.0.113.7:9333", peer(2))
    expect([standings.of(peer(1), null), standings.of(peer(2), null)]).toEqual(["stranger", "named"])
  })
})
