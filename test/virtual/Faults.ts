/** Faults that only virtual machines have, beside those of every stage. */
import type { Fault } from "../histories/Nemesis.js"
import * as Nemesis from "../histories/Nemesis.js"
import type { Chance } from "../simulation/Chance.js"
import type { World } from "./World.js"

const wait = (chance: Chance, leastMs: number, mostMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, chance.between(leastMs, mostMs)))

const anybody = ({ names }: World): ReadonlyArray<string> => names

/** For longer than epochs last and requests wait. */
const longPause: Fault<World> = {
  name: "long pause",
  victims: anybody,
  strike: async (world, victim, chance) => {
    world.pause(victim)
    await wait(chance, 25_000, 45_000)
    world.resume(victim, chance.percent(50))
  },
}

/** Messages to and from its threads are seconds late. In half of the cases it is killed meanwhile. */
const slowThreads: Fault<World> = {
  name: "slow threads",
  victims: anybody,
  strike: async (world, victim, chance) => {
    const { machine } = world.node(victim)
    machine.lateMs = chance.between(200, 4_000)
    await wait(chance, 4_000, 12_000)
    machine.lateMs = 0
    if (!chance.percent(50)) return
    await world.node(victim).kill()
    await world.startNode(victim)
  },
}

/** Each of its events takes as long as on a processor that others use. */
const busy: Fault<World> = {
  name: "busy",
  victims: anybody,
  strike: async (world, victim, chance) => {
    const { machine } = world.node(victim)
    machine.busyMs = 0.5 + chance.fraction() * 2
    await wait(chance, 4_000, 12_000)
    machine.busyMs = 0
  },
}

/** Others do not hear it, although it hears them. */
const mute: Fault<World> = {
  name: "mute",
  victims: anybody,
  strike: async ({ lines }, victim, chance) => {
    lines.cut((from) => from === victim)
    await wait(chance, 2_000, 20_000)
    lines.heal()
  },
}

/** For longer than connections may be silent. */
const longCut: Fault<World> = {
  name: "long cut",
  victims: anybody,
  strike: async ({ lines }, victim, chance) => {
    lines.cut((from, to) => (from === victim) !== (to === victim))
    await wait(chance, 35_000, 110_000)
    lines.heal()
  },
}

const killedInPartition: Fault<World> = {
  name: "killed in a partition",
  victims: anybody,
  strike: async (world, victim, chance) => {
    world.lines.cut((from, to) => (from === victim) !== (to === victim))
    await wait(chance, 500, 5_000)
    await world.node(victim).kill()
    await wait(chance, 100, 2_000)
    await world.startNode(victim)
    await wait(chance, 500, 5_000)
    world.lines.heal()
  },
}

/** One that checks signatures, with what it was told. */
const deadThread: Fault<World> = {
  name: "dead thread",
  victims: anybody,
  strike: async (world, victim, chance) => {
    const { machine } = world.node(victim)
    machine.lateMs = 500
    await wait(chance, 500, 2_000)
    world.endThreads(victim, "node/signatures/SignatureProgram")
    machine.lateMs = 0
  },
}

export const faults: ReadonlyArray<Fault<World>> = [
  ...Nemesis.FAULTS,
  ...[longPause, slowThreads, busy, mute, longCut, killedInPartition, deadThread],
]
