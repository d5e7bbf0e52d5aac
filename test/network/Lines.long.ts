/** Four validators over bad lines: they may stop, but never fork. */
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { expectSound } from "./History.js"
import { Lines } from "./Lines.js"
import * as Processes from "./Processes.js"

const ROUND_MS = 300

let lines: Lines

beforeEach(async () => {
  lines = await Lines.open()
})

afterEach(async () => {
  await Processes.removeAll()
  lines.close()
})

const started = async () => {
  const network = Processes.found({ roundMs: ROUND_MS, epochRounds: 240 })
  const nodes = await Processes.startAllVia(network, lines)
  await Processes.everybodyAt(nodes, 5)
  return { network, nodes }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Between those on one side and all others. */
const split = (...side: ReadonlyArray<string>) => lines.cut((from, to) => side.includes(from) !== side.includes(to))

describe("four validators", () => {
  it("split two and two finalize nothing, and have one history after healing", async () => {
    const { network, nodes } = await started()
    split("0", "1")
    const stopped = await Processes.standstill(nodes, 10 * ROUND_MS)
    await pause(30 * ROUND_MS)
    expect(nodes.map(Processes.finalizedRound)).toEqual(stopped)
    lines.heal()
    const round = Math.max(...stopped) + 20
    await Processes.everybodyAt(nodes, round)
    await expectSound(network, nodes, round)
  })

  it("finalize one history with 200 ms of latency and five per cent loss", async () => {
    const { network, nodes } = await started()
    lines.delayMs = 200
    await Processes.everybodyAt(nodes, Math.max(...nodes.map(Processes.finalizedRound)) + 20)
    lines.loss = 0.05
    const round = Math.max(...nodes.map(Processes.finalizedRound)) + 20
    await Processes.everybodyAt(nodes, round)
    await expectSound(network, nodes, round)
  })
})
