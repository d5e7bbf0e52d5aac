/** Validators that pause and resume, and copies of their directories, with real processes: `npm run test:network`. */
import { cpSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterEach, expect, it } from "vitest"
import { expectNoSlotTwice, expectOneHistory } from "./History.js"
import * as Processes from "./Processes.js"

afterEach(Processes.removeAll)

/** The directory of a stopped process, on another machine. */
const copyOf = ({ directory }: Processes.Started, { folder }: Processes.Founded, name: string): void => {
  const copy = join(folder, `node-${name}`)
  cpSync(directory, copy, { recursive: true })
  // Its identity among nodes, which differs on another machine.
  for (const file of ["node.key", "udg.lock"]) rmSync(join(copy, file), { force: true })
}

// It signed 9 ms after it had woken up, before it had read anything, and was slashed.
it("a validator paused while the others waited signs nothing that a copy of its directory has signed", async () => {
  const network = Processes.found({ roundMs: 200, epochRounds: 240 })
  const [first, second, third, fourth] = await Processes.startAll(network)
  if (first === undefined || second === undefined || third === undefined || fourth === undefined)
    return expect.unreachable()
  await Processes.everybodyAt([first, second, third], 30)
  await fourth.kill()
  await Processes.everybodyAt([first, second, third], Processes.finalizedRound(second) + 10)
  process.kill(first.pid, "SIGSTOP")
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  copyOf(first, network, "copy")
  const key = ["--validator-key", join(network.folder, "0.key")]
  const copy = await Processes.start(network, "copy", [...key, "--peer", second.p2p, "--peer", third.p2p])
  await Processes.everybodyAt([copy, second, third], Processes.finalizedRound(second) + 20)
  process.kill(first.pid, "SIGCONT")
  await Processes.until("it has met its own key", () => /silent|waits.*Silent|signing=Silent/i.test(first.log()))
  const back = await Processes.startValidator(network, 3, [second, third])
  const round = Processes.finalizedRound(second) + 30
  await Processes.everybodyAt([second, third, back], round)
  for (const node of [second, third, back]) expectNoSlotTwice(network, node)
  await expectOneHistory([second, third, back], round)
})
