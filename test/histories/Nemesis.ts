/** What goes wrong with a network, one thing after the other, drawn from a seed. Each fault is over when it returns. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Chance } from "../simulation/Chance.js"
import type { Line } from "./History.js"
import type { World } from "./World.js"

interface Fault {
  readonly name: string
  /** Of these, one is drawn. */
  readonly victims: (world: World) => ReadonlyArray<string>
  readonly strike: (world: World, victim: string, chance: Chance, write: (line: Line) => void) => Promise<void>
}

const CLOCK_STEPS_MS = [-3_600_000, -5_000, 5_000, 3_600_000]

const shortly = (chance: Chance): Promise<void> => sleep(500 + chance.below(3_000))

const kill: Fault = {
  name: "kill",
  victims: ({ names }) => names,
  strike: async (world, victim, chance) => {
    await world.node(victim).kill()
    await shortly(chance)
    await world.startNode(victim)
  },
}

const pause: Fault = {
  name: "pause",
  victims: ({ names }) => names,
  strike: async (world, victim, chance) => {
    const { pid } = world.node(victim)
    process.kill(pid, "SIGSTOP")
    await shortly(chance)
    process.kill(pid, "SIGCONT")
  },
}

const clock: Fault = {
  name: "clock",
  victims: ({ names }) => names,
  strike: async (world, victim, chance) => {
    world.setClock(victim, CLOCK_STEPS_MS[chance.below(CLOCK_STEPS_MS.length)] ?? 0)
    await shortly(chance)
    world.setClock(victim, 0)
  },
}

const partition: Fault = {
  name: "partition",
  victims: ({ names }) => names,
  strike: async ({ lines }, victim, chance) => {
    lines.cut((from, to) => (from === victim) !== (to === victim))
    await shortly(chance)
    lines.heal()
  },
}

const rolling: Fault = {
  name: "rolling restart",
  victims: () => ["all"],
  strike: async (world) => {
    for (const name of world.names) {
      await world.node(name).stop()
      await world.startNode(name)
    }
  },
}

/** The copy is of the moment before; what the follower learned since it must learn again. */
const restore: Fault = {
  name: "older disk",
  victims: ({ names, validators }) => names.filter((name) => !validators.includes(name)),
  strike: async (world, victim, chance, write) => {
    const back = await world.saveFollower()
    await shortly(chance)
    // Written while it is down, so that no answer lies beside the mark.
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

/** Another process with a validator's key and an empty disk. */
const copy: Fault = {
  name: "key copied",
  victims: ({ validators }) => validators,
  strike: async (world, victim, chance) => {
    const other = await world.startCopy(victim)
    await shortly(chance)
    await other.kill()
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

export const FAULTS: ReadonlyArray<Fault> = [
  ...[kill, pause, clock, partition, rolling, restore, copy, full],
  ...[database, paused, gateway],
]

/** Strikes until the time is over. */
export const rage = async (
  world: World,
  chance: Chance,
  untilMs: number,
  write: (line: Line) => void,
  say: (text: string) => void,
): Promise<void> => {
  const began = performance.now()
  let left: ReadonlyArray<Fault> = []
  while (performance.now() < untilMs) {
    // Each once before one strikes again.
    if (left.length === 0) left = FAULTS.filter(({ victims }) => victims(world).length > 0)
    const fault = left[chance.below(left.length)] ?? kill
    left = left.filter((other) => other !== fault)
    const victims = fault.victims(world)
    const node = victims[chance.below(victims.length)] ?? ""
    say(`${((performance.now() - began) / 1_000).toFixed(1).padStart(7)} s  ${fault.name}  ${node}`)
    write({ kind: "fault", at: performance.now(), fault: fault.name, node })
    await fault.strike(world, node, chance, write)
    await shortly(chance)
  }
}
