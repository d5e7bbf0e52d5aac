import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import { Core } from "../../src/consensus/Core.js"
import type { ExecutedCommit } from "../../src/consensus/commit/Rollback.js"
import { Epoch } from "../../src/consensus/Epoch.js"
import type { Output } from "../../src/consensus/output/Output.js"
import { freshEpoch } from "../../src/consensus/output/StoredEpoch.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { Chance } from "../simulation/Chance.js"
import { endedEpoch } from "../support/EndedEpoch.js"
import { type Habits, type RandomDag, randomDag, shuffleParentsFirst } from "./RandomDag.js"
import { equalWeights, openingOf, recordOf, rules } from "./TestCommittee.js"

const NOW = Natural.timestamp(10_000_000)

const habits: Habits = {
  weights: equalWeights(4),
  rounds: 24,
  silence: 15,
  neglect: 40,
  missedLeaders: 25,
  equivocation: 50,
  record: { rules: { ...rules, collectionDepthRounds: 4 } },
}

/** Everything that determines a node's future, except waiting vertices. */
const stateOf = ({ dag, committer, position, isClosed, ownVertices, ownRound }: Epoch) => {
  const rounds = Array.from({ length: dag.highestRound }, (_, i) => Natural.round(i + 1))
  return {
    position,
    isClosed,
    ownRound,
    ownVertices: ownVertices.map(({ header }) => header.hash),
    collectedRound: dag.collectedRound,
    quorumRound: dag.quorumRound,
    verdicts: rounds.map((round) => committer.verdictOf(round)?._tag),
    votedOn: rounds.map((round) => committer.isVotedOn(round)),
    nodes: rounds.flatMap((round) =>
      dag.at(round).map(({ hash, isFirst, isOrdered, isCovered, vote, certifies, parents }) => ({
        ...{ hash, isFirst, isOrdered, isCovered, vote, certifies },
        parents: parents.map((parent) => parent.hash),
      })),
    ),
  }
}

const own = ({ committee }: RandomDag) => committee.member(3).address

const open = (random: RandomDag) => {
  const outputs: Array<Output> = []
  const epoch = new Epoch(random.opening, own(random), (output) => outputs.push(output))
  return { epoch, outputs }
}

const commitsIn = (outputs: ReadonlyArray<Output>) =>
  outputs.flatMap((output) => (output._tag === "Committed" ? [output] : []))
const insertedIn = (outputs: ReadonlyArray<Output>) =>
  outputs.flatMap((output) => (output._tag === "Inserted" ? [output.vertex] : []))

const deliver = (random: RandomDag, vertices: ReadonlyArray<Vertex>) => {
  const { epoch, outputs } = open(random)
  for (const vertex of vertices) epoch.receive(vertex)
  return { epoch, outputs }
}

describe("an epoch", () => {
  it("orders the same vertices in the same commits, however they arrive", () => {
    let compared = 0
    FastCheck.assert(
      FastCheck.property(FastCheck.integer(), (seed) => {
        const random = randomDag(seed, habits)
        const { outputs } = deliver(random, random.vertices)
        const expected = commitsIn(outputs)
        // In any order: a vertex that arrives before its parents waits for them.
        for (let i = 1; i <= 3; i++) {
          const shuffled = deliver(random, new Chance(seed + i).shuffle(random.vertices))
          const commits = commitsIn(shuffled.outputs)
          const length = Math.min(commits.length, expected.length)
          expect(commits.slice(0, length)).toEqual(expected.slice(0, length))
          compared += length
        }
      }),
      { numRuns: 60 },
    )
    expect(compared).toBeGreaterThan(60)
  })

  it("orders every vertex at most once, parents before children", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer(), (seed) => {
        const random = randomDag(seed, habits)
        const ordered = commitsIn(deliver(random, random.vertices).outputs).flatMap(({ vertices }) => vertices)
        const position = new Map(ordered.map(({ header }, i) => [header.hash, i]))
        expect(position.size).toBe(ordered.length)
        for (const [i, { header }] of ordered.entries()) {
          for (const { hash } of header.parents) expect(position.get(hash) ?? -1).toBeLessThan(i)
        }
      }),
      { numRuns: 40 },
    )
  })

  it("rebuilt from its stored vertices has exactly its previous state, at every prefix", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer(), (seed) => {
        const random = randomDag(seed, { ...habits, rounds: 16 })
        const { epoch, outputs } = open(random)
        for (const vertex of new Chance(seed).shuffle(random.vertices)) {
          epoch.receive(vertex)
          const rebuilt = open(random)
          for (const stored of insertedIn(outputs)) rebuilt.epoch.restore(stored)
          expect(stateOf(rebuilt.epoch)).toEqual(stateOf(epoch))
          // Waiting vertices may have shown more, never less than what is in the DAG.
          expect(rebuilt.epoch.reachedRound).toBeGreaterThanOrEqual(rebuilt.epoch.dag.quorumRound)
          expect(rebuilt.epoch.reachedRound).toBeLessThanOrEqual(epoch.reachedRound)
          expect(commitsIn(rebuilt.outputs)).toEqual(commitsIn(outputs))
        }
      }),
      { numRuns: 12 },
    )
  })

  it("keeps no more than the collection depth, at any length", () => {
    const random = randomDag(7, { ...habits, rounds: 200, missedLeaders: 5, silence: 5 })
    const { epoch } = open(random)
    let most = 0
    for (const vertex of random.vertices) {
      epoch.receive(vertex)
      most = Math.max(most, epoch.dag.size)
    }
    expect(epoch.dag.collectedRound).toBe(epoch.position.leaderRound - 4)
    expect(most).toBeLessThan(4 * 5 * (4 + 12))
  })

  it("returns own vertices that were collected unordered", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer(), (seed) => {
        const random = randomDag(seed, { ...habits, rounds: 40, silence: 40 })
        const { outputs, epoch } = deliver(random, random.vertices)
        const mine = insertedIn(outputs).filter(({ header }) => header.author === own(random))
        const ordered = new Set(commitsIn(outputs).flatMap(({ vertices }) => vertices.map(({ header }) => header.hash)))
        const returned = outputs.flatMap((output) => (output._tag === "Returned" ? output.vertices : []))
        const lost = mine.filter(({ header }) => header.round <= epoch.dag.collectedRound && !ordered.has(header.hash))
        expect(returned).toEqual(lost)
      }),
      { numRuns: 40 },
    )
  })

  it("closes with the first commit at or past its last round, and orders nothing after it", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer(), (seed) => {
        const random = randomDag(seed, { ...habits, record: { rules: { ...rules, epochRounds: 12 } } })
        const { epoch, outputs } = deliver(random, random.vertices)
        const commits = commitsIn(outputs)
        const rounds = commits.map(({ commit }) => commit.leaderRound)
        expect(rounds.slice(0, -1).every((round) => round < 12)).toBe(true)
        expect(commits.map(({ closes }) => closes)).toEqual(rounds.map((round) => round >= 12))
        expect(epoch.isClosed).toBe(rounds.some((round) => round >= 12))
      }),
      { numRuns: 40 },
    )
  })
})

