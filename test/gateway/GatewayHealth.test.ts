/** How a gateway's health report tells that its archive is behind, or the gateway outdated. */
import { describe, expect, it } from "vitest"
import * as GatewayHealth from "../../src/gateway/GatewayHealth.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"

const time = Natural.timestamp(1_700_000_000_000)

const node = (problems: Parameters<typeof GatewayHealth.including>[0]["problems"] = []) => ({
  status: problems[0]?.status ?? ("healthy" as const),
  components: {
    dag: { status: "healthy", round: Natural.round(1_205), vertices: 2_409 },
    finality: { status: "healthy", finalized_round: Natural.round(1_203), lag: 2 },
    state: { status: "healthy", accounts: 42, total_supply: Sats.make(7), supply: Sats.make(7) },
    mempool: { status: "healthy", size: 3, capacity: 10_000 },
    network: { status: "healthy", peers: 4 },
    checkpoints: { status: "healthy", latest_round: Natural.round(1_200) },
  } as const,
  problems,
})

const at = (round: number) => ({ round: Natural.round(round), time })

const outdated = { component: "upgrade", status: "warning", reason: "old", since: time, page: "docs/y.md" } as const
const peers = { component: "network", status: "unhealthy", reason: "no peer", since: time, page: "docs/x.md" } as const

describe("the health report of a gateway", () => {
  it("is healthy while the archive follows", () => {
    const { status, components, problems } = GatewayHealth.including(node(), at(1_183), [])
    expect({ status, problems }).toEqual({ status: "healthy", problems: [] })
    expect(components.archive).toEqual({ status: "healthy", finalized_round: 1_183, lag: 20 })
  })

  it.each([
    [1_182, "warning", "21 rounds"],
    [1_103, "warning", "100 rounds"],
    [1_102, "unhealthy", "101 rounds"],
  ] as const)("with an archive at round %i names a problem that is a %s", (round, status, lag) => {
    const report = GatewayHealth.including(node(), at(round), [])
    expect(report.status).toBe(status)
    expect(report.problems).toMatchObject([{ component: "archive", status, since: time }])
    expect(report.problems[0]?.reason).toContain(`${lag} behind, so this gateway`)
  })

  it("lists the gateway's problems before the node's, with the worst status", () => {
    const report = GatewayHealth.including(node([peers]), at(1_150), [outdated])
    expect(report.status).toBe("unhealthy")
    expect(report.problems.map(({ component }) => component)).toEqual(["archive", "upgrade", "network"])
  })

  it("does not complain about a node that is behind the archive", () => {
    expect(GatewayHealth.including(node(), at(5_000), []).components.archive).toMatchObject({
      status: "healthy",
      lag: 0,
    })
  })
})
