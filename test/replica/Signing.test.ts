/** What this node signs, and the last check against signing a round twice, whatever the core requests. */
import { Either } from "effect"
import { describe, expect, it, vi } from "vitest"
import type { Ledger } from "../../src/ledger/Ledger.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { Signer } from "../../src/protocol/identity/Keys.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import { SignedGossip } from "../../src/replica/asking/SignedGossip.js"
import * as LiveState from "../../src/replica/live/LiveState.js"
import { Outbox } from "../../src/replica/output/Outbox.js"
import { assignment } from "../../src/replica/signing/Assignment.js"
import { Signing } from "../../src/replica/signing/Signing.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import { genesisCheckpoint, seedOf } from "../consensus/TestCommittee.js"
import { Chain, type Person, person } from "../ledger/builders.js"
import * as Stored from "../support/Stored.js"
import { addressOf, genesisOf, ROUND_MS, signerOf } from "./Cluster.js"

interface Scene {
  /** Stakes in coins. */
  readonly validators?: { readonly [name: string]: number }
  readonly signer?: Signer | null
  /** Rounds of epoch 1 whose own vertices are on the disk. */
  readonly signed?: ReadonlyArray<number>
}

/** A network of this one validator, whose guard needs no other answer, unless others are given. */
const start = ({ validators = { ann: 3_000 }, signer = signerOf("ann"), signed = [] }: Scene = {}) => {
  const stored = Stored.ofGenesis(genesisOf({ validators }))
  const { opening } = stored.current
  const { ledger, trie, views } = Either.getOrThrow(Stored.open(stored, { low: 0, high: 0 }))
  const slotOf = (round: number) => ({
    base: opening.base,
    epoch: opening.record.epoch,
    round: Natural.round(round),
    parents: [],
    coinbase: Sats.ZERO,
    timestamp: Natural.timestamp(0),
  })
  const vertexOf = (by: string, round: number) => Vertex.sign(slotOf(round), Vertex.emptyBody, signerOf(by))
  const outbox = new Outbox()
  const signing = new Signing(
    { signer, word: null },
    signed.map((round) => vertexOf("ann", round)),
    null,
    outbox,
  )
  const guard = signing.guard(opening.record.epoch, ROUND_MS)
  const consensus = { current: stored.current, previous: null, signed: [], companions: [] }
  const live = LiveState.begin({
    ledger,
    trie,
    views,
    stored: consensus,
    guard,
    pending: [],
    roundIntervalMs: ROUND_MS,
  })
  const { committee } = live.core.epoch
  const propose = (round: number, by = signing) => {
    by.propose({ _tag: "Propose", ...slotOf(round) }, live, new SignedGossip(() => live))
    return outbox.drain()
  }
  const answer = () => {
    for (const witness of guard?.witnesses(committee) ?? []) {
      guard?.testify(witness, { epoch: opening.record.epoch, header: null }, committee)
    }
    for (const member of guard?.toAsk(committee) ?? []) {
      guard?.answer(member, { epoch: opening.record.epoch, header: null }, committee)
    }
  }
  return { ...{ propose, answer, signing, guard, live, outbox, committee, vertexOf }, record: opening.record }
}