describe("a starting core", () => {
  const executed = (outputs: ReadonlyArray<Output>): ReadonlyArray<ExecutedCommit> =>
    commitsIn(outputs).map(({ commit }) => ({ commit, effectsDigest: Hash.ZERO }))

  const start = (random: RandomDag, vertices: ReadonlyArray<Vertex>, commits: ReadonlyArray<ExecutedCommit>) => {
    const current = { ...freshEpoch(random.opening), vertices, commits }
    const core = new Core(
      { roundIntervalMs: 500, guard: null },
      { current, previous: null, signed: [], companions: [] },
    )
    return core.start(NOW)
  }

  const random = randomDag(11, habits)
  const { outputs } = deliver(random, shuffleParentsFirst(new Chance(11), random.vertices))
  const vertices = insertedIn(outputs)
  const commits = executed(outputs)

  it("outputs again only the commits that were not recorded", () => {
    expect(commits.length).toBeGreaterThan(4)
    for (let recorded = 0; recorded <= commits.length; recorded++) {
      const again = commitsIn(start(random, vertices, commits.slice(0, recorded)))
      expect(again).toEqual(commitsIn(outputs).slice(recorded))
    }
  })

  it("stops when the stored vertices decide another commit than was recorded", () => {
    const [first, second, ...rest] = commits
    if (first === undefined || second === undefined) throw new Error("two commits expected")
    const forged = { ...second, commit: { ...second.commit, hash: Hash.ZERO } }
    const said = start(random, vertices, [first, forged, ...rest])
    expect(said.at(-1)).toEqual({
      _tag: "FinalityRollback",
      rollback: { _tag: "CommitDecidedAnew", recorded: forged.commit, decided: second.commit },
    })
    expect(commitsIn(said)).toEqual([])
  })

  it("stops when a recorded commit is not decided by the stored vertices", () => {
    const said = start(random, vertices.slice(0, 4), commits)
    expect(said.at(-1)).toEqual({
      _tag: "FinalityRollback",
      rollback: { _tag: "CommitNotDecided", recorded: commits[0]?.commit },
    })
    expect(commitsIn(said)).toEqual([])
  })

  it("loads no stored vertex of a non-member", () => {
    const { record } = random.opening
    const first = vertices.filter(({ header }) => header.round === record.firstRound)
    const [outsider, ...others] = [...new Set(first.map(({ header }) => header.author))]
    const members = record.members.filter(({ address }) => address !== outsider)
    const epoch = new Epoch({ ...random.opening, record: { ...record, members } }, null, () => undefined)
    for (const vertex of first) epoch.restore(vertex)
    const authors = new Set(epoch.dag.at(record.firstRound).map(({ vertex }) => vertex.header.author))
    expect(others.length).toBeGreaterThan(1)
    expect(authors).toEqual(new Set(others))
  })

  it("tells members what they signed last in the previous epoch, without loading its vertices", () => {
    const record = recordOf(equalWeights(4), { epoch: Natural.epoch(2), firstRound: Natural.round(25) })
    const ended = endedEpoch({ ...freshEpoch(random.opening), vertices })
    const previous = { ...ended, vertices: [] }
    const core = new Core(
      { roundIntervalMs: 500, guard: null },
      { current: freshEpoch(openingOf(record)), previous, signed: [], companions: [] },
    )
    for (const { address } of record.members) {
      const rounds = vertices.filter(({ header }) => header.author === address).map(({ header }) => header.round)
      expect(core.highestKnownOf(address).header?.round).toBe(Math.max(...rounds))
    }
  })
})
