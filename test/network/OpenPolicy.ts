/** A policy that lets everybody in and everything through, for the other end of a test. */
import { GossipMeter } from "../../src/network/peers/GossipMeter.js"
import { Lines } from "../../src/network/peers/Lines.js"
import type { Policy } from "../../src/network/peers/Wire.js"

export const openPolicy = (now: () => number = Date.now): Policy => {
  const lines = new Lines({ standing: () => "member", flooded: () => {} }, now)
  return {
    protocols: [],
    topics: [],
    refusesHost: () => false,
    arrived: () => {},
    refusesPeer: () => false,
    meterOf: (peer) => lines.meterOf(peer),
    multiplexed: (peer, line) => lines.opened(peer, line),
    opened: () => {},
    closed: ({ peer }) => lines.closed(peer),
    gossipMeterOf: async () => new GossipMeter(() => "member", now),
    gossiped: () => {},
    violated: () => {},
    failed: () => {},
  }
}
