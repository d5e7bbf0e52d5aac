import { describe, expect, it } from "vitest"
import * as Relays from "../../src/network/peers/Relays.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import { Chance } from "../simulation/Chance.js"

const validator = () => Address.fromPublicKey(SecretKey.generate().publicKey)
const [self, ben, carl, away] = [validator(), validator(), validator(), validator()]
const committee = [self, ben, carl, away]

const peer = (name: string, member: Address.Address | null, isStranger: boolean): Relays.Recipient => {
  return { peer: name as PeerId, member, isStranger }
}

const peers = (strangers: number) => [
  peer("ben", ben, false),
  ...Array.from({ length: strangers }, (_, n) => peer(`stranger ${n}`, null, true)),
  peer("named", null, false),
  peer("carl", carl, false),
]

const chance = () => {
  const drawn = new Chance(1, "relays")
  return () => drawn.fraction()
}

const names = (route: Relays.Route<Relays.Recipient>) => route.to.map(({ peer }) => peer)

describe("the route of a broadcast message", () => {
  it("leads its author to everybody, but with more than 32 strangers only to that many", () => {
    const few = Relays.ofOwn(self, peers(32), committee, chance())
    expect(names(few).sort()).toEqual(
      peers(32)
        .map(({ peer }) => peer)
        .sort(),
    )
    const many = Relays.ofOwn(self, peers(128), committee, chance())
    expect(names(many).slice(0, 3)).toEqual(["ben", "named", "carl"])
    expect(new Set(names(many)).size).toBe(3 + 32)
    expect([few.untold, many.untold]).toEqual([[away], [away]])
  })

  it("leads others to the members left, all named peers and eight strangers, but never back", () => {
    const told = { from: "stranger 5" as PeerId, untold: [carl, away] }
    const { to, untold } = Relays.ofOther(told, self, peers(128), committee, chance())
    const to8 = to.map(({ peer }) => peer)
    expect(to8.slice(0, 2)).toEqual(["carl", "named"])
    expect(new Set(to8).size).toBe(2 + 8)
    expect(untold).toEqual([away])
    const fromNamed = { from: "named" as PeerId, untold: [] }
    expect(names(Relays.ofOther(fromNamed, self, peers(0), committee, chance()))).toEqual([])
  })

  it("leads each time to other strangers", () => {
    const random = chance()
    const reached = Array.from({ length: 50 }, () => names(Relays.ofOwn(self, peers(128), committee, random)))
    expect(new Set(reached.flat()).size).toBe(128 + 3)
  })
})
