/**
 * A week of a solo node in as many rounds as it makes when nothing holds it back: what it holds in memory and on the disk
 * as it grows older, and whether it starts as fast as it did in its youth. Runs for an hour, and only when asked for by name;
 * `UDG_WEEK_ROUNDS` makes it shorter.
 */
import { cpSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import * as Processes from "../test/network/Processes.js"
import { type Figure, median, type Suite } from "./Harness.js"

const ROUNDS = Number(process.env["UDG_WEEK_ROUNDS"] ?? 1_000_000)
const PARTS = 10
const ROUND_MS = 1
const EPOCH_ROUNDS = 240
const LOOK_MS = 1_000
/** Of each age, by turns: a machine that is slow for a while must not look like a node that has grown old. */
const STARTS = 5
const MIB = 2 ** 20

const memoryOf = ({ pid }: Processes.Started): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1_024

const bytesIn = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true }).reduce(
    (bytes, entry) =>
      bytes + (entry.isFile() ? statSync(join(folder, entry.name)).size : bytesIn(join(folder, entry.name))),
    0,
  )

const roundOf = async ({ http }: Processes.Started): Promise<number> => {
  const status = (await (await fetch(`${http}/status`)).json()) as { readonly last_finalized_round: number }
  return status.last_finalized_round
}

const reach = async (node: Processes.Started, round: number): Promise<void> => {
  while ((await roundOf(node)) < round) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
}

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const network = Processes.found({ validators: 1, roundMs: ROUND_MS, epochRounds: EPOCH_ROUNDS })
  const start = (name: string): Promise<Processes.Started> => {
    const words = ["--validator-key", join(network.folder, "0.key"), "--rate-limits", "off"]
    return Processes.start(network, name, words, "warn")
  }
  const timed = async (name: string): Promise<number> => {
    const began = performance.now()
    const node = await start(name)
    const milliseconds = performance.now() - began
    await node.stop()
    return milliseconds
  }
  try {
    let node = await start("old")
    const memory: Array<number> = []
    const disk: Array<number> = []
    for (let part = 1; part <= PARTS; part++) {
      await reach(node, (ROUNDS / PARTS) * part)
      memory.push(memoryOf(node))
      disk.push(bytesIn(node.directory) / MIB)
      if (part > 1) continue
      await node.stop()
      cpSync(node.directory, join(network.folder, "node-young"), { recursive: true })
      node = await start("old")
    }
    await node.stop()
    const [young, old]: [Array<number>, Array<number>] = [[], []]
    for (let i = 0; i < STARTS; i++) {
      young.push(await timed("young"))
      old.push(await timed("old"))
    }
    const share = (values: ReadonlyArray<number>, from: number): number => (values.at(-1) ?? 0) / (values[from] ?? 1)
    return [
      ...memory.map((value, i) => ({ name: `memory after ${i + 1} of ${PARTS} parts`, value, unit: "MiB" })),
      ...disk.map((value, i) => ({ name: `data directory after ${i + 1} of ${PARTS} parts`, value, unit: "MiB" })),
      { name: "memory at the end beside that half way", value: share(memory, PARTS / 2 - 1), unit: "times" },
      { name: "data directory at the end beside that half way", value: share(disk, PARTS / 2 - 1), unit: "times" },
      { name: `start after 1 of ${PARTS} parts`, value: median(young), unit: "ms" },
      { name: "start at the end", value: median(old), unit: "ms" },
      { name: "start at the end beside that", value: median(old) / median(young), unit: "times" },
    ]
  } finally {
    await Processes.removeAll()
  }
}

export const suite: Suite = {
  about: `a solo node that runs ${ROUNDS} rounds as fast as it can, with the default pruning`,
  isLong: true,
  figures,
}
