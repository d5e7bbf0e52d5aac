/**
 * A solo node that ages by as many rounds as it can make: its memory and disk usage, and whether it still starts as
 * fast as a new one.
 */
import { cpSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Processes from "../test/network/Processes.js"
import { type Figure, median } from "./Harness.js"
import * as Payments from "./Payments.js"
import * as Usage from "./Usage.js"

export interface Wish {
  readonly rounds: number
  /** Options of the node, besides those of every validator. */
  readonly options: ReadonlyArray<string>
  readonly paymentsPerSecond: number
}

const PARTS = 10
const ROUND_MS = 1
const EPOCH_ROUNDS = 240
const LOOK_MS = 1_000
const SENDERS = 1_000
const BALANCE = Sats.make(1_000 * Sats.SATS_PER_COIN)
/** Alternates between ages, so that a slow moment of the machine does not look like an old node. */
const STARTS = 5
const MIB = 2 ** 20

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
  while ((await roundOf(node)) < round) await sleep(LOOK_MS)
}

interface Load {
  /** Returns once everything sent is final, with the number of transactions. */
  readonly end: () => Promise<number>
}

const pay = (
  network: Processes.Founded,
  node: Processes.Started,
  senders: ReadonlyArray<Payments.Sender>,
  perSecond: number,
): Load => {
  const client = new Payments.Client(network, node, senders)
  const began = performance.now()
  let [sent, isEnding] = [0, false]
  const run = async (): Promise<void> => {
    while (!isEnding) {
      const due = Math.floor(((performance.now() - began) / 1_000) * perSecond) - sent
      client.prepare(due)
      client.offer(due)
      sent += due
      await sleep(LOOK_MS)
      await client.settled()
      await client.latencies()
    }
  }
  const running = perSecond > 0 ? run() : Promise.resolve()
  // Passes the failure on to those who wait.
  running.catch(() => {})
  return {
    end: async () => {
      isEnding = true
      await running
      return sent
    },
  }
}

export const figures = async ({ rounds, options, paymentsPerSecond }: Wish): Promise<ReadonlyArray<Figure>> => {
  const [ofTheYoung, ofTheOld] = [Payments.senders(SENDERS), Payments.senders(SENDERS)]
  const network = Processes.found({
    validators: 1,
    roundMs: ROUND_MS,
    epochRounds: EPOCH_ROUNDS,
    allocations: [...ofTheYoung, ...ofTheOld].map(({ address }) => ({ address, amount: BALANCE })),
  })
  const start = (name: string): Promise<Processes.Started> => {
    const words = ["--validator-key", join(network.folder, "0.key"), "--rate-limits", "off", ...options]
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
    let load = pay(network, node, ofTheYoung, paymentsPerSecond)
    let paid = 0
    const memory: Array<number> = []
    const disk: Array<number> = []
    for (let part = 1; part <= PARTS; part++) {
      await reach(node, (rounds / PARTS) * part)
      memory.push(Usage.memoryMiB(node))
      disk.push(bytesIn(node.directory) / MIB)
      console.log(`round ${(rounds / PARTS) * part}: ${memory.at(-1)} MiB of memory, ${disk.at(-1)} MiB on the disk`)
      if (part > 1) continue
      paid += await load.end()
      await node.stop()
      cpSync(node.directory, join(network.folder, "node-young"), { recursive: true })
      node = await start("old")
      load = pay(network, node, ofTheOld, paymentsPerSecond)
    }
    paid += await load.end()
    await node.stop()
    const [young, old]: [Array<number>, Array<number>] = [[], []]
    for (let i = 0; i < STARTS; i++) {
      young.push(await timed("young"))
      old.push(await timed("old"))
    }
    const share = (values: ReadonlyArray<number>, from: number): number => (values.at(-1) ?? 0) / (values[from] ?? 1)
    return [
      { name: "payments", value: paid, unit: "transactions" },
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
