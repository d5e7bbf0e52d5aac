/** What a validator signs, whatever was lost. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import { addressOf, Cluster, coins, sign, signerOf } from "./Cluster.js"
import { equivocation, expectAgreement, expectOneHistory, four, ownRounds, writtenBy } from "./FourReplicas.js"

describe("a validator", () => {
  /** A network that has run for this many rounds since dan's disk was copied. */
  const backedUp = (epochRounds: number, rounds: number) => {
    const cluster = new Cluster({ ...four, epochRounds }).start().runRounds(10)
    const dan = cluster.machine("dan")
    const backup = dan.disk.copy()
    cluster.runRounds(rounds)
    return { cluster, dan, backup, signed: ownRounds(dan) }
  }

  it("signs nothing before a quorum of its committee has answered", () => {
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

  // A stranger replayed what the same keys had signed on another network, in later epochs: all four fell silent, again
  // after each restart.
  it("continues even if its key has signed on another network", () => {
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

  it("keeps signing without a silence when only its ledger is set back, by rounds or by epochs", () => {
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

  it("recognises from its own ledger that its signed vertices were set back, and falls silent", () => {
    const { cluster, dan, backup, signed } = backedUp(240, 20)
    dan.replaceDisk(dan.disk.withSignedOf(backup))
    // No other validator is there to tell it.
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

  it("still recognizes its key's vertices in the epoch that has just closed", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 }).start().runRounds(5)
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

  it("stops when a quorum signs another close of the previous epoch", () => {
    const cluster = new Cluster({ ...four, epochRounds: 40 }).start().runRounds(55)
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

  it("enters the committee by stake and heartbeats, and leaves it by silence", () => {
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

  it("enters the committee although a stranger replays what its key signed on another network", () => {
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
    const cluster = new Cluster(four).start().runRounds(10)
    const { record, base } = cluster.machine("ann").replica.core.epoch.opening
    const evidence = equivocation("dan", base, record.epoch, 9)
    cluster.machine("ann").receive(cluster.machine("ben").peer, { _tag: "Evidence", evidence })
    cluster.runRounds(10)
    for (const { replica } of cluster.machines) {
      expect(replica.read.stake(addressOf("dan")).stakedAmount).toBe(coins(5_000))
    }
  })

  it.each([true, false])(
    "is not gossiped about with signatures that only a vertex may hold (native verdict: %s)",
    (holds) => {
      // They are not accepted as gossip, for which the sender pays: here an observer, if the equivocator shows it both.
      const cluster = new Cluster(four)
      const eve = cluster.add("eve", { isValidator: false })
      eve.isStrictlyValid = (check) =>
        FakeKeys.isValid(check) && (holds || check.publicKey !== signerOf("dan").publicKey)
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
    },
  )

  it("is accused by evidence of the current epoch only on the epoch's own base", () => {
    const cluster = new Cluster(four).start().runRounds(10)
    const ann = cluster.machine("ann")
    const { record, base } = ann.replica.core.epoch.opening
    for (const [upon, held] of [
      [Hash.ZERO, 0],
      [base, 1],
    ] as const) {
      const evidence = equivocation("dan", upon, record.epoch, 9)
      const message = { _tag: "Evidence", evidence } as const
      expect(ann.replica.useOf(cluster.machine("ben").peer, message)._tag).toBe(held === 1 ? "Wanted" : "Known")
      ann.receive(cluster.machine("ben").peer, message)
      expect(ann.replica.held.evidence).toBe(held)
    }
  })

  it("is slashed although it confessed before, in a slot on a base outside of this network", () => {
    // A confession that proves nothing used to replace the proof, and counted as punished once it was ordered.
    const cluster = new Cluster(four).start().runRounds(10)
    const { record, base } = cluster.machine("ann").replica.core.epoch.opening
    const evidenceUpon = (upon: Hash.Hash) => equivocation("dan", upon, record.epoch, 9)
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

  it("is slashed although it confessed for the next epoch, without a base, before that epoch began", () => {
    // The ledger that has closed an epoch does not know the next one's base, and used to accept any: the validator
    // counted as accused.
    const cluster = new Cluster({ ...four, epochRounds: 40 }).start()
    cluster.passes = (_from, _to, message) => message._tag !== "CheckpointSignature"
    cluster.runRounds(60)
    const ann = cluster.machine("ann")
    const opened = ann.replica.core.epoch.opening.record.epoch
    const evidenceOf = (base: Hash.Hash) => equivocation("dan", base, Natural.epoch(opened + 1), 45)
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
