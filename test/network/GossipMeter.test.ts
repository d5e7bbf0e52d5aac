import { describe, expect, it } from "vitest"
import { Flood, GossipMeter } from "../../src/network/peers/GossipMeter.js"
import { RATES } from "../../src/network/peers/Rates.js"
import type { Standing } from "../../src/network/Standing.js"

const nothing = { subscriptions: 0, messages: 0, controls: 0, ids: 0 }

const metered = (standing: Standing) => {
  const world = { now: 0, standing }
  return {
    world,
    meter: new GossipMeter(
      () => world.standing,
      () => world.now,
    ),
  }
}

describe("the meter of a peer's gossip", () => {
  it.each(["stranger", "named", "member"] as const)(
    "lets a %s wait for items and bytes beyond its rates",
    (standing) => {
      const { items, bytes } = RATES[standing].gossip
      for (const what of ["messages", "controls", "ids"] as const) {
        const { meter } = metered(standing)
        expect(meter.charge({ ...nothing, [what]: items.burst - 1 }, 0)).toBe(0)
        expect(meter.charge({ ...nothing, [what]: items.perSecond - 1 }, 0)).toBe(1_000)
      }
      const { meter } = metered(standing)
      expect(meter.charge(nothing, bytes.burst)).toBe(0)
      expect(meter.charge(nothing, bytes.perSecond)).toBe(1_000)
    },
  )

  it("counts a message with nothing in it", () => {
    const { meter } = metered("stranger")
    for (let n = 0; n < RATES.stranger.gossip.items.burst; n++) expect(meter.charge(nothing, 0)).toBe(0)
    expect(meter.charge(nothing, 0)).toBeGreaterThan(0)
  })

  it("follows who the peer is", () => {
    const { meter, world } = metered("stranger")
    meter.charge({ ...nothing, ids: RATES.stranger.gossip.items.burst - 1 }, 0)
    world.standing = "member"
    world.now += 1_000
    expect(
      meter.charge({ ...nothing, ids: RATES.stranger.gossip.items.perSecond + RATES.stranger.gossip.items.burst }, 0),
    ).toBe(Math.ceil((1_000 * (RATES.stranger.gossip.items.burst + 1)) / RATES.member.gossip.items.perSecond))
  })

  it("takes subscriptions beyond those of a node for a flood, whoever sends them", () => {
    const { meter, world } = metered("member")
    for (let n = 0; n < 4; n++) meter.charge({ ...nothing, subscriptions: 16 }, 0)
    expect(() => meter.charge({ ...nothing, subscriptions: 1 }, 0)).toThrow(Flood)
    world.now += 2_000
    expect(meter.charge({ ...nothing, subscriptions: 1 }, 0)).toBe(0)
  })
})
