import { describe, expect, it } from "vitest"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import { COMMITS_AHEAD, HeartbeatPool } from "../../src/replica/signing/HeartbeatPool.js"
import { signerOf } from "./Cluster.js"

const ROUND = Natural.round(10)
const hashOf = (network: string, index: number) => Hash.of("udg/commit", Binary.utf8(`${network} ${index}`))
const beatOf = (network: string, index: number) =>
  Heartbeat.sign(Natural.commitIndex(index), hashOf(network, index), signerOf("eve"))
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

  it("remembers a bounded number for each validator", () => {
    const pool = new HeartbeatPool()
    for (let index = 0; index < 1_000; index++) pool.add(beatOf(`network ${index}`, 8), ROUND, "ahead")
    expect(pool.size).toBe(1)
    pool.executed({ index: Natural.commitIndex(8), hash: hashOf("ours", 8) })
    expect(pool.size).toBe(0)
  })
})
