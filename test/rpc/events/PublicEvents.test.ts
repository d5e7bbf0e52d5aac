import { describe, expect, it } from "vitest"
import type { Report } from "../../../src/node/reads/Health.js"
import * as PublicEvents from "../../../src/rpc/handlers/PublicEvents.js"

const healthy = {
  status: "healthy",
  dag: { status: "healthy", round: 5, vertices: 5 },
  finality: { status: "healthy", finalizedRound: 3, lag: 2 },
  state: { status: "healthy", accounts: 2, totalSupply: 9 },
  mempool: { status: "healthy", size: 0, capacity: 10_000 },
  network: { status: "healthy", peers: 3 },
  checkpoints: { status: "healthy", latestRound: 0 },
  components: [],
  problems: [],
} as unknown as Report

const lagging: Report = { ...healthy, finality: { ...healthy.finality, status: "unhealthy", lag: 12 } }

describe("alerts", () => {
  it("report each change of a part's health once, including its recovery", () => {
    expect(PublicEvents.alertsOf(undefined, healthy)).toEqual([])
    const ill = [{ type: "alert", severity: "critical", message: "finality: unhealthy, finalized round 3, lag 12" }]
    expect(PublicEvents.alertsOf(healthy, lagging)).toEqual(ill)
    expect(PublicEvents.alertsOf(undefined, lagging)).toEqual(ill)
    expect(PublicEvents.alertsOf(lagging, lagging)).toEqual([])
    expect(PublicEvents.alertsOf(lagging, healthy)).toMatchObject([{ severity: "info" }])
    const full: Report = { ...lagging, mempool: { ...healthy.mempool, status: "warning", size: 6_000 } }
    expect(PublicEvents.alertsOf(lagging, full)).toMatchObject([{ severity: "warning" }])
  })
})
