/** A core that has stopped or fallen behind: its questions, and the exceptions it makes at admission. */
import { describe, expect, it } from "vitest"
import { Core } from "../../src/consensus/Core.js"
import type { Output } from "../../src/consensus/output/Output.js"
import { freshEpoch } from "../../src/consensus/output/StoredEpoch.js"
import { SigningGuard } from "../../src/consensus/SigningGuard.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as FakeKeys from "./FakeKeys.js"
import { draw, type Picture } from "./Picture.js"
import { rules, seedOf, WITH_MEMORY } from "./TestCommittee.js"

const ROUND_MS = 100
/** A core repeats questions after 250 ms when rounds take 100, and asks everyone after eight times as long. */
const RETRY_MS = 250
const STANDSTILL_MS = 8 * RETRY_MS
const EPOCH = rules.epochRounds

/** Member A of a picture with its vertex of round 1, or a node without a key that has that vertex, and nothing else. */
class Member {
  readonly picture: Picture
  readonly core: Core
  readonly outputs: Array<Output> = []
  now = 100_000

  /** Silent: it does not know what its key has signed, so it has made no vertex. */
  constructor(picture: Picture, { hasKey = true, isSilent = false } = {}) {
    this.picture = picture
    const { record } = picture.opening
    const self = picture.committee.member(0).address
    const guard = hasKey ? new SigningGuard(self, ROUND_MS, record.epoch, [], WITH_MEMORY) : null
    this.core = new Core(
      { roundIntervalMs: ROUND_MS, guard },
      { current: freshEpoch(picture.opening), previous: null, signed: [], companions: [] },
    )
    this.core.start(this.at)
    if (guard === null) this.receive("A1")
    else if (!isSilent) {
      const nothing = { epoch: record.epoch, header: null }
      for (const { address } of record.members.slice(1)) this.core.answered(address, nothing, this.at)
      this.core.own(picture.vertex("A1"), this.at)
    }
  }

  get at(): Natural.Timestamp {
    return Natural.timestamp(this.now)
  }

  receive(...names: ReadonlyArray<string>): void {
    for (const name of names) this.outputs.push(...this.core.receive(this.picture.vertex(name), this.at))
  }

  /** The output during this time, with a tick at every retry. */
  wait(ms: number): ReadonlyArray<Output> {
    const outputs: Array<Output> = []
    for (const end = this.now + ms; this.now < end; ) {
      this.now = Math.min(end, this.now + RETRY_MS)
      outputs.push(...this.core.tick(this.at))
    }
    this.outputs.push(...outputs)
    return outputs
  }

  /** B, C and D have closed the epoch with a commit that this node has not reached. */
  hearOfTheEnd(): void {
    const { record, base } = this.picture.opening
    const checkpoint = Checkpoint.make({
      epoch: record.epoch,
      round: Natural.round(EPOCH),
      commitIndex: Natural.commitIndex(EPOCH),
      commitHash: seedOf("closing commit"),
      effectsDigest: seedOf("effects"),
      stateRoot: seedOf("state"),
      totalSupply: Sats.make(1_000),
      nextEpoch: { ...record, epoch: Natural.epoch(record.epoch + 1), firstRound: Natural.round(EPOCH + 1) },
      previous: base,
    })
    const signatures = record.members.slice(1).map(({ address, publicKey }) => ({
      validator: address,
      signature: FakeKeys.signWith(publicKey)(Checkpoint.signedBytes(checkpoint)),
    }))
    this.outputs.push(...this.core.checkpointsSigned({ checkpoint, signatures }, this.at))
  }
}

const asked = (outputs: ReadonlyArray<Output>) =>
  outputs.flatMap((output) => (output._tag === "CatchUp" ? [[output.fromRound, output.toRound]] : []))

const inserted = ({ picture }: Member, outputs: ReadonlyArray<Output>) =>
  outputs.flatMap((output) => (output._tag === "Inserted" ? [picture.nameOf(output.vertex)] : []))

const picture = draw(`
      A    B    C    D
  1   .   ./.   .    .
  2  ABC  ABC  ABC  BCD
  3  BCD  BCD  BCD  BCD
  4  BCD  BCD  BCD  BCD
  5  BCD  BCD  BCD  BCD
  6  BCD  BCD  BCD  BCD
  7  BCD  BCD  BCD  BCD
`)

describe("a stalled member", () => {
  // A validator had filled its places in the waiting room with vertices on nonexistent parents. A real one of its own,
  // which honest vertices named, found no place there, so its parents were never requested.
  it("asks for everything that is kept once it has made nothing for eight retries, and not all the time", () => {
    const member = new Member(picture)
    member.receive("B1")
    expect(asked(member.wait(STANDSTILL_MS - RETRY_MS))).toEqual([])
    expect(asked(member.wait(RETRY_MS))).toEqual([[1, 1 + EPOCH]])
    expect(asked(member.wait(STANDSTILL_MS - RETRY_MS))).toEqual([])
    expect(asked(member.wait(RETRY_MS))).toEqual([[1, 1 + EPOCH]])
  })

  // A silent validator that had lost its disk never requested the vertices with which the others had closed the epoch.
  it("requests everything even if it has never made a vertex, and reports whose vertices are missing", () => {
    const member = new Member(picture, { isSilent: true })
    member.receive("B1", "b1", "C1", "D1")
    expect(member.core.following(member.at)).toEqual({ _tag: "InStep" })
    expect(asked(member.wait(STANDSTILL_MS - RETRY_MS))).toEqual([])
    const outputs = member.wait(2 * RETRY_MS)
    expect(asked(outputs)).toEqual([[1, 1 + EPOCH]])
    expect(inserted(member, outputs)).toContain("b1")
    const lacks = picture.committee.record.members.map(({ address }) => address)
    expect(member.core.following(member.at)).toEqual({ _tag: "Standstill", round: 2, lacks })
    expect(member.core.signing).toMatchObject({ _tag: "Asking", lacks: lacks.slice(1) })
  })

  it("asks for what stalls it also when it is far behind, not only for the rounds above", () => {
    const member = new Member(picture)
    member.receive("B1", "B7", "C7", "D7")
    expect(member.core.epoch.reachedRound).toBe(7)
    expect(member.core.following(member.at)).toEqual({ _tag: "Behind", round: 0, reachedRound: 7 })
    const early = asked(member.wait(STANDSTILL_MS - RETRY_MS))
    expect(early.length).toBeGreaterThan(0)
    for (const rounds of early) expect(rounds).toEqual([0, 7])
    expect(asked(member.wait(RETRY_MS))).toEqual([[1, 7 + EPOCH]])
  })

  // The others may have closed the epoch with the second vertex of a slot, and make no more vertices that name it.
  it("admits the second vertex of a slot unnamed, but not while it advances", () => {
    const member = new Member(picture)
    member.receive("B1", "b1")
    expect(inserted(member, member.wait(STANDSTILL_MS - RETRY_MS))).toEqual([])
    expect(inserted(member, member.wait(2 * RETRY_MS))).toEqual(["b1"])
  })
})

