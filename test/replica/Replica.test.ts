import { Either, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Position from "../../src/ledger/trie/Position.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import * as Rest from "../support/Rest.js"
import * as Stored from "../support/Stored.js"
import { addressOf, Cluster, coins, signerOf, transfer } from "./Cluster.js"
import { expectAgreement, expectOneHistory, four, writtenBy } from "./FourReplicas.js"

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
  it("finalizes submitted transactions, without peers", () => {
    const cluster = new Cluster({ validators: { ann: 10_000 } }).start()
    const ann = cluster.machine("ann")
    expect(Either.isRight(ann.replica.submit(transfer("alice", 0, "bob", 500), cluster.now))).toBe(true)
    cluster.runRounds(10)
    expect(ann.replica.read.account(addressOf("bob")).balance).toBe(coins(1_000) + 500)
    expect(ann.replica.read.account(addressOf("alice")).nonce).toBe(1)
    expect(ann.replica.pool.size).toBe(0)
    expect(ann.replica.read.head.leaderRound).toBeGreaterThanOrEqual(7)
  })

  it("passes from epoch to epoch, and signs its own checkpoints", () => {
    const cluster = new Cluster({ validators: { ann: 10_000 }, epochRounds: 40 }).start().runRounds(150)
    const ann = cluster.machine("ann")
    expect(ann.replica.core.epoch.opening.record.epoch).toBeGreaterThanOrEqual(3)
    expect(writtenBy(ann)).toContain("CheckpointFinal")
    const built = ann.writes.filter(({ _tag }) => _tag === "CheckpointBuilt")
    expect(built.length).toBeGreaterThanOrEqual(12)
  })
})

describe("four replicas", () => {
  it("make a round per interval, and finalize each two or three rounds later", () => {
    const cluster = new Cluster(four).start().runRounds(60)
    for (const { replica } of cluster.machines) {
      const { highestRound } = replica.core.epoch.dag
      expect(highestRound).toBeGreaterThan(55)
      expect(highestRound - replica.read.head.leaderRound).toBeLessThanOrEqual(3)
    }
  })

  it("finalize transactions given to any of them", () => {
    const cluster = new Cluster(four).start().runRounds(3)
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
    const cluster = new Cluster({ ...four, epochRounds: 40 }).start().runRounds(180)
    for (const { replica, disk } of cluster.machines) {
      expect(replica.core.epoch.opening.record.epoch).toBeGreaterThanOrEqual(4)
      expect(disk.closings.map(({ checkpoint }) => checkpoint.epoch).slice(0, 3)).toEqual([1, 2, 3])
    }
    expectOneHistory(cluster.machines)
  })
})

describe("a stored disk", () => {
  it(Rest.of("epochs of a network", "resumes a fast sync that a power cut interrupted, from the pieces it had"), () => {
    const accounts = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`a${i}`, 1]))
    const cluster = new Cluster({ ...four, accounts, epochRounds: 40 }).start().runRounds(100)
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
    // It soon has all the pieces, but waits for a second before it chooses whom to follow.
    cluster.runRounds(16)
    expect(writtenBy(eve)).toContain("Joined")
    const again = eve.writes.slice(asked).map(({ _tag }) => _tag)
    expect(target.checkpoint.epoch).toBe(2)
    expect(again).not.toContain("JoinBegun")
    expect(again.filter((tag) => tag === "JoinSubtree").length).toBeGreaterThan(0)
    expectAgreement(cluster.machines)
  })

  it("serves the state of a closing checkpoint also after a restart", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 }).start().runRounds(60)
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

  it("is refused when its state does not match its last checkpoint", () => {
    const cluster = new Cluster({ validators: { ann: 10_000 }, epochRounds: 40 }).start()
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
    // The nonce affects no balance, so only the root shows the difference.
    alice.value[8] = (alice.value[8] ?? 0) ^ 1
    const damaged = Stored.replicaOf(reader, ann.disk)
    expect(Either.isLeft(damaged) && damaged.left._tag).toBe("DamagedState")
  })
})

describe("a replica with dishonest peers", () => {
  it("continues, and blames a peer that cannot prove its offer", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 }).start().runRounds(60)
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
