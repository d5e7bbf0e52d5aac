import { describe, expect, it } from "vitest"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import { HeartbeatPool } from "../../src/replica/signing/HeartbeatPool.js"
import { signerOf } from "./Cluster.js"

const ROUND = Natural.round(10)
const hashOf = (network: string, index: number) => Hash.of("udg/commit", Binary.utf8(`${network} ${index}`))
const beatOf = (network: string, index: number) =>
  Heartbeat.sign(Natural.commitIndex(index), hashOf(network, index), signerOf("eve"))
const some = beatOf("ours", 8)
/** A heartbeat of another validator, unsigned: the pool does not verify signatures. */
const beatBy = (validator: number) => ({ ...some, validator: validator.toString(16).padStart(40, "0") as Address })
const namesOf = (pool: HeartbeatPool) => pool.take(ROUND, () => true).map(({ commitHash }) => commitHash)

describe("the heartbeat pool", () => {
  it("returns the latest one that names an executed commit", () => {
    const pool = new HeartbeatPool()
    for (const index of [5, 7, 6]) pool.add(beatOf("ours", index), ROUND)
    expect(namesOf(pool)).toEqual([hashOf("ours", 7)])
  })

  it("does not delay one that comes again", () => {
    const pool = new HeartbeatPool()
    for (const round of [10, 12]) pool.add(some, Natural.round(round))
    expect(pool.take(Natural.round(14), () => false)).toEqual([some])
  })

  it("drops a vertex's heartbeats, of that commit or an earlier one, and no later ones", () => {
    const pool = new HeartbeatPool()
    pool.included(beatOf("ours", 9))
    pool.add(beatOf("ours", 7), ROUND)
    pool.included(beatOf("ours", 6))
    expect(namesOf(pool)).toEqual([hashOf("ours", 7)])
    pool.included(beatOf("ours", 7))
    expect(namesOf(pool)).toEqual([])
    pool.add(beatOf("ours", 8), ROUND)
    pool.included(beatOf("ours", 9))
    expect(pool.size).toBe(0)
  })

  it("returns the assigned ones at once, the others after four rounds, and at most a hundred", () => {
    const pool = new HeartbeatPool()
    for (let n = 0; n < 101; n++) pool.add(beatBy(n), ROUND)
    const taken = (round: number, assigned: number) =>
      pool.take(Natural.round(round), (validator) => validator === beatBy(assigned).validator)
    expect(taken(10, 3)).toEqual([beatBy(3)])
    expect(taken(13, 3)).toEqual([beatBy(3)])
    expect(taken(14, 3)).toEqual(Array.from({ length: 100 }, (_, n) => beatBy(n)))
  })

  it("holds the heartbeats of a thousand validators, each of which may still advance", () => {
    const pool = new HeartbeatPool()
    for (let n = 0; n <= 1_000; n++) pool.add(beatBy(n), ROUND)
    expect(pool.size).toBe(1_000)
    const later = { ...beatBy(0), commitIndex: Natural.commitIndex(9) }
    pool.add(later, ROUND)
    expect(pool.take(ROUND, (validator) => validator === later.validator)).toEqual([later])
    pool.clear()
    expect(pool.size).toBe(0)
  })
})
