import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { addressOf, Cluster, coins, type Machine, transfer } from "./Cluster.js"

const commitsOf = (machine: Machine) => machine.executed.map(({ execution }) => execution.effectsDigest)

/** Every machine's commits are a prefix of the longest one's. */
const expectOneHistory = (machines: ReadonlyArray<Machine>): void => {
  const longest = machines.map(commitsOf).reduce((a, b) => (a.length >= b.length ? a : b))
  for (const machine of machines) expect(commitsOf(machine)).toEqual(longest.slice(0, commitsOf(machine).length))
}

const tagsOf = (machine: Machine) => new Set(machine.outputs.map(({ _tag }) => _tag))

const four = { validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 } }

describe("a solo replica", () => {
  it("finalizes what it is given, with nobody to talk to", () => {
    const cluster = new Cluster({ validators: { ann: 10_000 } })
    cluster.start()
    const ann = cluster.machine("ann")
    expect(Either.isRight(ann.replica.submit(transfer("alice", 0, "bob", 500), cluster.now))).toBe(true)
    cluster.runRounds(10)
    expect(ann.replica.read.account(addressOf("bob")).balance).toBe(coins(1_000) + 500)
    expect(ann.replica.read.account(addressOf("alice")).nonce).toBe(1)
    expect(ann.replica.pool.size).toBe(0)
    expect(ann.replica.read.head.leaderRound).toBeGreaterThanOrEqual(7)
  })

  it("goes from epoch to epoch, its checkpoints signed by itself", () => {
    const cluster = new Cluster({ validators: { ann: 10_000 }, epochRounds: 40 })
    cluster.start()
    cluster.runRounds(150)
    const ann = cluster.machine("ann")
    expect(ann.replica.core.epoch.opening.record.epoch).toBeGreaterThanOrEqual(3)
    expect(tagsOf(ann)).toContain("CheckpointFinal")
    const built = ann.outputs.filter(({ _tag }) => _tag === "CheckpointBuilt")
    expect(built.length).toBeGreaterThanOrEqual(12)
  })
})

describe("four replicas", () => {
  it("finalize transactions given to any of them", () => {
    const cluster = new Cluster(four)
    cluster.start()
    cluster.runRounds(3)
    for (let nonce = 0; nonce < 20; nonce++) {
      const machine = cluster.machines[nonce % 4]
      const taken = machine?.replica.submit(transfer("alice", nonce, "bob", 1), cluster.now)
      expect(taken && Either.isRight(taken)).toBe(true)
      cluster.run(25)
    }
    cluster.runRounds(20)
    for (const machine of cluster.machines) {
      expect(machine.replica.read.account(addressOf("bob")).balance).toBe(coins(1_000) + 20)
      expect(machine.replica.pool.size).toBe(0)
    }
    expectOneHistory(cluster.machines)
  })

  it("close epochs with checkpoints that a quorum signs", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 })
    cluster.start()
    cluster.runRounds(180)
    for (const { replica, disk } of cluster.machines) {
      expect(replica.core.epoch.opening.record.epoch).toBeGreaterThanOrEqual(4)
      expect(disk.closings.map(({ checkpoint }) => checkpoint.epoch).slice(0, 3)).toEqual([1, 2, 3])
    }
    expectOneHistory(cluster.machines)
  })
})
