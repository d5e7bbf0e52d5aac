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

const expectAgreement = (machines: ReadonlyArray<Machine>): void => {
  const byIndex = new Map<number, string>()
  for (const { executed } of machines) {
    for (const { execution } of executed) {
      const known = byIndex.get(execution.commit.index)
      if (known !== undefined) expect(execution.effectsDigest).toBe(known)
      byIndex.set(execution.commit.index, execution.effectsDigest)
    }
  }
  expect(byIndex.size).toBeGreaterThan(0)
}

describe("a replica that starts again", () => {
  it("goes on where its disk is, whenever the power was cut", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 })
    cluster.start()
    let nonce = 0
    for (let moment = 0; moment < 60; moment++) {
      cluster.run(130 + 37 * (moment % 7))
      const machine = cluster.machines[moment % 4]
      cluster.machines[(moment + 1) % 4]?.replica.submit(transfer("alice", nonce, "bob", 1), cluster.now)
      nonce = cluster.machines[0]?.replica.pool.nextNonce(addressOf("alice")) ?? nonce
      machine?.cutPower()
      if (moment % 3 === 0) cluster.run(60)
      machine?.start()
    }
    cluster.runRounds(60)
    expectAgreement(cluster.machines)
    const rounds = cluster.machines.map(({ replica }) => replica.read.head.leaderRound)
    expect(Math.min(...rounds)).toBeGreaterThan(80)
    for (const { replica } of cluster.machines) expect(replica.read.account(addressOf("bob")).balance).toBe(coins(1_000) + nonce)
    expect(nonce).toBeGreaterThan(10)
  })

  it("a whole network whose power is cut comes back, also in the middle of a close", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 })
    cluster.start()
    for (let cut = 0; cut < 40; cut++) {
      cluster.run(310 + 17 * cut)
      for (const machine of cluster.machines) machine.cutPower()
      cluster.start()
    }
    cluster.runRounds(60)
    expectAgreement(cluster.machines)
    expect(cluster.machines[0]?.replica.core.epoch.opening.record.epoch).toBeGreaterThanOrEqual(3)
  })

  it("keeps pending transactions", () => {
    const cluster = new Cluster(four)
    cluster.machine("ann").start()
    const ann = cluster.machine("ann")
    expect(Either.isRight(ann.replica.submit(transfer("alice", 0, "bob", 5), cluster.now))).toBe(true)
    cluster.run(1_000)
    expect(ann.replica.pool.size).toBe(1)
    ann.stop()
    ann.start()
    expect(ann.replica.pool.size).toBe(1)
    cluster.start()
    cluster.runRounds(20)
    expect(ann.replica.read.account(addressOf("bob")).balance).toBe(coins(1_000) + 5)
  })
})

describe("a replica that was away", () => {
  it("catches up within the epoch from the others' disks", () => {
    const cluster = new Cluster(four)
    cluster.start()
    cluster.runRounds(10)
    cluster.machine("dan").stop()
    cluster.runRounds(80)
    cluster.machine("dan").start()
    cluster.runRounds(25)
    const [ann, , , dan] = cluster.machines
    expectAgreement(cluster.machines)
    expect(dan?.replica.read.head.index).toBeGreaterThanOrEqual((ann?.replica.read.head.index ?? 0) - 3)
    expect(dan && tagsOf(dan)).not.toContain("Joined")
  })

  it("catches up over the end of an epoch", () => {
    const cluster = new Cluster({ ...four, epochRounds: 60 })
    cluster.start()
    cluster.runRounds(30)
    cluster.machine("dan").stop()
    cluster.runRounds(50)
    cluster.machine("dan").start()
    cluster.runRounds(25)
    const [ann, , , dan] = cluster.machines
    expectAgreement(cluster.machines)
    expect(dan?.replica.read.head.index).toBeGreaterThanOrEqual((ann?.replica.read.head.index ?? 0) - 3)
    expect(dan && tagsOf(dan)).not.toContain("Joined")
  })

  it("joins by the state of a closing checkpoint when its epoch is long over", () => {
    const cluster = new Cluster({ ...four, epochRounds: 60 })
    cluster.start()
    cluster.runRounds(30)
    cluster.machine("dan").stop()
    cluster.runRounds(150)
    const [ann, , , dan] = cluster.machines
    expect(ann?.replica.core.epoch.opening.record.epoch).toBeGreaterThanOrEqual(3)
    dan?.start()
    cluster.runRounds(40)
    expect(dan && tagsOf(dan)).toContain("Joined")
    expectAgreement(cluster.machines)
    expect(dan?.replica.read.head.index).toBeGreaterThanOrEqual((ann?.replica.read.head.index ?? 0) - 3)
  })
})

describe("a replica that nobody has seen before", () => {
  it("joins a network that is epochs old, and serves the next one", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 })
    cluster.start()
    cluster.runRounds(150)
    const eve = cluster.add("eve", { isValidator: false })
    eve.start()
    cluster.runRounds(30)
    expect(tagsOf(eve)).toContain("Joined")
    expectAgreement(cluster.machines)
    const ann = cluster.machine("ann")
    expect(eve.replica.read.head.index).toBeGreaterThanOrEqual(ann.replica.read.head.index - 3)
    expect(eve.replica.read.totals).toEqual(ann.replica.read.head.index === eve.replica.read.head.index ? ann.replica.read.totals : eve.replica.read.totals)
  })
})
