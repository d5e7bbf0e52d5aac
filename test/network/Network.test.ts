/** Whole nodes as processes over real sockets: the shortest story. The long ones run with `npm run test:network`. */
import { afterEach, describe, expect, it } from "vitest"
import { expectSound } from "./History.js"
import * as Processes from "./Processes.js"

afterEach(Processes.removeAll)

describe("four validators", () => {
  it("finalize the same, and one that is killed comes back, catches up and signs no slot twice", async () => {
    const network = Processes.found({ roundMs: 300, epochRounds: 240 })
    const [first, ...others] = await Processes.startAll(network)
    const [key] = network.keys
    const [other] = others
    if (first === undefined || other === undefined || key === undefined) return expect.unreachable()
    await Processes.everybodyAt([first, ...others], 3)
    await Processes.everybodySigns(network, other)
    await first.kill()
    const stopped = Processes.lastRoundOf(other, key)
    await Processes.everybodyAt(others, stopped + 4)
    const again = await Processes.startValidator(network, 0, others)
    const all = [again, ...others]
    await Processes.until("it signs again", () => Processes.lastRoundOf(other, key) > stopped + 4)
    const signed = Processes.lastRoundOf(other, key)
    await Processes.everybodyAt(all, signed + 10)
    const metrics = await (await fetch(`${other.http}/metrics`)).text()
    for (const direction of ["received", "sent"]) {
      const vertices = new RegExp(`messages_total\\{direction="${direction}",kind="Vertices",class="member"\\} \\d\\d`)
      expect(metrics).toMatch(vertices)
    }
    expect(again.log()).toMatch(/ DEBUG network +listening /)
    await expectSound(network, all, signed)
    expect(await Promise.all(all.map(({ stop }) => stop()))).toEqual([0, 0, 0, 0])
  })
})
