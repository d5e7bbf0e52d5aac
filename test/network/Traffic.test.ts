import { describe, expect, it } from "vitest"
import { Traffic } from "../../src/network/peers/Traffic.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import { ManualClock } from "./ManualClock.js"

const peer = "peer" as PeerId

const traffic = () => {
  const clock = new ManualClock(0)
  const all = new Traffic({ standing: () => "stranger", flooded: () => {} }, clock)
  const line = { unsentBytes: 0, written: 0 }
  all.opened(peer, line)
  return { all, line, clock }
}

describe("a line to a peer", () => {
  it("is stalled when something waits and nothing is written for half a minute", () => {
    const { all, line, clock } = traffic()
    clock.moveTo(100_000)
    expect(all.stalled()).toEqual([])
    line.unsentBytes = 1
    clock.moveTo(clock.now() + 30_000)
    expect(all.stalled()).toEqual([])
    clock.moveTo(clock.now() + 1)
    expect(all.stalled()).toEqual([peer])
    line.written++
    expect(all.stalled()).toEqual([])
  })

  it("is stalled when more waits than a peer may keep here", () => {
    const { all, line } = traffic()
    line.unsentBytes = 33_554_433
    expect(all.stalled()).toEqual([peer])
    all.closed(peer)
    expect(all.stalled()).toEqual([])
  })

  it("keeps its meter over a new connection, until it has been gone for a while", () => {
    const { all, clock } = traffic()
    const meter = all.meterOf(peer)
    all.closed(peer)
    clock.moveTo(30_000)
    all.sweep()
    expect(all.meterOf(peer)).toBe(meter)
    clock.moveTo(30_001)
    all.sweep()
    expect(all.meterOf(peer)).not.toBe(meter)
  })
})
