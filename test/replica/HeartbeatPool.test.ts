import { describe, expect, it } from "vitest"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import { COMMITS_AHEAD, HeartbeatPool } from "../../src/replica/signing/HeartbeatPool.js"
import { signerOf } from "./Cluster.js"

const ROUND = Natural.round(10)
const hashOf = (network: string, index: number) => Hash.of("udg/commit", Binary.utf8(`${network} ${index}`))
const beatOf = (network: string, index: number) =>
  Heartbeat.sign(Natural.commitIndex(index), hashOf(network, index), signerOf("eve"))
const some = beatOf("ours", 8)
/** A heartbeat of another validator, which nobody has signed: the pool does not look at signatures. */
const beatBy = (validator: number) => ({ ...some, validator: validator.toString(16).padStart(40, "0") as Address })
const namesOf = (pool: HeartbeatPool) => pool.take(ROUND, () => true).map(({ commitHash }) => commitHash)

describe("the pool of heartbeats", () => {
  it("gives the latest that names an executed commit", () => {
    const pool = new HeartbeatPool()
    for (const index of [5, 7, 6]) pool.add(beatOf("ours", index), ROUND, "executed")
    expect(namesOf(pool)).toEqual([hashOf("ours", 7)])
  })

  it("is not misled by what the same key signed on another network", () => {
    const pool = new HeartbeatPool()
    pool.add(beatOf("ours", 5), ROUND, "executed")
    pool.add(beatOf("theirs", 900), ROUND, "none")
    expect(pool.size).toBe(1)
    for (let ahead = 1; ahead <= COMMITS_AHEAD; ahead++) pool.add(beatOf("theirs", 5 + ahead), ROUND, "ahead")
    expect(namesOf(pool)).toEqual([hashOf("ours", 5)])
    pool.executed({ index: Natural.commitIndex(6), hash: hashOf("ours", 6) })
    expect(namesOf(pool)).toEqual([hashOf("ours", 5)])
    pool.add(beatOf("ours", 6), ROUND, "executed")
    expect(namesOf(pool)).toEqual([hashOf("ours", 6)])
  })

  it("keeps one that names a commit ahead until that commit is executed", () => {
    const pool = new HeartbeatPool()
    pool.add(beatOf("theirs", 7), ROUND, "ahead")
    pool.add(beatOf("ours", 7), ROUND, "ahead")
    expect(namesOf(pool)).toEqual([])
    pool.executed({ index: Natural.commitIndex(7), hash: hashOf("ours", 7) })
    expect(namesOf(pool)).toEqual([hashOf("ours", 7)])
  })

  it("keeps waiting what names a later commit than the one executed", () => {
    const pool = new HeartbeatPool()
    pool.add(beatOf("ours", 9), ROUND, "ahead")
    pool.executed({ index: Natural.commitIndex(8), hash: hashOf("ours", 8) })
    expect([pool.size, namesOf(pool)]).toEqual([1, []])
    pool.executed({ index: Natural.commitIndex(9), hash: hashOf("ours", 9) })
    expect(namesOf(pool)).toEqual([hashOf("ours", 9)])
  })

  it("waits with one commit for each heartbeat of a validator, four at most, and none twice", () => {
    const pool = new HeartbeatPool()
    for (const index of [12, 12, 13, 14, 15, 16]) pool.add(beatOf("ours", index), ROUND, "ahead")
    const left = [12, 13, 14, 15, 16].map((index) => {
      pool.executed({ index: Natural.commitIndex(index), hash: hashOf("ours", index) })
      return namesOf(pool)
    })
    expect(left).toEqual([12, 13, 14, 15, 15].map((index) => [hashOf("ours", index)]))
    expect(pool.size).toBe(1)
  })

  it("tells heartbeats for commits of one hash and for one index of two networks apart", () => {
    const pool = new HeartbeatPool()
    const first = beatOf("ours", 12)
    pool.add(first, ROUND, "ahead")
    pool.add({ ...first, commitIndex: Natural.commitIndex(13) }, ROUND, "ahead")
    pool.executed({ index: Natural.commitIndex(12), hash: hashOf("theirs", 12) })
    expect([pool.size, namesOf(pool)]).toEqual([1, []])
    pool.executed({ index: Natural.commitIndex(13), hash: first.commitHash })
    expect(namesOf(pool)).toEqual([first.commitHash])
  })

  it("takes no heartbeat for the commit of another index, whose hash it names", () => {
    const pool = new HeartbeatPool()
    const { commitHash } = beatOf("ours", 12)
    for (const beat of [beatOf("theirs", 12), { ...beatOf("ours", 13), commitHash }]) pool.add(beat, ROUND, "ahead")
    pool.executed({ index: Natural.commitIndex(12), hash: commitHash })
    expect([pool.size, namesOf(pool)]).toEqual([1, []])
  })

  it("waits no longer with one that comes again", () => {
    const pool = new HeartbeatPool()
    for (const round of [10, 12]) pool.add(some, Natural.round(round), "executed")
    expect(pool.take(Natural.round(14), () => false)).toEqual([some])
  })

  it("lets go of what a vertex has brought, of that commit or an earlier one, and of nothing later", () => {
    const pool = new HeartbeatPool()
    pool.included(beatOf("ours", 9))
    pool.add(beatOf("ours", 7), ROUND, "executed")
    pool.included(beatOf("ours", 6))
    expect(namesOf(pool)).toEqual([hashOf("ours", 7)])
    pool.included(beatOf("ours", 7))
    expect(namesOf(pool)).toEqual([])
    pool.add(beatOf("ours", 8), ROUND, "executed")
    pool.included(beatOf("ours", 9))
    expect(pool.size).toBe(0)
  })

  it("gives the assigned ones at once, the others after four rounds, and a hundred at most", () => {
    const pool = new HeartbeatPool()
    for (let n = 0; n < 101; n++) pool.add(beatBy(n), ROUND, "executed")
    const taken = (round: number, assigned: number) =>
      pool.take(Natural.round(round), (validator) => validator === beatBy(assigned).validator)
    expect(taken(10, 3)).toEqual([beatBy(3)])
    expect(taken(13, 3)).toEqual([beatBy(3)])
    expect(taken(14, 3)).toEqual(Array.from({ length: 100 }, (_, n) => beatBy(n)))
  })

  it("holds those of a thousand validators, and of each as many as wait, whoever else comes", () => {
    const pool = new HeartbeatPool()
    for (let n = 0; n <= 1_000; n++) pool.add(beatBy(n), ROUND, "executed")
    expect(pool.size).toBe(1_000)
    for (let n = 0; n <= 1_000; n++) pool.add({ ...beatBy(n), commitIndex: Natural.commitIndex(30) }, ROUND, "ahead")
    expect(pool.size).toBe(2_000)
    // Those that are held may still move on.
    const later = { ...beatBy(0), commitIndex: Natural.commitIndex(9) }
    pool.add(later, ROUND, "executed")
    expect(pool.take(ROUND, (validator) => validator === later.validator)).toEqual([later])
    const another = { ...beatBy(0), commitIndex: Natural.commitIndex(31) }
    pool.add(another, ROUND, "ahead")
    pool.executed({ index: Natural.commitIndex(30), hash: hashOf("theirs", 30) })
    expect(pool.size).toBe(1_001)
    pool.clear()
    expect(pool.size).toBe(0)
  })

  it("remembers a bounded number for each validator", () => {
    const pool = new HeartbeatPool()
    for (let index = 0; index < 1_000; index++) pool.add(beatOf(`network ${index}`, 8), ROUND, "ahead")
    expect(pool.size).toBe(1)
    pool.executed({ index: Natural.commitIndex(8), hash: hashOf("ours", 8) })
    expect(pool.size).toBe(0)
  })
})
