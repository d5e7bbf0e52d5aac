import { Either, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Position from "../../src/ledger/trie/Position.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import * as Rest from "../support/Rest.js"
import * as Stored from "../support/Stored.js"
import { addressOf, Cluster, coins, type Machine, sign, signerOf, transfer } from "./Cluster.js"

const commitsOf = (machine: Machine) => machine.executed.map(({ execution }) => execution.effectsDigest)

/** Every machine's commits are a prefix of the longest one's. */
const expectOneHistory = (machines: ReadonlyArray<Machine>): void => {
  const longest = machines.map(commitsOf).reduce((a, b) => (a.length >= b.length ? a : b))
  for (const machine of machines) expect(commitsOf(machine)).toEqual(longest.slice(0, commitsOf(machine).length))
}

const writtenBy = (machine: Machine) => new Set(machine.writes.map(({ _tag }) => _tag))

const four = { validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 } }

/** Opens what a validator stored, without its key. */
const reader = {
  signer: null,
  isValid: FakeKeys.isValid,
  trust: null,
  tableKey: { low: 7, high: 7 },
  joins: true,
  preparedAt: 3,
  word: null,
}

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
    expect(writtenBy(ann)).toContain("CheckpointFinal")
    const built = ann.writes.filter(({ _tag }) => _tag === "CheckpointBuilt")
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
  const cutOneAfterTheOther = (moments: number): void => {
    const cluster = new Cluster({ ...four, epochRounds: 40 })
    cluster.start()
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

  const WHENEVER = "goes on where its disk is, whenever the power was cut"
  it(WHENEVER, () => cutOneAfterTheOther(18))
  it(Rest.of("more moments", WHENEVER), () => cutOneAfterTheOther(60))

  const cutAll = (cuts: number): void => {
    const cluster = new Cluster({ ...four, epochRounds: 40 })
    cluster.start()
    for (let cut = 0; cut < cuts; cut++) {
      cluster.run(310 + 17 * cut)
      for (const machine of cluster.machines) machine.cutPower()
      cluster.start()
    }
    cluster.runRounds(60)
    expectAgreement(cluster.machines)
    expect(cluster.machines[0]?.replica.core.epoch.opening.record.epoch).toBeGreaterThanOrEqual(3)
  }

  const ALL = "a whole network whose power is cut comes back, also in the middle of a close"
  it(ALL, () => cutAll(15))
  it(Rest.of("more cuts", ALL), () => cutAll(40))

  const highestOf = ({ replica }: Machine) => replica.core.epoch.dag.highestRound
  const highestOfAll = (machines: ReadonlyArray<Machine>) => Math.max(...machines.map(highestOf))

  const goesOnWithinFiveRounds = (cuts: number): void => {
    const cluster = new Cluster({ ...four, epochRounds: 200 })
    cluster.start()
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

  const WITHIN_FIVE = "a whole network goes on within five rounds after a power cut of all"
  it(WITHIN_FIVE, () => goesOnWithinFiveRounds(6))
  it(Rest.of("more cuts", WITHIN_FIVE), () => goesOnWithinFiveRounds(20))

  // Own vertices were synced and what they name was not: what the fourth had made was lost with it, and three could neither
  // place their own vertices nor sign others for the same rounds.
  const threeGoOn = (moments: number): void => {
    for (let at = 0; at < moments; at++) {
      const cluster = new Cluster(four)
      cluster.start()
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

  const THREE = "three of four go on after a power cut of all, when the fourth does not come back"
  it(THREE, () => threeGoOn(4))
  it(Rest.of("more moments", THREE), () => threeGoOn(10))

  // A retry later than after a power cut: nobody shows what it had signed before the others have answered.
  it("a whole network goes on within eight rounds when everybody kept only what it had signed in the epoch", () => {
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
    // Just after a look at what waits.
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
  /** Dan is stopped after `before` rounds, for this many, and started again. */
  const backAfter = (rounds: number, { before, epochRounds }: { before: number; epochRounds: number }) => {
    const cluster = new Cluster({ ...four, epochRounds })
    cluster.start()
    cluster.runRounds(before)
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

  it("joins by the state of a closing checkpoint when its epoch is long over", () => {
    const { cluster, dan } = backAfter(150, { before: 30, epochRounds: 60 })
    expect(cluster.machine("ann").replica.core.epoch.opening.record.epoch).toBeGreaterThanOrEqual(3)
    cluster.runRounds(40)
    expect(writtenBy(dan)).toContain("Joined")
    expectCaughtUp(cluster)
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
    expect(writtenBy(eve)).toContain("Joined")
    expectAgreement(cluster.machines)
    const ann = cluster.machine("ann")
    expect(eve.replica.read.head.index).toBeGreaterThanOrEqual(ann.replica.read.head.index - 3)
    // The next one reaches nobody else, and nobody forwards it what the committee says.
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

  it("stops when peers prove two histories, unless it is told which one to trust", () => {
    // Two networks of one genesis and the same keys: what a committee that sold its old keys could make.
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
    // It would prove to the other network that its committee has signed two histories, and that would stop.
    fay.says = (_, message) => (message._tag === "Closing" ? [] : [message])
    fay.start()
    mixed.run(8_000)
    expect(writtenBy(fay)).toContain("Joined")
    expect(fay.replica.read.account(addressOf("bob")).balance).toBe(coins(1_000) + 1)
  })
})

describe("a validator", () => {
  const ownRounds = (machine: Machine): ReadonlyArray<number> =>
    machine.writes.flatMap((write) => (write._tag === "OwnVertex" ? [write.vertex.header.round] : []))

  /** A network that has gone on for this many rounds since dan's disk was copied. */
  const backedUp = (epochRounds: number, rounds: number) => {
    const cluster = new Cluster({ ...four, epochRounds })
    cluster.start()
    cluster.runRounds(10)
    const dan = cluster.machine("dan")
    const backup = dan.disk.copy()
    cluster.runRounds(rounds)
    return { cluster, dan, backup, signed: ownRounds(dan) }
  }

  it("signs nothing before a quorum of its committee has told what it knows", () => {
    const cluster = new Cluster(four)
    cluster.machine("ann").start()
    cluster.machine("ben").start()
    cluster.run(3_000)
    expect(ownRounds(cluster.machine("ann"))).toEqual([])
    cluster.machine("cleo").start()
    cluster.run(2_000)
    expect(ownRounds(cluster.machine("ann")).length).toBeGreaterThan(5)
  })

  it("never fills a slot twice when its disk is set back, and falls silent for a while", () => {
    const { cluster, dan, backup, signed } = backedUp(240, 20)
    dan.replaceDisk(backup)
    dan.start()
    const before = dan.writes.length
    cluster.runRounds(60)
    expect(writtenBy(dan)).toContain("ForeignOwnHeader")
    expect(dan.writes.slice(before).filter(({ _tag }) => _tag === "OwnVertex")).toEqual([])
    cluster.runRounds(100)
    const later = ownRounds(dan).slice(-3)
    expect(Math.min(...later)).toBeGreaterThan(Math.max(...signed))
    for (const { outputs } of cluster.machines) expect(outputs.some(({ _tag }) => _tag === "Misbehaved")).toBe(false)
    expectAgreement(cluster.machines)
  })

  // A stranger replayed what the same keys had signed on another network, of later epochs: all four fell silent, and did
  // again after each restart.
  it("goes on whatever its key has signed on another network", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 })
    const elsewhere = (epoch: number) =>
      cluster.machines.map(({ name }) => {
        const content = {
          base: Hash.of("udg/seed", Binary.utf8(`${epoch}`)),
          epoch: Natural.epoch(epoch),
          round: Natural.round(1_000),
          parents: [],
          timestamp: Natural.timestamp(1),
          coinbase: Sats.ZERO,
        }
        return Vertex.sign(content, Vertex.emptyBody, signerOf(name))
      })
    const vertices = [1, 2, 3, 9, Number.MAX_SAFE_INTEGER].flatMap(elsewhere)
    cluster.start()
    const rounds: Array<number> = []
    for (let turn = 0; turn < 3; turn++) {
      for (const machine of cluster.machines) machine.receive("stranger" as PeerId, { _tag: "Vertices", vertices })
      cluster.runRounds(40)
      rounds.push(...cluster.machines.map(({ replica }) => replica.read.head.leaderRound))
      for (const machine of cluster.machines) machine.stop()
      cluster.start()
    }
    expect(cluster.machines.flatMap(({ disk }) => [...disk.foreignHeaders])).toEqual([])
    expect(Math.min(...rounds.slice(0, 4))).toBeGreaterThan(30)
    expect(Math.min(...rounds.slice(-4))).toBeGreaterThan(90)
    expectOneHistory(cluster.machines)
  })

  it("signs on without a silence when only its ledger is set back, by rounds or by epochs", () => {
    for (const rounds of [20, 50, 90]) {
      const { cluster, dan, backup, signed } = backedUp(40, rounds)
      dan.replaceDisk(backup.withSignedOf(dan.disk))
      dan.start()
      cluster.runRounds(60)
      expect(writtenBy(dan)).not.toContain("ForeignOwnHeader")
      const later = ownRounds(dan).slice(signed.length)
      expect(later.length).toBeGreaterThan(5)
      expect(Math.min(...later)).toBeGreaterThan(Math.max(...signed))
      expectAgreement(cluster.machines)
    }
  })

  it("knows from its own ledger that what it had signed was set back, and falls silent", () => {
    const { cluster, dan, backup, signed } = backedUp(240, 20)
    dan.replaceDisk(dan.disk.withSignedOf(backup))
    // Nobody else is there to tell it.
    const others = cluster.machines.filter((machine) => machine !== dan)
    for (const machine of others) machine.stop()
    const before = dan.writes.length
    dan.start()
    expect(dan.writes.slice(before).map(({ _tag }) => _tag)).toContain("ForeignOwnHeader")
    for (const machine of others) machine.start()
    const rounds = ownRounds(dan).length
    cluster.runRounds(100)
    expect(ownRounds(dan)).toHaveLength(rounds)
    cluster.runRounds(60)
    expect(ownRounds(dan).length).toBeGreaterThan(rounds)
    expect(Math.min(...ownRounds(dan).slice(rounds))).toBeGreaterThan(Math.max(...signed))
    expectAgreement(cluster.machines)
  })

  it("still tells apart what was signed with its key in the epoch that has just closed", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 })
    cluster.start()
    cluster.runRounds(5)
    const dan = cluster.machine("dan")
    const { base } = dan.replica.core.epoch.opening
    cluster.runRounds(50)
    expect(dan.replica.core.epoch.opening.record.epoch).toBe(2)
    const [known] = [...dan.disk.ownVertices].filter(({ header }) => header.epoch === 1)
    if (known === undefined) throw new Error("a vertex of the first epoch expected")
    const { peer } = cluster.machine("ben")
    const foreign = (header: Header.Header) =>
      dan.replica
        .metHeader(header, peer, cluster.now)
        .some((output) => output._tag === "Write" && output.write._tag === "ForeignOwnHeader")
    expect(foreign(known.header)).toBe(false)
    const other = Header.sign({ ...known.header, base, timestamp: cluster.now }, signerOf("dan"))
    expect(foreign(other)).toBe(true)
  })

  it("stops when a quorum signs another close of the epoch before", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 })
    cluster.start()
    cluster.runRounds(55)
    const ann = cluster.machine("ann")
    expect(ann.replica.core.epoch.opening.record.epoch).toBe(2)
    const closing = ann.disk.closing(Natural.epoch(1))
    if (closing === undefined) throw new Error("a closed epoch expected")
    const checkpoint = Checkpoint.make({ ...closing.checkpoint, stateRoot: Hash.ZERO })
    const hear = (name: string): void => {
      const signature = Checkpoint.sign(checkpoint, signerOf(name))
      ann.receive(cluster.machine(name).peer, { _tag: "CheckpointSignature", checkpoint, signature })
    }
    hear("ben")
    hear("cleo")
    expect(() => hear("dan")).toThrow(/CheckpointOfOtherContent/)
  })

  it("never fills a slot twice when its disk is set back by epochs", () => {
    const { cluster, dan, backup } = backedUp(40, 90)
    dan.replaceDisk(backup)
    dan.start()
    cluster.runRounds(230)
    const slots = new Map<string, Set<string>>()
    for (const output of dan.outputs) {
      if (output._tag !== "Write" || output.write._tag !== "OwnVertex") continue
      const { epoch, round, hash } = output.write.vertex.header
      const key = `${epoch} ${round}`
      slots.set(key, (slots.get(key) ?? new Set()).add(hash))
    }
    expect(slots.size).toBeGreaterThan(100)
    expect([...slots.values()].filter(({ size }) => size > 1)).toEqual([])
    expectAgreement(cluster.machines)
  })

  const withCandidate = () => {
    const cluster = new Cluster({ ...four, accounts: { alice: 1_000, eve: 9_000 }, epochRounds: 40 })
    const eve = cluster.add("eve")
    cluster.start()
    cluster.runRounds(2)
    const stake = sign("eve", 0, { _tag: "StakeTx", amount: coins(8_000) }, 0)
    expect(Either.isRight(eve.replica.submit(stake, cluster.now))).toBe(true)
    return { cluster, eve }
  }

  it("gets into the committee by stake and heartbeats, and out again by silence", () => {
    const { cluster, eve } = withCandidate()
    cluster.runRounds(95)
    const { members } = cluster.machine("ann").replica.core.epoch.opening.record
    expect(members.map(({ address }) => address)).toContain(addressOf("eve"))
    cluster.runRounds(10)
    expect(ownRounds(eve).length).toBeGreaterThan(5)
    expectAgreement(cluster.machines)
    eve.stop()
    cluster.runRounds(160)
    const later = cluster.machine("ann").replica.core.epoch.opening.record
    expect(later.members.map(({ address }) => address)).not.toContain(addressOf("eve"))
    expectOneHistory(cluster.machines.filter((machine) => machine !== eve))
  })

  it("gets into the committee although a stranger replays what its key signed on another network", () => {
    const { cluster } = withCandidate()
    for (let round = 0; round < 95; round++) {
      for (const machine of cluster.machines) {
        for (const ahead of [1, 8, 900]) {
          const index = Natural.commitIndex(machine.replica.read.head.index + ahead)
          const heartbeat = Heartbeat.sign(index, Hash.of("udg/commit", Binary.utf8("elsewhere")), signerOf("eve"))
          machine.receive("stranger" as PeerId, { _tag: "Heartbeat", heartbeat })
        }
      }
      cluster.runRounds(1)
    }
    const { members } = cluster.machine("ann").replica.core.epoch.opening.record
    expect(members.map(({ address }) => address)).toContain(addressOf("eve"))
    expectAgreement(cluster.machines)
  })

  it("is slashed on the evidence of two vertices for one slot", () => {
    const cluster = new Cluster(four)
    cluster.start()
    cluster.runRounds(10)
    const { record, base } = cluster.machine("ann").replica.core.epoch.opening
    const content = {
      base,
      epoch: record.epoch,
      round: Natural.round(9),
      parents: [],
      timestamp: cluster.now,
      coinbase: Sats.make(1),
      bodyHash: Hash.ZERO,
    }
    const [first, second] = [1, 2].map((coinbase) =>
      Header.sign({ ...content, coinbase: Sats.make(coinbase) }, signerOf("dan")),
    )
    const evidence = first && second && Evidence.of(first, second)
    if (evidence === undefined) throw new Error("evidence expected")
    cluster.machine("ann").receive(cluster.machine("ben").peer, { _tag: "Evidence", evidence })
    cluster.runRounds(10)
    for (const { replica } of cluster.machines) {
      expect(replica.read.stake(addressOf("dan")).stakedAmount).toBe(coins(5_000))
    }
  })

  it.each([true, false])("is not told of with signatures that only a vertex may hold (native verdict: %s)", (holds) => {
    // As gossip nobody takes them, and whoever sends them pays for it: an observer, if the equivocator shows it both.
    const cluster = new Cluster(four)
    const eve = cluster.add("eve", { isValidator: false })
    eve.isStrictlyValid = (check) => FakeKeys.isValid(check) && (holds || check.publicKey !== signerOf("dan").publicKey)
    cluster.start()
    cluster.runRounds(10)
    const { dag, committee, opening } = eve.replica.core.epoch
    const round = Natural.round(dag.quorumRound + 1)
    for (const timestamp of [cluster.now, Natural.timestamp(cluster.now + 1)]) {
      const content = {
        base: opening.base,
        epoch: opening.record.epoch,
        round,
        parents: [...dag.at(dag.quorumRound)]
          .map(({ vertex }) => vertex.header)
          .sort((a, b) => (a.author < b.author ? -1 : 1)),
        timestamp,
        coinbase: committee.coinbase(round, 0),
      }
      const vertex = Vertex.sign(content, Vertex.emptyBody, signerOf("dan"))
      eve.receive(cluster.machine("dan").peer, { _tag: "Vertices", vertices: [vertex] })
    }
    expect(eve.replica.held.evidence).toBe(1)
    const told = eve.outputs.filter((output) => output._tag === "Broadcast" && output.message._tag === "Evidence")
    expect(told).toHaveLength(holds ? 1 : 0)
  })

  it("is accused by evidence of the running epoch only if that lies upon the epoch's own base", () => {
    const cluster = new Cluster(four)
    cluster.start()
    cluster.runRounds(10)
    const ann = cluster.machine("ann")
    const { record, base } = ann.replica.core.epoch.opening
    for (const [upon, held] of [
      [Hash.ZERO, 0],
      [base, 1],
    ] as const) {
      const content = { base: upon, epoch: record.epoch, round: Natural.round(9), parents: [], bodyHash: Hash.ZERO }
      const [first, second] = [1, 2].map((coinbase) =>
        Header.sign({ ...content, timestamp: cluster.now, coinbase: Sats.make(coinbase) }, signerOf("dan")),
      )
      const evidence = first && second && Evidence.of(first, second)
      if (evidence === undefined) throw new Error("evidence expected")
      const message = { _tag: "Evidence", evidence } as const
      expect(ann.replica.useOf(cluster.machine("ben").peer, message)._tag).toBe(held === 1 ? "Wanted" : "Known")
      ann.receive(cluster.machine("ben").peer, message)
      expect(ann.replica.held.evidence).toBe(held)
    }
  })

  it("is slashed although it confessed before, to a slot upon no checkpoint of this network", () => {
    // A confession that proves nothing took the place of the proof, and for having been punished once it was ordered.
    const cluster = new Cluster(four)
    cluster.start()
    cluster.runRounds(10)
    const { record, base } = cluster.machine("ann").replica.core.epoch.opening
    const evidenceUpon = (upon: Hash.Hash): Evidence.Evidence => {
      const content = { base: upon, epoch: record.epoch, round: Natural.round(9), parents: [], bodyHash: Hash.ZERO }
      const [first, second] = [1, 2].map((coinbase) =>
        Header.sign({ ...content, timestamp: cluster.now, coinbase: Sats.make(coinbase) }, signerOf("dan")),
      )
      const evidence = first && second && Evidence.of(first, second)
      if (evidence === undefined) throw new Error("evidence expected")
      return evidence
    }
    const dan = cluster.machine("dan").peer
    for (const machine of cluster.machines)
      machine.receive(dan, { _tag: "Evidence", evidence: evidenceUpon(Hash.ZERO) })
    cluster.runRounds(10)
    cluster.machine("ann").receive(cluster.machine("ben").peer, { _tag: "Evidence", evidence: evidenceUpon(base) })
    cluster.runRounds(10)
    for (const { replica } of cluster.machines) {
      expect(replica.read.stake(addressOf("dan")).stakedAmount).toBe(coins(5_000))
    }
  })

  it("is slashed although it confessed in the next epoch's name, upon no base, before that epoch began", () => {
    // The ledger that has closed an epoch does not know the next one's base, and took any: the author passed for accused.
    const cluster = new Cluster({ ...four, epochRounds: 40 })
    cluster.start()
    cluster.passes = (_from, _to, message) => message._tag !== "CheckpointSignature"
    cluster.runRounds(60)
    const ann = cluster.machine("ann")
    const opened = ann.replica.core.epoch.opening.record.epoch
    const evidenceOf = (base: Hash.Hash): Evidence.Evidence => {
      const epoch = Natural.epoch(opened + 1)
      const content = { base, epoch, round: Natural.round(45), parents: [], bodyHash: Hash.ZERO }
      const [first, second] = [1, 2].map((coinbase) =>
        Header.sign({ ...content, timestamp: cluster.now, coinbase: Sats.make(coinbase) }, signerOf("dan")),
      )
      const evidence = first && second && Evidence.of(first, second)
      if (evidence === undefined) throw new Error("evidence expected")
      return evidence
    }
    const dan = cluster.machine("dan").peer
    for (const machine of cluster.machines)
      machine.receive(dan, { _tag: "Evidence", evidence: evidenceOf(Hash.of("udg/commit", Binary.utf8("elsewhere"))) })
    expect(ann.replica.held.evidence).toBe(0)
    cluster.passes = () => true
    cluster.runRounds(20)
    const { record, base } = ann.replica.core.epoch.opening
    expect(record.epoch).toBe(opened + 1)
    ann.receive(cluster.machine("ben").peer, { _tag: "Evidence", evidence: evidenceOf(base) })
    cluster.runRounds(12)
    for (const { replica } of cluster.machines)
      expect(replica.read.stake(addressOf("dan")).stakedAmount).toBe(coins(5_000))
  })
})