describe("this node signs", () => {
  it("nothing before a quorum has reported its earlier signatures", () => {
    const { propose, answer } = start()
    expect(() => propose(1)).toThrow(/round 1 of epoch 1 may not be signed/)
    answer()
    expect(propose(1)).toHaveLength(1)
  })

  it("no round twice and none below one that it signed, also before the first is on the disk", () => {
    const { propose, answer } = start()
    answer()
    propose(2)
    for (const round of [1, 2]) expect(() => propose(round)).toThrow(/may not be signed; the last was 2 of 1/)
    expect(propose(3)).toHaveLength(1)
  })

  it("no round up to the highest on its disk, in any order on the disk", () => {
    const { propose, answer } = start({ signed: [4, 6, 5] })
    answer()
    for (const round of [4, 6]) expect(() => propose(round)).toThrow(/may not be signed; the last was 6 of 1/)
    expect(propose(7)).toHaveLength(1)
  })

  it("above its guard's highest round after the guard was recreated, as after a fast sync", () => {
    const { propose, answer, signing, record } = start()
    answer()
    const [written] = propose(2)
    if (written?._tag !== "Write" || written.write._tag !== "OwnVertex") throw new Error("an own vertex expected")
    const { header } = written.write.vertex
    const again = signing.guard(record.epoch, ROUND_MS)
    expect([again?.self, again?.highest]).toEqual([addressOf("ann"), header])
  })

  it("nothing that a header of a future epoch forbids, even after its guard was recreated", () => {
    const { signing, guard, record, vertexOf } = start()
    expect(guard?.heldBack).toEqual([])
    const { header } = vertexOf("ann", 3)
    const later = { ...header, epoch: Natural.epoch(2) }
    guard?.meet(later)
    expect(signing.guard(record.epoch, ROUND_MS)?.heldBack).toEqual([later])
  })

  it("nothing without a guard", () => {
    const { propose } = start()
    expect(() => propose(1, new Signing({ signer: signerOf("ann"), word: null }, [], null, new Outbox()))).toThrow(
      /may not be signed/,
    )
  })

  it("nothing without a key", () => {
    const { propose, answer, signing, guard, live, outbox, record } = start({ signer: null })
    answer()
    expect([signing.self, guard, propose(1)]).toEqual([null, null, []])
    signing.cosign(genesisCheckpoint(record), Natural.timestamp(0), () => expect.unreachable())
    signing.beat({ _tag: "HeartbeatDue", commitIndex: Natural.commitIndex(1), commitHash: seedOf("commit") }, live)
    expect(outbox.drain()).toEqual([])
  })

  it("a checkpoint with its key", () => {
    const { signing, record } = start()
    const checkpoint = genesisCheckpoint(record)
    let made: Checkpoint.CheckpointSignature | null = null
    signing.cosign(checkpoint, Natural.timestamp(0), (signature) => {
      made = signature
    })
    expect(made).toEqual(Checkpoint.sign(checkpoint, signerOf("ann")))
  })
})

