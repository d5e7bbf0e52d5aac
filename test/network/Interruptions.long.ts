/** Processes that find an old or shortened file. `npm run histories` pauses and restarts them. */
import { cpSync, statSync, truncateSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import { expectNoSlotTwice, expectOneHistory } from "./History.js"
import * as Processes from "./Processes.js"

afterEach(Processes.removeAll)

const requireGoesOn = async (network: Processes.Founded, nodes: ReadonlyArray<Processes.Started>): Promise<void> => {
  const [first] = nodes
  if (first === undefined) return expect.unreachable()
  const round = Math.max(...nodes.map(Processes.finalizedRound))
  await Processes.everybodyAt(nodes, round + 15)
  await Processes.until("all sign", () => network.keys.every((key) => Processes.lastRoundOf(first, key) > round))
  await expectOneHistory(nodes, round)
  expectNoSlotTwice(network, first)
}

/** Each slot that a node knows to be filled, with the hash of its vertex. */
const vertices = ({ directory }: Processes.Started): ReadonlyArray<readonly [slot: string, hash: string]> =>
  Processes.rows(
    join(directory, "udg.db"),
    "select epoch || '/' || round || ' ' || hex(author), hex(hash) from vertices",
  ).map(([slot, hash]) => [String(slot), String(hash)])

describe("four validators", () => {
  it.each(["udg.db", "signed.db"])(
    "continue when %s alone of one of them is set back to a backup, and it signs nothing twice",
    async (file) => {
      const network = Processes.found({ roundMs: 150, epochRounds: 240 })
      const nodes = [...(await Processes.startAll(network))]
      const [first, ...others] = nodes
      const [key] = network.keys
      const [other] = others
      if (first === undefined || other === undefined || key === undefined) return expect.unreachable()
      await Processes.everybodyAt(nodes, 10)
      await first.stop()
      const backup = join(network.folder, "backup")
      cpSync(join(first.directory, file), backup)
      const between = await Processes.startValidator(network, 0, others)
      const signed = Processes.lastRoundOf(other, key)
      await Processes.until("it has signed more", () => Processes.lastRoundOf(other, key) > signed + 10)
      await between.stop()
      cpSync(backup, join(first.directory, file))
      const restored = await Processes.startValidator(network, 0, others)
      await requireGoesOn(network, [other, ...others.slice(1), restored])
    },
  )

  // More is lost than a power cut may take: only the signed vertices are whole, and the log up to the cut.
  it.each([
    ["at another place each", [0.9, 0.6, 0.3, 0.1]],
    ["at its beginning", [0, 0, 0, 0]],
  ])("continue when the log of each one's udg.db is cut off %s, and sign nothing twice", async (_, kept) => {
    const network = Processes.found({ roundMs: 150, epochRounds: 40 })
    const nodes = await Processes.startAll(network)
    await Processes.everybodyAt(nodes, 60)
    await Promise.all(nodes.map(({ kill }) => kill()))
    const before = new Map(nodes.flatMap(vertices))
    for (const [n, { directory }] of nodes.entries()) {
      const log = join(directory, "udg.db-wal")
      truncateSync(log, Math.floor(statSync(log).size * (kept[n] ?? 0)))
    }
    const again = await Processes.startAll(network)
    await requireGoesOn(network, again)
    const different = again.flatMap(vertices).filter(([slot, hash]) => before.has(slot) && before.get(slot) !== hash)
    expect(different).toEqual([])
  })
})