describe("what a disk holds", () => {
  it(Rest.of("epochs of a network", "resumes a fast sync that a power cut interrupted, from the pieces it had"), () => {
    const accounts = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`a${i}`, 1]))
    const cluster = new Cluster({ ...four, accounts, epochRounds: 40 })
    cluster.start()
    cluster.runRounds(100)
    const eve = cluster.add("eve", { isValidator: false })
    eve.start()
    let heard = 0
    while (eve.disk.join === null || eve.disk.join.subtrees.length < 1) {
      cluster.run(5)
      if (++heard > 2_000) throw new Error("no piece ever came")
    }
    const { target, subtrees } = eve.disk.join
    expect(subtrees).toHaveLength(1)
    expect(eve.replica.recovery(cluster.now).following).toEqual({ _tag: "Joining", epoch: target.checkpoint.epoch })
    const early = eve.replica.submit(transfer("a0", 0, "a1", 1), cluster.now)
    expect(Either.getLeft(early)).toEqual(Option.some({ _tag: "NotReady" }))
    eve.stop()
    eve.start()
    const asked = eve.writes.length
    // It has all the pieces soon, but listens for a second before it follows anybody.
    cluster.runRounds(16)
    expect(writtenBy(eve)).toContain("Joined")
    const again = eve.writes.slice(asked).map(({ _tag }) => _tag)
    expect(target.checkpoint.epoch).toBe(2)
    expect(again).not.toContain("JoinBegun")
    expect(again.filter((tag) => tag === "JoinSubtree").length).toBeGreaterThan(0)
    expectAgreement(cluster.machines)
  })

  it("serves the state of a closing checkpoint also after a restart", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 })
    cluster.start()
    cluster.runRounds(60)
    cluster.machine("ann").replica.submit(transfer("alice", 0, "bob", 7), cluster.now)
    cluster.runRounds(5)
    const ann = cluster.machine("ann")
    const stateRoot = ann.disk.closing(Natural.epoch(1))?.checkpoint.stateRoot
    if (stateRoot === undefined) throw new Error("epoch 1 should be closed")
    const position = Binary.encode((writer) => Position.write(writer, Position.ROOT))
    const ask = () => {
      const before = ann.outputs.length
      ann.receive(cluster.machine("ben").peer, { _tag: "AskState", root: stateRoot, position })
      return ann.outputs.slice(before).find(({ _tag }) => _tag === "Send")
    }
    const before = ask()
    ann.stop()
    ann.start()
    expect(before?._tag === "Send" && before.message._tag === "State" && before.message.subtree).toBeInstanceOf(
      Uint8Array,
    )
    expect(ask()).toEqual(before)
    expect(ann.replica.provenState?.signed.checkpoint.stateRoot).toBe(stateRoot)
  })

  it("is refused when its state is not the one its last checkpoint was built of", () => {
    const cluster = new Cluster({ validators: { ann: 10_000 }, epochRounds: 40 })
    cluster.start()
    const ann = cluster.machine("ann")
    while (ann.writes.at(-1)?._tag !== "CheckpointBuilt" && !writtenBy(ann).has("EpochStarted")) cluster.run(5)
    ann.stop()
    const [alice] = [...ann.disk.records].filter(
      ({ kind, key }) => kind === "Account" && Buffer.from(key).toString("hex") === addressOf("alice"),
    )
    if (alice === undefined) throw new Error("alice has an account")
    alice.value[0] = (alice.value[0] ?? 0) ^ 1
    const opened = Stored.replicaOf(reader, ann.disk)
    expect(Either.isLeft(opened) && opened.left._tag).toBe("SupplyInvariantViolated")
    alice.value[0] ^= 1
    expect(Either.isRight(Stored.replicaOf(reader, ann.disk))).toBe(true)
    // The nonce is no money, so that only the root tells.
    alice.value[8] = (alice.value[8] ?? 0) ^ 1
    const damaged = Stored.replicaOf(reader, ann.disk)
    expect(Either.isLeft(damaged) && damaged.left._tag).toBe("DamagedState")
  })
})

