/** A policy that admits everybody and does not greet, for the other end of a test. */

import * as Channel from "../../src/network/peers/Channel.js"
import type { Clock } from "../../src/network/peers/Clock.js"
import { Traffic } from "../../src/network/peers/Traffic.js"
import type { Policy } from "../../src/network/peers/Wire.js"
import { nodeClock } from "../../src/network/tls/NodeClock.js"

export const openPolicy = (clock: Clock = nodeClock): Policy => {
  const traffic = new Traffic({ standing: () => "member", flooded: () => {} }, clock)
  return {
    refusesHost: () => false,
    knows: () => true,
    arrived: () => {},
    vanished: () => {},
    refusesPeer: () => false,
    meterOf: (peer) => traffic.meterOf(peer),
    opened: (connection) => {
      traffic.opened(connection.peer, connection)
      connection.lanes.accept("greeting", Channel.LIMITS.greeting.windowBytes, () => undefined)
    },
    closed: ({ peer }) => traffic.closed(peer),
    violated: () => {},
    failed: () => {},
  }
}
