import { describe, expect, it } from "vitest"
import type { PeerId } from "../../../src/consensus/replica/Peer.js"
import { Peers } from "../../../src/consensus/replica/Peers.js"
import * as Counter from "../../../src/protocol/Counter.js"
import { addressOf } from "./Cluster.js"

const EVERY_MS = 500
const peer = (name: string): PeerId => name as PeerId
const at = (ms: number): Counter.Timestamp => Counter.timestamp(ms)

/** Strangers whose ids come first, and one member. */
const crowd = () => {
  const peers = new Peers(EVERY_MS, (validator) => validator === addressOf("ann"))
  const strangers = ["aaa", "aab", "aac"].map((name) => ({ peer: peer(name), validator: null }))
  peers.connect([...strangers, { peer: peer("member"), validator: addressOf("ann") }])
  return peers
}

describe("whose turn it is to be asked", () => {
  it("is a member's first, whatever ids strangers have made themselves", () => {
    const peers = crowd()
    expect(peers.next(at(0))).toBe("member")
    expect(peers.next(at(0))).toBe("member")
  })

  it("is everybody's once, when members bring nothing", () => {
    const peers = crowd()
    const asked = new Set<PeerId | undefined>()
    for (let i = 0; i < 4; i++) {
      const next = peers.next(at(i))
      asked.add(next)
      if (next !== undefined) peers.broughtNothing(next, at(i))
    }
    expect(asked.size).toBe(4)
  })

  it("comes back to a member first, and later each time it brings nothing", () => {
    const peers = crowd()
    peers.broughtNothing(peer("member"), at(0))
    expect(peers.next(at(1))).not.toBe("member")
    expect(peers.next(at(16 * EVERY_MS))).toBe("member")
    peers.broughtNothing(peer("member"), at(16 * EVERY_MS))
    expect(peers.next(at(32 * EVERY_MS))).not.toBe("member")
    expect(peers.next(at(48 * EVERY_MS))).toBe("member")
  })

  it("is a stranger's that brought something before it is another's", () => {
    const peers = crowd()
    peers.broughtNothing(peer("member"), at(0))
    peers.brought(peer("aac"))
    expect([1, 2, 3].map((ms) => peers.next(at(ms)))).toEqual(["aac", "aac", "aac"])
    expect(new Set([4, 5, 6, 7].map((ms) => peers.next(at(ms), "Rotation"))).size).toBe(4)
  })

  it("does not come later because the clock was set back", () => {
    const peers = crowd()
    peers.broughtNothing(peer("member"), at(1_000_000))
    expect(peers.next(at(5))).toBe("member")
  })
})
