/** Replicas that restart: from their disk, behind the others, or with an empty disk. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import { addressOf, Cluster, coins, type Machine, transfer } from "./Cluster.js"
import { expectAgreement, four, writtenBy } from "./FourReplicas.js"

describe("a restarted replica", () => {
  const cutOneAfterTheOther = (moments: number): void => {
    const cluster = new Cluster({ ...four, epochRounds: 40 }).start()
    let nonce = 0
    for (let moment = 0; moment < moments; moment++) {
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
    expect(Math.min(...rounds)).toBeGreaterThan(50 + moments / 2)
    for (const { replica } of cluster.machines)
      expect(replica.read.account(addressOf("bob")).balance).toBe(coins(1_000) + nonce)
    expect(nonce).toBeGreaterThan(moments / 6)
  }

  const WHENEVER = "continues where its disk is, whenever the power was cut"
  it(WHENEVER, () => cutOneAfterTheOther(18))
  it(Rest.of("more moments", WHENEVER), () => cutOneAfterTheOther(60))

  const cutAll = (cuts: number): void => {
    const cluster = new Cluster({ ...four, epochRounds: 40 }).start()
    for (let cut = 0; cut < cuts; cut++) {
      cluster.run(310 + 17 * cut)
      for (const machine of cluster.machines) machine.cutPower()
      cluster.start()
    }
    cluster.runRounds(60)
    expectAgreement(cluster.machines)
    expect(cluster.machines[0]?.replica.core.epoch.opening.record.epoch).toBeGreaterThanOrEqual(3)
  }

  const ALL = "recovers with its whole network from a power cut, also in the middle of a close"
  it(ALL, () => cutAll(15))
  it(Rest.of("more cuts", ALL), () => cutAll(40))

  const highestOf = ({ replica }: Machine) => replica.core.epoch.dag.highestRound
  const highestOfAll = (machines: ReadonlyArray<Machine>) => Math.max(...machines.map(highestOf))

  const goesOnWithinFiveRounds = (cuts: number): void => {
    const cluster = new Cluster({ ...four, epochRounds: 200 }).start()
    for (let cut = 0; cut < cuts; cut++) {
      cluster.run(710 + 23 * cut)
      const highest = highestOfAll(cluster.machines)
      for (const machine of cluster.machines) machine.cutPower()
      cluster.start()
      cluster.runRounds(5)
      for (const machine of cluster.machines) expect(highestOf(machine)).toBeGreaterThan(highest)
    }
    cluster.runRounds(10)
    expectAgreement(cluster.machines)
  }

  const WITHIN_FIVE = "continues with its whole network within five rounds after a power cut of all"
  it(WITHIN_FIVE, () => goesOnWithinFiveRounds(6))
  it(Rest.of("more cuts", WITHIN_FIVE), () => goesOnWithinFiveRounds(20))

  // Own vertices were synced and their parents were not. The fourth's were lost, and three validators could neither
  // insert their own vertices nor sign others for the same rounds.
  const threeGoOn = (moments: number): void => {
    for (let at = 0; at < moments; at++) {
      const cluster = new Cluster(four).start()
      cluster.run(2_000 + 13 * at)
      const highest = highestOfAll(cluster.machines)
      for (const machine of cluster.machines) machine.cutPower()
      const three = cluster.machines.filter(({ name }) => name !== "dan")
      for (const machine of three) machine.start()
      cluster.runRounds(20)
      for (const machine of three) expect(highestOf(machine)).toBeGreaterThan(highest + 3)
      expectAgreement(three)
    }
  }

  const THREE = "continues with two others after a power cut of all, when the fourth does not come back"
  it(THREE, () => threeGoOn(4))
  it(Rest.of("more moments", THREE), () => threeGoOn(10))

  // One retry later than after a kill: no validator shows what it had signed before the others have answered.
  it("continues with its network within eight rounds when everybody kept only its signed vertices of the epoch", () => {
    const cluster = new Cluster({ ...four, epochRounds: 200 })
    const nothing = cluster.machine("ann").disk.copy()
    cluster.start()
    let highest = 0
    for (const lost of [3, 20, 90]) {
      cluster.runRounds(lost)
      highest = highestOfAll(cluster.machines)
      for (const machine of cluster.machines) machine.replaceDisk(nothing.withSignedOf(machine.disk))
      cluster.start()
      for (const { replica } of cluster.machines) expect(replica.read.head.leaderRound).toBeLessThan(highest)
      cluster.runRounds(8)
      for (const machine of cluster.machines) expect(highestOf(machine)).toBeGreaterThan(highest)
    }
    cluster.runRounds(10)
    for (const { replica } of cluster.machines) expect(replica.read.head.leaderRound).toBeGreaterThan(highest)
    expectAgreement(cluster.machines)
  })

  it("keeps pending transactions", () => {
    const cluster = new Cluster(four)
    cluster.machine("ann").start()
    const ann = cluster.machine("ann")
    expect(Either.isRight(ann.replica.submit(transfer("alice", 0, "bob", 5), cluster.now))).toBe(true)
    cluster.run(1_500)
    // Just after the pending ones were drained.
    expect(Either.isRight(ann.replica.submit(transfer("alice", 1, "bob", 5), cluster.now))).toBe(true)
    cluster.run(2_000)
    expect(ann.replica.pool.size).toBe(2)
    ann.stop()
    ann.start()
    expect(ann.replica.pool.size).toBe(2)
    cluster.start()
    cluster.runRounds(20)
    expect(ann.replica.read.account(addressOf("bob")).balance).toBe(coins(1_000) + 10)
  })
})

describe("a replica that was away", () => {
  /** Stops Dan after `before` rounds, for this many rounds, and starts it again. */
  const backAfter = (rounds: number, { before, epochRounds }: { before: number; epochRounds: number }) => {
    const cluster = new Cluster({ ...four, epochRounds }).start().runRounds(before)
    const dan = cluster.machine("dan")
    dan.stop()
    cluster.runRounds(rounds)
    dan.start()
    return { cluster, dan }
  }

  const expectCaughtUp = ({ machines }: Cluster): void => {
    expectAgreement(machines)
    const [ann = -1, , , dan = -1] = machines.map(({ replica }) => replica.read.head.index)
    expect(dan).toBeGreaterThanOrEqual(ann - 3)
  }

  it.each([
    ["within the epoch from the others' disks", 80, { before: 10, epochRounds: 240 }],
    ["over the end of an epoch", 50, { before: 30, epochRounds: 60 }],
  ])("catches up %s", (_, rounds, world) => {
    const { cluster, dan } = backAfter(rounds, world)
    cluster.runRounds(25)
    expectCaughtUp(cluster)
    expect(writtenBy(dan)).not.toContain("Joined")
  })

  it("joins from the state of a closing checkpoint when its epoch is long over", () => {
    const { cluster, dan } = backAfter(150, { before: 30, epochRounds: 60 })
    expect(cluster.machine("ann").replica.core.epoch.opening.record.epoch).toBeGreaterThanOrEqual(3)
    cluster.runRounds(40)
    expect(writtenBy(dan)).toContain("Joined")
    expectCaughtUp(cluster)
  })
})

