import { expect, it } from "vitest"
import { Traffic } from "../../src/network/peers/Traffic.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import { ManualClock } from "./ManualClock.js"

it("counts strangers apart from members, for what each of them gets", () => {
  const clock = Object.assign(new ManualClock(1_000_000), { spareShare: () => 0.1 })
  const isStranger = (peer: PeerId) => peer.startsWith("stranger")
  const traffic = new Traffic(
    { standing: (peer) => (isStranger(peer) ? "stranger" : "member"), flooded: () => {} },
    clock,
  )
  const come = (name: string, count: number) => {
    for (let n = 0; n < count; n++) traffic.opened(`${name}-${n}` as PeerId, { unsentBytes: 0, written: 0 })
    clock.moveTo(clock.now() + 1_000)
  }
  const meter = traffic.meterOf("stranger-0" as PeerId)
  come("stranger", 10)
  expect(meter.gatherMs).toBe(36)
  come("member", 90)
  expect(meter.gatherMs).toBe(36)
  come("stranger", 20)
  expect(meter.gatherMs).toBe(72)
})
