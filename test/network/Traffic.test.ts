import { describe, expect, it } from "vitest"
import { RATES } from "../../src/network/peers/Rates.js"
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

describe("the rate of strangers", () => {
  const strangers = Array.from({ length: 40 }, (_, i) => `stranger ${i}` as PeerId)
  const members = Array.from({ length: 60 }, (_, i) => `member ${i}` as PeerId)

  /** How long a stranger waits for a hundred pieces while this many are connected. */
  const waits = (connected: ReadonlyArray<PeerId>): number => {
    const clock = new ManualClock(0)
    const standing = (peer: PeerId) => (members.includes(peer) ? "member" : "stranger")
    const all = new Traffic({ standing, flooded: () => {} }, clock)
    for (const each of connected) all.opened(each, { unsentBytes: 0, written: 0 })
    clock.moveTo(10_000)
    const meter = all.meterOf(peer)
    void meter.charge(RATES.stranger.pieces.burst, 0)
    void meter.charge(100, 0)
    return clock.next - clock.now()
  }

  it("is shared by connected strangers, regardless of other peers", () => {
    const shared = waits(strangers)
    expect(shared).toBeGreaterThan(2 * waits(strangers.slice(0, 10)))
    expect(waits([...strangers, ...members])).toBe(shared)
  })

  it("no longer counts a stranger that has left", () => {
    const clock = new ManualClock(0)
    const all = new Traffic({ standing: () => "stranger", flooded: () => {} }, clock)
    const [first = peer, ...others] = strangers
    for (const each of strangers) all.opened(each, { unsentBytes: 0, written: 0 })
    for (const each of others) all.closed(each)
    clock.moveTo(10_000)
    const meter = all.meterOf(first)
    void meter.charge(RATES.stranger.pieces.burst, 0)
    void meter.charge(100, 0)
    expect(clock.next - clock.now()).toBe(waits([first]))
  })
})