describe("a new replica", () => {
  it("joins a network that is epochs old, and serves the next one", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 }).start().runRounds(150)
    const eve = cluster.add("eve", { isValidator: false })
    eve.start()
    cluster.runRounds(30)
    expect(writtenBy(eve)).toContain("Joined")
    expectAgreement(cluster.machines)
    const ann = cluster.machine("ann")
    expect(eve.replica.read.head.index).toBeGreaterThanOrEqual(ann.replica.read.head.index - 3)
    // The next one reaches no other machine, and none forwards the committee's signatures to it.
    cluster.passes = (from, to) =>
      !(from.name === "fay" && to.name !== "eve") && !(to.name === "fay" && from.name !== "eve")
    const fay = cluster.add("fay", { isValidator: false })
    cluster.runRounds(100)
    fay.start()
    const { leaderRound } = ann.replica.read.head
    cluster.runRounds(120)
    expect(writtenBy(fay)).toContain("Joined")
    expectAgreement(cluster.machines)
    expect(fay.replica.read.head.leaderRound).toBeGreaterThan(leaderRound + 40)
  })

  it("stops when peers prove two histories, unless the operator trusts one", () => {
    // Two networks of one genesis and the same keys, as a committee that sold its old keys could create.
    const [one, two] = [new Cluster({ ...four, epochRounds: 40 }), new Cluster({ ...four, epochRounds: 40 })]
    two.run(7)
    for (const world of [one, two]) world.start()
    one.machine("ann").replica.submit(transfer("alice", 0, "bob", 1), one.now)
    for (const world of [one, two]) world.runRounds(100)
    const mixed = new Cluster({ ...four, epochRounds: 40 })
    mixed.now = one.now
    mixed.machines.length = 0
    for (const [name, from] of [
      ["left", one],
      ["right", two],
    ] as const) {
      mixed.add(name, { isValidator: false }).replaceDisk(from.machine("ann").disk.copy())
    }
    const eve = mixed.add("eve", { isValidator: false })
    mixed.passes = (from, to) => from === eve || to === eve
    mixed.start()
    mixed.run(8_000)
    const stopped = eve.outputs.find((output) => output._tag === "JoinStopped")
    expect(stopped?._tag === "JoinStopped" && stopped.problem._tag).toBe("TwoChains")
    expect(writtenBy(eve)).not.toContain("Joined")

    const [first] = one.machine("ann").disk.closings
    if (first === undefined) throw new Error("no epoch closed")
    const { epoch, hash } = first.checkpoint
    const fay = mixed.add("fay", { isValidator: false, pin: { epoch, hash } })
    mixed.passes = (from, to) => from === fay || to === fay
    // It would prove to the other network that its committee signed two histories, which would stop that network.
    fay.says = (_, message) => (message._tag === "Closing" ? [] : [message])
    fay.start()
    mixed.run(8_000)
    expect(writtenBy(fay)).toContain("Joined")
    expect(fay.replica.read.account(addressOf("bob")).balance).toBe(coins(1_000) + 1)
  })
})