describe("a stalled node without a key", () => {
  // The missing vertices lay below the rounds that have a quorum. The node requested only the rounds above, and honest
  // but useless answers lost their senders' turns to strangers.
  it("asks for everything that is kept once it is far behind", () => {
    const follower = new Member(picture, { hasKey: false })
    follower.receive("B1", "B7", "C7", "D7")
    for (const rounds of asked(follower.wait(STANDSTILL_MS - RETRY_MS))) expect(rounds).toEqual([0, 7])
    expect(asked(follower.wait(RETRY_MS))).toEqual([[1, 7 + EPOCH]])
  })

  it("asks for nothing while the network itself may have stopped", () => {
    const follower = new Member(picture, { hasKey: false })
    follower.receive("B1")
    expect(asked(follower.wait(2 * STANDSTILL_MS))).toEqual([])
  })

  it("admits the second vertex of a slot unnamed", () => {
    const follower = new Member(picture, { hasKey: false })
    follower.receive("B1", "b1")
    expect(inserted(follower, follower.wait(STANDSTILL_MS - RETRY_MS))).toEqual([])
    expect(inserted(follower, follower.wait(2 * RETRY_MS))).toEqual(["b1"])
  })
})

describe("a vertex that is slow to judge", () => {
  const { header } = picture.vertex("D2")
  const isBuiltOnAfter = (member: Member, ...names: ReadonlyArray<string>): boolean => {
    member.receive(...names)
    return member.core.isBuiltOn(header)
  }

  it("is judged when authors of a third of the weight wait for it besides its own: one of them is honest", () => {
    const member = new Member(picture)
    expect(isBuiltOnAfter(member, "B1", "C1", "D1")).toBe(false)
    expect(isBuiltOnAfter(member, "D3", "D4")).toBe(false)
    expect(isBuiltOnAfter(member, "B3")).toBe(false)
    expect(isBuiltOnAfter(member, "C3")).toBe(true)
  })

  it("is judged when they wait for a vertex that waits for it", () => {
    const member = new Member(picture)
    expect(isBuiltOnAfter(member, "B4", "C4")).toBe(false)
    expect(isBuiltOnAfter(member, "D3")).toBe(true)
  })

  it("is judged by a stalled member for peers other than its author", () => {
    const member = new Member(picture)
    member.receive("D3")
    member.wait(STANDSTILL_MS)
    expect(member.core.isBuiltOn(header)).toBe(false)
    expect(isBuiltOnAfter(member, "B3")).toBe(true)
  })

  it("is judged by a node that makes no vertices for peers other than its author", () => {
    const core = new Core(
      { roundIntervalMs: ROUND_MS, guard: null },
      { current: freshEpoch(picture.opening), previous: null, signed: [], companions: [] },
    )
    const isAfter = (name: string): boolean => {
      core.receive(picture.vertex(name), Natural.timestamp(100_000))
      return core.isBuiltOn(header)
    }
    expect([isAfter("D3"), isAfter("B3")]).toEqual([false, true])
  })
})

describe("a member that hears of its epoch's end before it can decide it", () => {
  // The closing leader was decided by its anchor, rounds above it: asking up to the closing round was not enough.
  it("asks at once for everything that is kept, as far up as an epoch can go", () => {
    const member = new Member(picture)
    member.receive("B1")
    expect(member.core.following(member.at)).toEqual({ _tag: "InStep" })
    member.hearOfTheEnd()
    expect(member.core.following(member.at)).toEqual({ _tag: "EpochOver", epoch: 1 })
    expect(asked(member.wait(RETRY_MS))).toEqual([[1, 1 + EPOCH]])
    expect(asked(member.wait(RETRY_MS))).toEqual([[1, 1 + EPOCH]])
  })

  it("makes no more vertices of that epoch", () => {
    const proposed = (member: Member) =>
      member.wait(STANDSTILL_MS).flatMap((output) => (output._tag === "Propose" ? [output.round] : []))
    const [one, other] = [new Member(picture), new Member(picture)]
    for (const member of [one, other]) member.receive("B1", "C1", "D1")
    other.hearOfTheEnd()
    expect([proposed(one), proposed(other)]).toEqual([[2], []])
  })

  it("admits the second vertex of a slot unnamed at once", () => {
    const member = new Member(picture)
    member.receive("B1", "b1")
    member.hearOfTheEnd()
    expect(inserted(member, member.wait(2 * RETRY_MS))).toEqual(["b1"])
  })
})
