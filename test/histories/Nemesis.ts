/** Faults of a network, one after the other, drawn from a seed. A fault is over when its function returns. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Chance } from "../simulation/Chance.js"
import type { Line } from "./History.js"
import type { Stage } from "./Stage.js"
import type { World } from "./World.js"

/** Faults of processes alone need more of a world than a stage has. */
export interface Fault<S extends Stage = World> {
  readonly name: string
  /** The candidates, one of which is drawn. */
  readonly victims: (world: S) => ReadonlyArray<string>
  readonly strike: (world: S, victim: string, chance: Chance, write: (line: Line) => void) => Promise<void>
}

const CLOCK_STEPS_MS = [-3_600_000, -5_000, 5_000, 3_600_000]

/** Nodes need some seconds until they have reached a quorum and sign. */
const CONNECTED_MS = 5_000

const shortly = (chance: Chance): Promise<void> => sleep(500 + chance.below(3_000))

const kill: Fault<Stage> = {
  name: "kill",
  victims: ({ names }) => names,
  strike: async (world, victim, chance) => {
    await world.node(victim).kill()
    await shortly(chance)
    await world.startNode(victim)
  },
}

const pause: Fault<Stage> = {
  name: "pause",
  victims: ({ names }) => names,
  strike: async (world, victim, chance) => {
    world.pause(victim)
    await shortly(chance)
    world.resume(victim)
  },
}

const clock: Fault<Stage> = {
  name: "clock",
  victims: ({ names }) => names,
  strike: async (world, victim, chance) => {
    world.setClock(victim, CLOCK_STEPS_MS[chance.below(CLOCK_STEPS_MS.length)] ?? 0)
    await shortly(chance)
    world.setClock(victim, 0)
  },
}

const partition: Fault<Stage> = {
  name: "partition",
  victims: ({ names }) => names,
  strike: async ({ lines }, victim, chance) => {
    lines.cut((from, to) => (from === victim) !== (to === victim))
    await shortly(chance)
    lines.heal()
  },
}

const rolling: Fault<Stage> = {
  name: "rolling restart",
  victims: () => ["all"],
  strike: async (world) => {
    for (const name of world.names) {
      await world.node(name).stop()
      await world.startNode(name)
    }
  },
}

/** The follower's copy is from just before. It must catch up on what came since. */
const restore: Fault<Stage> = {
  name: "older disk",
  victims: ({ names, validators }) => names.filter((name) => !validators.includes(name)),
  strike: async (world, victim, chance, write) => {
    const back = await world.saveFollower()
    await shortly(chance)
    // Recorded while the node is down, so that no answer coincides with the mark.
    await back(() => write({ kind: "fault", at: performance.now(), fault: "restore", node: victim }))
  },
}

const database: Fault = {
  name: "PostgreSQL killed",
  victims: ({ archived }) => (archived === null ? [] : ["database"]),
  strike: async ({ archived }, _, chance) => {
    await archived?.server.kill()
    await shortly(chance)
    await archived?.server.start()
  },
}

const paused: Fault = {
  name: "PostgreSQL paused",
  victims: ({ archived }) => (archived === null ? [] : ["database"]),
  strike: async ({ archived }, _, chance) => {
    const pid = archived?.server.pid() ?? 0
    if (pid === 0) return
    process.kill(pid, "SIGSTOP")
    await shortly(chance)
    process.kill(pid, "SIGCONT")
  },
}

const gateway: Fault = {
  name: "gateway killed",
  victims: ({ archived }) => (archived === null ? [] : [...archived.gateways.keys()]),
  strike: async (world, victim, chance) => {
    await world.killGateway(victim)
    await shortly(chance)
    await world.startGateway(victim)
  },
}

const gatewayPaused: Fault = {
  name: "gateway paused",
  victims: ({ archived }) => (archived === null ? [] : [...archived.gateways.keys()]),
  strike: async ({ archived }, victim, chance) => {
    const { pid } = archived?.gateways.get(victim)?.child ?? {}
    if (pid === undefined) return
    process.kill(pid, "SIGSTOP")
    await shortly(chance)
    process.kill(pid, "SIGCONT")
  },
}

const signerKilled: Fault = {
  name: "signer killed",
  victims: ({ signed }) => [signed],
  strike: async (world, _, chance) => {
    await world.signer.kill()
    await shortly(chance)
    await world.startSigner()
  },
}

/** In half of the cases its node replaces the connection meanwhile. */
const signerPaused: Fault = {
  name: "signer paused",
  victims: ({ signed }) => [signed],
  strike: async ({ signer }, _, chance) => {
    signer.signal("SIGSTOP")
    await (chance.percent(50) ? shortly(chance) : sleep(6_000 + chance.below(4_000)))
    signer.signal("SIGCONT")
  },
}

/** A second process with a validator's key or signer, and an empty disk. */
const copy: Fault<Stage> = {
  name: "key copied",
  victims: ({ validators }) => validators,
  strike: async (world, victim, chance) => {
    const other = await world.startCopy(victim)
    await shortly(chance)
    await other.kill()
  },
}

/** Both nodes have the same memory, and go on with the same slot. */
const twins: Fault = {
  name: "two nodes at one signer",
  victims: ({ signed }) => [signed],
  strike: async (world, _, chance) => {
    const twin = await world.startTwins()
    await sleep(CONNECTED_MS + chance.below(CONNECTED_MS))
    await twin.kill()
  },
}

const full: Fault = {
  name: "full disk",
  victims: ({ mounted }) => mounted,
  strike: async (world, victim, chance) => {
    const empty = world.fill(victim)
    await Promise.race([world.node(victim).ended, shortly(chance)])
    empty()
    await world.node(victim).stop()
    await world.startNode(victim)
  },
}

export const FAULTS: ReadonlyArray<Fault<Stage>> = [kill, pause, clock, partition, rolling, restore, copy]

export const OF_PROCESSES: ReadonlyArray<Fault> = [
  ...[...FAULTS, full, signerKilled, signerPaused, twins],
  ...[database, paused, gateway, gatewayPaused],
]

/** Strikes until the time is over; only by faults of these names, if there are any. */
export const rage = async <S extends Stage>(
  world: S,
  all: ReadonlyArray<Fault<S>>,
  chance: Chance,
  untilMs: number,
  names: ReadonlyArray<string> | undefined,
  write: (line: Line) => void,
  say: (text: string) => void,
): Promise<void> => {
  const began = performance.now()
  const faults = all.filter(({ name, victims }) => (names?.includes(name) ?? true) && victims(world).length > 0)
  if (faults.length === 0) return sleep(untilMs - began)
  let left: ReadonlyArray<Fault<S>> = []
  while (performance.now() < untilMs) {
    // Each fault occurs once before any is repeated.
    if (left.length === 0) left = faults
    const fault: Fault<S> = left[chance.below(left.length)] ?? kill
    left = left.filter((other) => other !== fault)
    const victims = fault.victims(world)
    const node = victims[chance.below(victims.length)] ?? ""
    say(`${((performance.now() - began) / 1_000).toFixed(1).padStart(7)} s  ${fault.name}  ${node}`)
    write({ kind: "fault", at: performance.now(), fault: fault.name, node })
    await fault.strike(world, node, chance, write)
    for (const line of world.newlySigned()) write(line)
    await shortly(chance)
  }
}
