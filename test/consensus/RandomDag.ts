/** DAGs as on a hostile network: missing vertices, missed leaders, and equivocation by less than a third. */
import type { Committee } from "../../src/consensus/dag/Committee.js"
import type { Opening } from "../../src/consensus/output/Opening.js"
import type { EpochRecord } from "../../src/protocol/epoch/EpochRecord.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { Chance } from "../simulation/Chance.js"
import { openingOf, recordOf } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

export interface RandomDag {
  readonly opening: Opening
  readonly committee: Committee
  /** Parents first. */
  readonly vertices: ReadonlyArray<Vertex>
}

export interface Habits {
  readonly weights: ReadonlyArray<number>
  readonly rounds: number
  /** Per cent of vertices that are not made, if a quorum remains. */
  readonly silence: number
  /** Per cent of the parents beyond a quorum that are left out. */
  readonly neglect: number
  /** Per cent of vertices that skip an available leader. */
  readonly missedLeaders: number
  /** Per cent of the slots of dishonest members that get a second vertex. */
  readonly equivocation: number
  readonly record?: Partial<EpochRecord>
}

/** The lightest members that together hold less than a third. */
const dishonest = (committee: Committee): ReadonlySet<number> => {
  const chosen = new Set<number>()
  let weight = 0
  const seats = committee.record.members.map((member, seat) => ({ seat, weight: member.weight }))
  for (const { seat, weight: own } of seats.sort((a, b) => a.weight - b.weight)) {
    weight += own
    if (weight * 3 >= committee.totalWeight) break
    chosen.add(seat)
  }
  return chosen
}

export const randomDag = (seed: number, habits: Habits): RandomDag => {
  const chance = new Chance(seed)
  const opening = openingOf(recordOf(habits.weights, habits.record))
  const builder = new VertexBuilder(opening)
  const { committee } = builder
  const guilty = dishonest(committee)
  const vertices: Array<Vertex> = []
  let uncovered: Array<Vertex> = []
  let before: Array<Vertex> = []

  const parentsOf = (seat: number, round: number): ReadonlyArray<Vertex> => {
    if (round === committee.firstRound) return []
    const leader = committee.member(committee.leaderOf(Natural.round(round - 1))).address
    const missesLeader = chance.percent(habits.missedLeaders)
    const own = committee.member(seat).address
    const rank = ({ header }: Vertex): number =>
      header.author === own ? 0 : header.author === leader && missesLeader ? 2 : 1
    const chosen = new Map<string, Vertex>()
    let weight = 0
    for (const vertex of chance.shuffle(before).sort((a, b) => rank(a) - rank(b))) {
      const isEnough = committee.isQuorum(weight)
      if (chosen.has(vertex.header.author) || (isEnough && (rank(vertex) === 2 || chance.percent(habits.neglect))))
        continue
      chosen.set(vertex.header.author, vertex)
      weight += committee.weightOf(committee.seatOf(vertex.header.author) ?? 0)
    }
    const older = uncovered.filter(({ header }) => header.round < round - 1 && header.author !== own)
    const slots = new Set<string>()
    const picked = older.filter(({ header }) => {
      const slot = `${header.round}/${header.author}`
      if (slots.has(slot) || chance.percent(50)) return false
      slots.add(slot)
      return true
    })
    return [...chosen.values(), ...picked.slice(0, committee.size)]
  }

  for (let round: number = committee.firstRound; round < committee.firstRound + habits.rounds; round++) {
    const made: Array<Vertex> = []
    let weight = 0
    for (const [order, seat] of chance.shuffle(committee.record.members.map((_, i) => i)).entries()) {
      const isNeeded = order < committee.size && !committee.isQuorum(weight)
      if (!isNeeded && chance.percent(habits.silence)) continue
      weight += committee.weightOf(seat)
      const count = guilty.has(seat) && chance.percent(habits.equivocation) ? 2 : 1
      for (let i = 0; i < count; i++) {
        const parents = parentsOf(seat, round).map(parentOf)
        made.push(builder.make(seat, round, parents, { timestamp: Natural.timestamp(round * 1_000 + i + seat * 7) }))
      }
    }
    vertices.push(...made)
    const named = new Set(made.flatMap(({ header }) => header.parents.map(({ hash }) => hash)))
    uncovered = [...uncovered, ...before].filter(({ header }) => !named.has(header.hash) && header.round > round - 8)
    before = made
  }
  return { opening, committee, vertices }
}

/** Parents first, otherwise in random order. */
export const shuffleParentsFirst = (chance: Chance, vertices: ReadonlyArray<Vertex>): ReadonlyArray<Vertex> => {
  const present = new Set<string>()
  const known = new Set(vertices.map(({ header }) => header.hash))
  let waiting = chance.shuffle(vertices)
  const ordered: Array<Vertex> = []
  while (waiting.length > 0) {
    const later: Array<Vertex> = []
    for (const vertex of waiting) {
      const isReady = vertex.header.parents.every(({ hash }) => present.has(hash) || !known.has(hash))
      // Delaying a ready vertex at random mixes the rounds.
      if (!isReady || (later.length > 0 && chance.percent(30))) later.push(vertex)
      else {
        present.add(vertex.header.hash)
        ordered.push(vertex)
      }
    }
    waiting = later
  }
  return ordered
}
