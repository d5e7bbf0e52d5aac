/** Signed statements outside of vertices, as judged by a node that starts from another's disk. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { SigningGuard } from "../../src/consensus/SigningGuard.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import { COMMITS_AHEAD, SignedGossip } from "../../src/replica/asking/SignedGossip.js"
import * as LiveState from "../../src/replica/live/LiveState.js"
import { seedOf, WITH_MEMORY } from "../consensus/TestCommittee.js"
import * as Stored from "../support/Stored.js"
import { addressOf, Cluster, coins, ROUND_MS, sign, signerOf } from "./Cluster.js"
import { equivocation } from "./FourReplicas.js"

/** In its second epoch. Eve stakes just enough for a seat and has none, Fay stakes nothing. */
const cluster = new Cluster({
  validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 },
  accounts: { eve: 9_000, fay: 9_000 },
  epochRounds: 40,
})
  .start()
  .runRounds(46)
const ann = cluster.machine("ann")
Either.getOrThrow(ann.replica.submit(sign("eve", 0, { _tag: "StakeTx", amount: Sats.MIN_STAKE_SATS }, 0), cluster.now))
cluster.runRounds(10)
const { current, previous } = ann.disk
if (previous === null) throw new Error("two epochs expected")

const begin = (by: string) => {
  const { ledger, trie, views } = Either.getOrThrow(Stored.open(ann.disk, { low: 0, high: 0 }))
  const { epoch } = current.opening.record
  const live = LiveState.begin({
    ledger,
    trie,
    views,
    stored: { current, previous, signed: [], companions: [] },
    guard: new SigningGuard(addressOf(by), ROUND_MS, epoch, [], WITH_MEMORY),
    pending: [],
    roundIntervalMs: ROUND_MS,
  })
  const head = ledger.read.head
  const beat = (index: number, hash = ledger.read.recentCommit(Natural.commitIndex(index))?.hash, from = "eve") =>
    Heartbeat.sign(Natural.commitIndex(index), hash ?? seedOf("ahead"), signerOf(from))
  return { gossip: new SignedGossip(() => live), live, head, beat }
}

const proofOf = (name: string, { base, record }: typeof current.opening, round = 1) =>
  equivocation(name, base, record.epoch, round)

describe("a received heartbeat", () => {
  it("is kept for own vertices by a member, and only relayed by other nodes", () => {
    for (const [by, kept] of [
      ["ann", 1],
      ["eve", 0],
    ] as const) {
      const { gossip, head, beat } = begin(by)
      expect(gossip.hearHeartbeat(beat(head.index))).toBe(true)
      expect(gossip.held).toEqual({ relayed: 1, evidence: 0, heartbeats: kept })
    }
  })

  it("waits four rounds from the highest here if it is not assigned", () => {
    const { gossip, live, head, beat } = begin("ann")
    gossip.hearHeartbeat(beat(head.index))
    const { highestRound } = live.core.epoch.dag
    const taken = (later: number) => gossip.heartbeats.take(Natural.round(highestRound + later), () => false).length
    expect([taken(3), taken(4)]).toEqual([0, 1])
  })

  it("is useful from a validator with stake for a seat and without one", () => {
    const { gossip, live, head, beat } = begin("ann")
    const use = (...of: Parameters<typeof beat>) => gossip.useOfHeartbeat(beat(...of))
    expect(live.ledger.read.stake(addressOf("eve")).stakedAmount).toBe(coins(2_000))
    expect([use(head.index), use(head.index, head.hash, "fay"), use(head.index, head.hash, "ben")]).toEqual([
      "Wanted",
      "Known",
      "Known",
    ])
  })

  it("waits up to sixteen commits ahead, and is invalid if it names another commit than was executed", () => {
    const { gossip, head, beat } = begin("ann")
    const use = (...of: Parameters<typeof beat>) => gossip.useOfHeartbeat(beat(...of))
    const ahead = [1, COMMITS_AHEAD, COMMITS_AHEAD + 1].map((by) => use(head.index + by))
    expect(ahead).toEqual(["Ahead", "Ahead", "Known"])
    expect(use(head.index, seedOf("another"))).toBe("Wrong")
    expect(gossip.hearHeartbeat(beat(head.index + 1))).toBe(false)
    // Nothing is kept for a commit this old.
    expect(use(0, head.hash)).toBe("Known")
  })

  it("is dropped when a vertex has brought it, but not for one that was signed on another network", () => {
    const { gossip, head, beat } = begin("ann")
    gossip.hearHeartbeat(beat(head.index))
    gossip.included([beat(head.index, seedOf("another"))])
    expect(gossip.held.heartbeats).toBe(1)
    gossip.included([beat(head.index)])
    expect(gossip.held.heartbeats).toBe(0)
  })

  it("leaves nothing when the state is replaced", () => {
    const { gossip, head, beat } = begin("ann")
    gossip.hearHeartbeat(beat(head.index))
    gossip.clear()
    expect(gossip.held.heartbeats).toBe(0)
  })
})

describe("received evidence", () => {
  it("is useful against members of the current epoch on its base, and of the previous epoch while they can be slashed", () => {
    const { gossip, live } = begin("ann")
    const of = (name: string, base = current.opening.base) => proofOf(name, { ...current.opening, base }, 41)
    const before = proofOf("ben", previous.opening)
    const elsewhere = proofOf("ben", { ...previous.opening, base: Hash.ZERO })
    expect(live.ledger.read.isPunishable(before)).toBe(true)
    const all = [of("dan"), of("dan", Hash.ZERO), of("eve"), before, elsewhere]
    const useful = [true, false, false, true, false]
    expect(all.map((evidence) => gossip.wantsEvidence(evidence))).toEqual(useful)
    expect(all.map((evidence) => gossip.keepEvidence(evidence))).toEqual(useful)
    expect(gossip.held).toEqual({ relayed: 2, evidence: 2, heartbeats: 0 })
    expect(all.map((evidence) => gossip.wantsEvidence(evidence))).toEqual(all.map(() => false))
  })

  it("is useful once per author and epoch, also when the first was punished", () => {
    const { gossip } = begin("ann")
    const evidence = proofOf("dan", current.opening, 41)
    expect([gossip.keepEvidence(evidence), gossip.keepEvidence(evidence)]).toEqual([true, false])
    gossip.evidence.settle(() => false)
    expect(gossip.wantsEvidence(proofOf("dan", current.opening, 42))).toBe(false)
    expect(gossip.held).toEqual({ relayed: 1, evidence: 0, heartbeats: 0 })
    gossip.forgetBefore(Natural.epoch(current.opening.record.epoch + 1))
    expect(gossip.held.relayed).toBe(0)
  })

  it("is dropped when the ledger would not punish it, or its epoch is past", () => {
    const { gossip, live } = begin("ann")
    const proofs = [
      proofOf("dan", current.opening, 41),
      proofOf("ben", previous.opening),
      proofOf("eve", current.opening),
    ]
    for (const evidence of proofs) gossip.evidence.add(evidence)
    expect(proofs.map((evidence) => live.ledger.read.isPunishable(evidence))).toEqual([true, true, false])
    gossip.executed()
    expect(gossip.evidence.size).toBe(2)
    gossip.forgetBefore(current.opening.record.epoch)
    expect(gossip.evidence.take(Natural.round(41), 1_000_000)).toEqual(proofs.slice(0, 1))
  })
})
