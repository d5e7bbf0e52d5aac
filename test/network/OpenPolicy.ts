/** A policy that lets everybody in and everything through, for the other end of a test. */

import { nodeClock } from "../../src/network/libp2p/NodeClock.js"
import { GossipMeter } from "../../src/network/peers/GossipMeter.js"
import { Traffic } from "../../src/network/peers/Traffic.js"
import type { Clock, Policy } from "../../src/network/peers/Wire.js"

export const openPolicy = (clock: Clock = nodeClock): Policy => {
  const traffic = new Traffic({ standing: () => "member", flooded: () => {} }, clock)
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
    gossipMeterOf: async () => new GossipMeter(() => "member", clock.now),
    gossiped: () => {},
    violated: () => {},
    failed: () => {},
  }
}
