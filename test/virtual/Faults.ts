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
    world.resume(victim)
  },
}

/** Its threads write and check as always, and answer seconds later. */
const slowThreads: Fault<World> = {
  name: "slow threads",
  victims: anybody,
  strike: async (world, victim, chance) => {
    const { machine } = world.node(victim)
    machine.lateMs = chance.between(200, 4_000)
    await wait(chance, 4_000, 12_000)
    machine.lateMs = 0
  },
}

/** What it says is not heard, although it hears the others. */
const mute: Fault<World> = {
  name: "mute",
  victims: anybody,
  strike: async ({ lines }, victim, chance) => {
    lines.cut((from) => from === victim)
    await wait(chance, 2_000, 20_000)
    lines.heal()
  },
}

/** One that checks signatures, with what it was told. */
const deadThread: Fault<World> = {
  name: "dead thread",
  victims: anybody,
  strike: async (world, victim, chance) => {
    world.node(victim).machine.lateMs = 500
    await wait(chance, 500, 2_000)
    world.endThreads(victim, "node/signatures/SignatureProgram")
    world.node(victim).machine.lateMs = 0
  },
}

export const faults: ReadonlyArray<Fault<World>> = [...Nemesis.FAULTS, longPause, slowThreads, mute, deadThread]