describe("a vertex of this node", () => {
  it("may be sent once, when its write was reported", () => {
    const { propose, answer, signing } = start()
    answer()
    const vertices = [2, 3, 4].map((round) => {
      const [output] = propose(round)
      if (output?._tag !== "Write" || output.write._tag !== "OwnVertex") throw new Error("an own vertex expected")
      expect([output.id, output.isSynced]).toEqual([round - 1, true])
      return output.write.vertex
    })
    expect(vertices.map(({ header }) => header.round)).toEqual([2, 3, 4])
    expect([signing.written(0), signing.size]).toEqual([[], 6])
    expect([signing.written(2), signing.size]).toEqual([vertices.slice(0, 2), 4])
    expect([signing.written(2), signing.written(3), signing.size]).toEqual([[], vertices.slice(2), 3])
  })

  it("may be sent although an earlier write of the other file is reported later", () => {
    const { propose, answer, signing, guard } = start()
    answer()
    propose(2)
    guard?.stoodStill()
    expect([signing.written(1), signing.written(0)]).toEqual([[], []])
    answer()
    expect(signing.shown().map(({ header }) => header.round)).toEqual([2])
  })

  it("that was signed before the process paused is held back until the committee has answered again", () => {
    const { propose, answer, signing, guard } = start()
    answer()
    propose(2)
    guard?.stoodStill()
    expect(signing.written(1)).toEqual([])
    answer()
    expect(signing.shown().map(({ header }) => header.round)).toEqual([2])
    expect(signing.shown()).toEqual([])
  })

  it("that was signed before the process paused is never sent if another one has signed meanwhile", () => {
    const { propose, answer, signing, guard, vertexOf } = start()
    answer()
    propose(2)
    guard?.stoodStill()
    guard?.meet(vertexOf("ann", 3).header)
    answer()
    for (let now = 0; guard?.silence !== null; now += 1_000) guard?.tick(Natural.timestamp(now), () => true)
    expect(signing.written(1)).toEqual([])
    expect(signing.size).toBeGreaterThan(0)
  })

  it("is forgotten with its epoch", () => {
    const { signing } = start({ signed: [1, 2] })
    signing.forgetBefore(Natural.epoch(1))
    expect(signing.size).toBe(2)
    signing.forgetBefore(Natural.epoch(2))
    expect(signing.size).toBe(0)
  })

  it("counts as unordered, and its transactions are not proposed again", () => {
    const { propose, answer, live } = start()
    answer()
    propose(1)
    expect(live.unordered.size).toBe(1)
  })

  it("holds the transactions assigned to this member, and those of its turn", () => {
    const { propose, answer, live, record } = start({ validators: { ann: 3_000, ben: 3_000, cleo: 3_000, dan: 3_000 } })
    answer()
    const choose = vi.spyOn(live.pool, "choose")
    const accounts = Array.from({ length: 50 }, (_, i) => addressOf(`account ${i}`))
    const ours = (turn?: number) => accounts.filter((each) => assignment(record)(each, turn) === addressOf("ann"))
    propose(7)
    const [[asked] = []] = choose.mock.calls
    if (asked === undefined) throw new Error("the pool is asked")
    expect(ours().length).toBeGreaterThan(0)
    expect(accounts.filter((each) => asked.isAssigned(each))).toEqual(ours())
    expect(accounts.filter((each) => asked.hasTurn(each))).toEqual(ours(7))
    expect(ours(7)).not.toEqual(ours())
  })

  it("holds fresh transactions where this member leads, once the previous leader was seen, and nowhere else", () => {
    const names = ["ann", "ben", "cleo", "dan"]
    const validators = Object.fromEntries(names.map((name) => [name, 3_000]))
    const leaderOf = ({ committee }: ReturnType<typeof start>, round: number) => {
      const { address } = committee.member(committee.leaderOf(Natural.round(round)))
      return names.find((name) => addressOf(name) === address) ?? ""
    }
    const freshBytes = (by: string, round: number, seen: ReadonlyArray<number> = []) => {
      const scene = start({ validators, signer: signerOf(by) })
      scene.answer()
      for (const each of seen) scene.live.core.epoch.dag.insert(scene.vertexOf(leaderOf(scene, each), each))
      const choose = vi.spyOn(scene.live.pool, "choose")
      scene.propose(round)
      return choose.mock.lastCall?.[0].freshBytes
    }
    const scene = start({ validators })
    const [first, third] = [leaderOf(scene, 1), leaderOf(scene, 3)]
    const share = Limits.VERTEX_BYTES / names.length
    expect(freshBytes(first, 1)).toBe(share)
    expect(freshBytes(third, 3, [2])).toBe(share)
    expect(freshBytes(third, 3)).toBe(0)
    expect(names.filter((name) => freshBytes(name, 1) !== 0)).toEqual([first])
    expect(names.filter((name) => freshBytes(name, 3, [2]) !== 0)).toEqual([third])
  })
})

describe("a heartbeat of this node", () => {
  const due = { _tag: "HeartbeatDue", commitIndex: Natural.commitIndex(3), commitHash: seedOf("commit") } as const
  const signerOfPerson = ({ publicKey }: Person): Signer => ({ publicKey, sign: FakeKeys.signWith(publicKey) })
  const beatsOf = (who: Person, ledger: Ledger) => {
    const outbox = new Outbox()
    new Signing({ signer: signerOfPerson(who), word: null }, [], null, outbox).beat(due, { ledger })
    return outbox.drain()
  }

  it("is made while its stake is enough for a seat and not leaving", () => {
    const [val, out] = [person("val"), person("out")]
    const chain = new Chain({ accounts: { poor: 9_000 }, validators: { val: 10_000, out: 2_000 } })
    const heartbeat = Heartbeat.sign(due.commitIndex, due.commitHash, signerOfPerson(out))
    expect(beatsOf(out, chain.ledger)).toEqual([{ _tag: "Broadcast", message: { _tag: "Heartbeat", heartbeat } }])
    expect(beatsOf(person("poor"), chain.ledger)).toEqual([])
    chain.runBy(val, chain.unstake(out))
    expect(chain.ledger.read.stake(out.address)).toMatchObject({ stakedAmount: Sats.MIN_STAKE_SATS })
    expect(beatsOf(out, chain.ledger)).toEqual([])
    expect(beatsOf(val, chain.ledger)).toHaveLength(1)
  })
})
