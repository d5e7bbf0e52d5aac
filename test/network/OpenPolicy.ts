/** A policy that lets everybody in and everything through, for the other end of a test. */
import { GossipMeter } from "../../src/network/peers/GossipMeter.js"
import { Traffic } from "../../src/network/peers/Traffic.js"
import type { Policy } from "../../src/network/peers/Wire.js"

export const openPolicy = (now: () => number = Date.now): Policy => {
  const traffic = new Traffic({ standing: () => "member", flooded: () => {} }, now)
  return {
    protocols: [],
    topics: [],
    refusesHost: () => false,
    arrived: () => {},
    refusesPeer: () => false,
    meterOf: (peer) => traffic.meterOf(peer),
    multiplexed: (peer, line) => traffic.opened(peer, line),
    opened: () => {},
    closed: ({ peer }) => traffic.closed(peer),
    gossipMeterOf: async () => new GossipMeter(() => "member", now),
    gossiped: () => {},
    violated: () => {},
    failed: () => {},
  }
}
