import { describe, expect, it } from "vitest"
import { type Account, PeerMemory, TOGETHER } from "../../src/network/peers/PeerMemory.js"
import type { Standing } from "../../src/network/Standing.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import { ManualClock } from "./ManualClock.js"

const MIB = 1_048_576

const scene = () => {
  const clock = new ManualClock(0)
  const standings = new Map<string, Standing>()
  const cut: Array<string> = []
  const holdings = new PeerMemory({
    standing: (peer) => standings.get(peer) ?? "stranger",
    now: clock.now,
    cut: (peer) => cut.push(peer),
  })
  const open = (peer: string, standing: Standing = "stranger"): Account => {
    standings.set(peer, standing)
    return holdings.open(peer as PeerId, standing)
  }
  return { clock, standings, cut, holdings, open }
}

describe("strangers", () => {
  it("hold at most their limit together: the one that has held memory longest is disconnected", () => {
    const { clock, cut, holdings, open } = scene()
    const slow = Array.from({ length: 128 }, (_, i) => open(`slow ${i}`))
    for (const account of slow) {
      clock.moveTo(clock.now() + 1)
      account.add(MIB / 2)
    }
    expect([cut, holdings.of("stranger")]).toEqual([[], TOGETHER.stranger])
    clock.moveTo(clock.now() + 1)
    // A peer that reads: it has held nothing until now.
    const quick = open("quick")
    quick.add(2 * MIB)
    expect(cut).toEqual(["slow 0", "slow 1", "slow 2", "slow 3"])
    expect(holdings.of("stranger")).toBeLessThanOrEqual(TOGETHER.stranger)
    // A closed connection counts no more, whatever it still reports.
    slow[0]?.add(-MIB / 2)
    slow[0]?.close()
    expect(holdings.of("stranger")).toBe(62 * MIB + 2 * MIB)
    quick.add(-2 * MIB)
    quick.close()
    expect(holdings.of("stranger")).toBe(62 * MIB)
  })

  it("are judged by how long they hold memory, not by how long they are connected", () => {
    const { clock, cut, open } = scene()
    const old = open("old")
    for (let i = 0; i < 10; i++) {
      old.add(MIB)
      clock.moveTo(clock.now() + 1_000)
      old.add(-MIB)
    }
    open("new").add(63 * MIB)
    clock.moveTo(clock.now() + 1)
    old.add(2 * MIB)
    expect(cut).toEqual(["new"])
  })
})

describe("members and named peers", () => {
  it("keep their connections, and get nothing more while their room is full", () => {
    const { cut, open } = scene()
    const [ann, ben, cleo] = [open("ann", "member"), open("ben", "member"), open("cleo", "named")]
    ann.add(TOGETHER.member - 1)
    expect(ben.hasRoom()).toBe(true)
    ann.add(1)
    expect([ann.hasRoom(), ben.hasRoom(), cleo.hasRoom(), cut]).toEqual([false, false, true, []])
    ann.add(-1)
    expect(ben.hasRoom()).toBe(true)
  })

  it("are counted by their current standing", () => {
    const { standings, cut, holdings, open } = scene()
    const ann = open("ann", "member")
    ann.add(TOGETHER.stranger + 1)
    standings.set("ann", "stranger")
    expect(holdings.of("stranger")).toBe(0)
    holdings.sweep()
    expect([cut, holdings.of("member"), holdings.of("stranger")]).toEqual([["ann"], 0, 0])
  })
})
