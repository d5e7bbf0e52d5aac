/** Lost disks and changed clocks, with real processes: `npm run test:network`. */
import { spawnSync } from "node:child_process"
import { rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { afterEach, expect, it } from "vitest"
import { expectNoSlotTwice, expectOneHistory } from "./History.js"
import * as Processes from "./Processes.js"

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

afterEach(Processes.removeAll)

const reportOf = async ({ http }: Processes.Started): Promise<string> =>
  JSON.stringify(await (await fetch(`${http}/health/detailed`)).json())

const comesBackEmpty = async (
  network: Processes.Founded,
  n: number,
  node: Processes.Started,
  others: ReadonlyArray<Processes.Started>,
) => {
  await node.kill()
  rmSync(node.directory, { recursive: true })
  return Processes.startValidator(network, n, others)
}

/** What the running process has signed, by its `signed.db`. */
const ownVerticesIn = ({ directory }: Processes.Started): ReadonlyArray<string> =>
  Processes.rows(join(directory, "signed.db"), "select epoch, round from own_vertices").map((row) => row.join("/"))

// It used to report "dag: unhealthy" while the process ran, without showing whether it signs.
it("a validator that lost its disk reports when it signs again, does so, and the network can then do without another", async () => {
  const network = Processes.found({ roundMs: 200, epochRounds: 120 })
  const nodes = await Processes.startAll(network)
  await Processes.everybodyAt(nodes, 220)
  const [first, second, ...others] = nodes
  if (first === undefined || second === undefined) return expect.unreachable()
  const [key] = network.keys
  if (key === undefined) return expect.unreachable()
  const signed = Processes.lastRoundOf(second, key)
  const back = await comesBackEmpty(network, 0, first, [second, ...others])
  await Processes.until("it says that it is silent", async () =>
    /"signing":"Silent".*"signs_in_seconds":\d+/.test(await reportOf(back)),
  )
  await Processes.until("it signs again", () => Processes.lastRoundOf(second, key) > signed)
  // 120 intervals, and as many rounds as its catching up took.
  expect(Processes.lastRoundOf(second, key)).toBeLessThan(signed + 240)
  await Processes.until(
    "its health says so",
    async () => !/"recovery"|"dag":\{"status":"unhealthy"/.test(await reportOf(back)),
  )
  expect(back.log()).toMatch(/waiting for.*signing=Silent/)
  await second.kill()
  const rest = [back, ...others]
  const round = Math.max(...rest.map(Processes.finalizedRound)) + 40
  await Processes.everybodyAt(rest, round)
  await expectOneHistory(rest, round)
  for (const node of rest) expectNoSlotTwice(network, node)
})

it("four validators continue while one is back with an empty disk and another's clock is a day ahead, then an hour behind", async () => {
  const network = Processes.found({ roundMs: 250, epochRounds: 120 })
  const nodes = await Processes.startAll(network)
  await Processes.everybodyAt(nodes, 60)
  const [first, second, third, fourth] = nodes
  if (first === undefined || second === undefined || third === undefined || fourth === undefined)
    return expect.unreachable()
  const back = await comesBackEmpty(network, 0, first, [second, third, fourth])
  const clock = join(network.folder, "clock")
  writeFileSync(clock, String(DAY_MS))
  await fourth.kill()
  const way = {
    execArgv: ["--import", resolve(import.meta.dirname, "steppedClock.mjs")],
    environment: { UDG_CLOCK_FILE: clock },
  }
  const wrong = await Processes.startValidator(network, 3, [back, second, third], [], undefined, way)
  const all = [back, second, third, wrong]
  for (const aheadMs of [DAY_MS, -HOUR_MS, 0]) {
    writeFileSync(clock, String(aheadMs))
    // Three of four sign, since the first is silent: none of them can be spared.
    await Processes.everybodyAt(all, Math.max(...all.map(Processes.finalizedRound)) + 30, 20_000)
    await Processes.until(
      "its operator is told",
      async () => /"clock":/.test(await reportOf(wrong)) === (aheadMs !== 0),
    )
    expect(await reportOf(second)).not.toContain('"clock":')
  }
  expect(wrong.log()).toContain("the wall clock of this machine is wrong")
  expect(wrong.log()).toContain("the wall clock was set")
  const round = Math.max(...all.map(Processes.finalizedRound)) + 10
  await Processes.everybodyAt(all, round)
  await expectOneHistory(all, round)
  for (const node of all) expectNoSlotTwice(network, node)
})

it("a validator that lost its disk while another is down signs nothing, says what its operator can do, and signs at their command", async () => {
  const network = Processes.found({ roundMs: 150, epochRounds: 2_000 })
  const [first, second, third, fourth] = await Processes.startAll(network)
  const [key] = network.keys
  if (first === undefined || second === undefined || third === undefined || fourth === undefined || key === undefined)
    return expect.unreachable()
  await Processes.everybodyAt([first, second, third, fourth], 20)
  await fourth.kill()
  const back = await comesBackEmpty(network, 0, first, [second, third])
  await Processes.until("it needs its operator", async () =>
    /"signing":"Forgotten".*"needs_operator":true/.test(await reportOf(back)),
  )
  const signed = Processes.slotsOf(second, key)
  const [option, word = ""] = /--sign-from-round (\d+:\d+:[0-9a-f]{16})/.exec(await reportOf(back)) ?? []
  expect(option).toBeDefined()
  const doctor = spawnSync(process.execPath, [Processes.built, "doctor", back.http ?? ""], { encoding: "utf8" })
  expect([doctor.status, doctor.stdout]).toEqual([1, expect.stringContaining(`${option}`)])
  await Processes.until("its log says so", () => back.log().includes(`${option}`))
  expect(ownVerticesIn(back)).toEqual([])
  expect(Processes.slotsOf(second, key)).toEqual(signed)
  await back.stop()
  const told = await Processes.startValidator(network, 0, [second, third], ["--sign-from-round", word])
  const rest = [told, second, third]
  const round = Number(word.split(":")[1]) + 30
  await Processes.everybodyAt(rest, round)
  for (const node of rest) expectNoSlotTwice(network, node)
  const again = ownVerticesIn(told)
  expect(again.filter((slot) => signed.includes(slot))).toEqual([])
  expect(again.length).toBeGreaterThan(0)
  await expectOneHistory(rest, round)
})