describe("a replica that is told tales", () => {
  it("goes on, and blames who cannot prove what it offers", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 })
    cluster.start()
    cluster.runRounds(60)
    const [ann, ben] = [cluster.machine("ann"), cluster.machine("ben")]
    const closed = ann.disk.closings.at(-1)
    if (closed === undefined) throw new Error("an epoch should be closed")
    const { hash: _, ...content } = closed.checkpoint
    const forged = [2, 3].map((epoch) => {
      const nextEpoch = content.nextEpoch && { ...content.nextEpoch, epoch: Natural.epoch(epoch + 1) }
      const checkpoint = Checkpoint.make({ ...content, epoch: Natural.epoch(epoch), nextEpoch })
      return { checkpoint, signatures: [Checkpoint.sign(checkpoint, signerOf("ben"))] }
    })
    ann.receive(ben.peer, { _tag: "Closing", signed: forged, newest: forged[1] ?? null })
    // It asks for the proof, and gets the same again.
    ann.tick()
    ann.receive(ben.peer, { _tag: "Closing", signed: forged, newest: forged[1] ?? null })
    const { index } = ann.replica.read.head
    cluster.runRounds(30)
    expect(ann.outputs.some((output) => output._tag === "Misbehaved" && output.peer === ben.peer)).toBe(true)
    expect(ann.replica.isJoining).toBe(false)
    expect(ann.replica.read.head.index).toBeGreaterThan(index + 15)
    expectOneHistory(cluster.machines)
  })
})
