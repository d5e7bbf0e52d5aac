/** One core, one input after the other: what it asks of its host for each. */
import { describe, expect, it } from "vitest"
import { Core, type Options, type Stored } from "../../src/consensus/Core.js"
import type { ExecutedCommit } from "../../src/consensus/commit/Rollback.js"
import { Epoch } from "../../src/consensus/Epoch.js"
import { openingOf as openingAfter } from "../../src/consensus/output/Opening.js"
import type { Output } from "../../src/consensus/output/Output.js"
import { freshEpoch, type StoredEpoch } from "../../src/consensus/output/StoredEpoch.js"
import { SILENT_INTERVALS, SigningGuard } from "../../src/consensus/SigningGuard.js"
import type * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { endedEpoch } from "../support/EndedEpoch.js"
import { closingOf, floating, grown, signatureOf } from "./Grown.js"
import { equalWeights, openingOf, recordOf, rules, seedOf, WITH_MEMORY } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

const INTERVAL_MS = 200
const GAP_MS = 10
const RETRY_MS = 400
const NOW = 1_000_000
const EPOCH_ROUNDS = 30
/** As many rounds decide the close. */
const CLOSING_ROUNDS = EPOCH_ROUNDS + 2

const record = recordOf(equalWeights(4), { rules: { ...rules, epochRounds: EPOCH_ROUNDS, collectionDepthRounds: 4 } })
const builder = new VertexBuilder(openingOf(record))
const others = [1, 2, 3]
const addressOf = (seat: number) => builder.committee.member(seat).address
const at = Natural.timestamp

const whole = grown(builder, CLOSING_ROUNDS)
const upTo = (round: number) => whole.filter(({ header }) => header.round <= round)
const vertexAt = (seat: number, round: number): Vertex => {
  const found = whole.find(({ header }) => header.round === round && header.author === addressOf(seat))
  if (found === undefined) throw new Error(`no vertex of seat ${seat} in round ${round}`)
  return found
}

/** What these vertices lead to in an epoch of its own. */
const playedIn = (on: VertexBuilder, vertices: ReadonlyArray<Vertex>) => {
  const outputs: Array<Output> = []
  const epoch = new Epoch(on.opening, null, (output) => outputs.push(output))
  for (const vertex of vertices) epoch.receive(vertex)
  const commits = outputs.flatMap((output) => (output._tag === "Committed" ? [output.commit] : []))
  const executed = commits.map((commit): ExecutedCommit => ({ commit, effectsDigest: seedOf("effects") }))
  return { epoch, executed }
}

const { epoch: over, executed: commits } = playedIn(builder, whole)
const closing = closingOf(over)
const signed = (checkpoint: Checkpoint.Checkpoint, seats: ReadonlyArray<number>): Checkpoint.SignedCheckpoint => ({
  checkpoint,
  signatures: seats.map((seat) => signatureOf(builder.committee, checkpoint, seat)),
})
const next = new VertexBuilder(openingAfter(closing, over.position.time))

/** A core that plays a seat, or nobody. */
class Driven {
  readonly core: Core
  readonly atStart: ReadonlyArray<Output>
  now = NOW

  /** Unmetered by default: a round then takes one interval, whatever was before. */
  constructor(
    given: Partial<Stored> = {},
    seat: number | null = 0,
    pace: Pick<Options, "pace" | "isAwaited"> = { pace: "at once" },
  ) {
    const stored = { current: freshEpoch(builder.opening), previous: null, signed: [], ...given }
    const oldest = (stored.previous ?? stored.current).opening.record.epoch
    const own = [...stored.signed, ...(stored.previous?.vertices ?? []), ...stored.current.vertices]
      .map(({ header }) => header)
      .filter(({ author }) => seat !== null && author === addressOf(seat))
    const guard = seat === null ? null : new SigningGuard(addressOf(seat), INTERVAL_MS, oldest, own, WITH_MEMORY)
    this.core = new Core({ roundIntervalMs: INTERVAL_MS, guard, ...pace }, stored)
    this.atStart = this.core.start(at(NOW))
  }

  /** Everybody else has answered that it knows nothing, so it may sign. */
  answered(): this {
    this.answer()
    return this
  }

  answer(): ReadonlyArray<Output> {
    const { epoch } = this.core.epoch.opening.record
    return others.flatMap((seat) => this.core.answered(addressOf(seat), { epoch, header: null }, at(this.now)))
  }

  receive(...vertices: ReadonlyArray<Vertex>): ReadonlyArray<Output> {
    return vertices.flatMap((vertex) => this.core.receive(vertex, at(this.now)))
  }

  own(vertex: Vertex): ReadonlyArray<Output> {
    return this.core.own(vertex, at(this.now))
  }

  tickAt(now: number): ReadonlyArray<Output> {
    this.now = now
    return this.core.tick(at(now))
  }

  /** Has seen the whole epoch, executed its commits, and built its close. */
  closed(): this {
    this.receive(...whole)
    for (const executed of commits) this.core.executed(executed, at(this.now))
    this.core.built(closing, at(this.now))
    return this
  }

  sign(checkpoint: Checkpoint.Checkpoint, seats: ReadonlyArray<number>): ReadonlyArray<Output> {
    return this.core.checkpointsSigned(signed(checkpoint, seats), at(this.now))
  }
}

type Tag = Output["_tag"]
const only = <T extends Tag>(outputs: ReadonlyArray<Output>, tag: T) =>
  outputs.filter((output): output is Extract<Output, { _tag: T }> => output._tag === tag)
const tagsOf = (outputs: ReadonlyArray<Output>): ReadonlyArray<Tag> => outputs.map(({ _tag }) => _tag)

const stored = (vertices: ReadonlyArray<Vertex>, given: Partial<StoredEpoch> = {}): StoredEpoch => ({
  ...freshEpoch(builder.opening),
  vertices,
  ...given,
})

describe("a member that may sign", () => {
  it("makes the epoch's first vertex at once, without parents, with its wall clock's time", () => {
    const member = new Driven()
    member.core.wallIs(-300)
    member.answered()
    const proposed = only(member.tickAt(NOW), "Propose")
    expect(proposed).toEqual([])
    const again = new Driven()
    again.core.wallIs(-300)
    const asked = again.core.answered(addressOf(1), { epoch: record.epoch, header: null }, at(NOW))
    const settled = again.core.answered(addressOf(2), { epoch: record.epoch, header: null }, at(NOW))
    expect(tagsOf(asked)).toEqual([])
    expect(settled).toEqual([
      {
        _tag: "Propose",
        base: builder.opening.base,
        epoch: 1,
        round: 1,
        parents: [],
        coinbase: builder.committee.coinbase(Natural.round(1), 0),
        timestamp: NOW - 300,
      },
    ])
  })

  it("takes its own vertex in when it is on disk", () => {
    const member = new Driven().answered()
    expect(member.own(vertexAt(0, 1))).toEqual([{ _tag: "Inserted", vertex: vertexAt(0, 1) }])
  })

  it("makes its next round an interval after a third had made the last one, though it was late itself", () => {
    const member = new Driven()
    member.receive(...others.map((seat) => vertexAt(seat, 1)))
    member.now = NOW + 150
    member.answered()
    member.now = NOW + 151
    member.own(vertexAt(0, 1))
    expect(member.core.wakeAt(at(NOW + 151))).toBe(NOW + INTERVAL_MS)
  })

  it("makes nothing more in an epoch that it has closed, while it waits for signatures", () => {
    // A quorum has made the last round, and its own vertex of it is missing: anywhere else it would make one.
    const own = vertexAt(3, CLOSING_ROUNDS)
    const vertices = whole.filter((vertex) => vertex !== own)
    const member = new Driven({ current: stored(vertices, { commits, checkpoints: [closing] }) }, 3)
    const outputs = [0, 1, 2].flatMap((seat) =>
      member.core.answered(addressOf(seat), { epoch: record.epoch, header: null }, at(NOW)),
    )
    expect(member.core.signing).toEqual({ _tag: "Signing" })
    expect(only([...outputs, ...member.tickAt(NOW + 60_000)], "Propose")).toEqual([])
  })

  it("never dates a vertex before all time", () => {
    const member = new Driven()
    member.core.wallIs(-2 * NOW)
    const outputs = others.flatMap((seat) =>
      member.core.answered(addressOf(seat), { epoch: record.epoch, header: null }, at(NOW)),
    )
    expect(only(outputs, "Propose").map(({ timestamp }) => timestamp)).toEqual([0])
  })

  it("proposes a round once, and goes on when its vertex is back and a quorum has its round", () => {
    const member = new Driven().answered()
    const proposedAt = (now: number, ...vertices: ReadonlyArray<Vertex>) => {
      member.now = now
      return only([...member.receive(...vertices), ...member.tickAt(now)], "Propose").map(({ round }) => round)
    }
    expect(proposedAt(NOW + 1, vertexAt(1, 1), vertexAt(2, 1), vertexAt(3, 1))).toEqual([])
    member.own(vertexAt(0, 1))
    expect(proposedAt(NOW + INTERVAL_MS - 1)).toEqual([])
    expect(proposedAt(NOW + INTERVAL_MS)).toEqual([2])
    expect(proposedAt(NOW + INTERVAL_MS + 1)).toEqual([])
    // A quorum that is further takes it along, although its own vertex of round 2 is still on its way to the disk.
    expect(
      proposedAt(NOW + INTERVAL_MS + 2, ...upTo(4).filter(({ header }) => header.author !== addressOf(0))),
    ).toEqual([])
    member.own(vertexAt(0, 2))
  })

  it("hurries while somebody waits, when its own vertex is back and all commits are executed", () => {
    let isAwaited = true
    const member = new Driven({}, 0, { pace: "at once", isAwaited: () => isAwaited }).answered()
    const plannedAt = () => [member.core.isHurried, member.core.wakeAt(at(NOW + 1))]
    member.now = NOW + 1
    member.receive(...others.map((seat) => vertexAt(seat, 1)))
    expect(plannedAt()).toEqual([true, NOW + INTERVAL_MS])
    member.own(vertexAt(0, 1))
    expect(plannedAt()).toEqual([true, NOW + GAP_MS])
    isAwaited = false
    expect(plannedAt()).toEqual([true, NOW + GAP_MS])
    member.tickAt(NOW + 1)
    expect(plannedAt()).toEqual([false, NOW + INTERVAL_MS])
  })

  it("makes no further round for those who have what they waited for, though it is not executed yet", () => {
    const member = new Driven({ current: stored(upTo(2)) }, 0, { pace: "at once", isAwaited: () => true }).answered()
    member.own(vertexAt(0, 3))
    member.now = NOW + GAP_MS
    const committed = member.receive(...others.map((seat) => vertexAt(seat, 3)))
    expect(tagsOf(committed)).toContain("Committed")
    expect([member.core.isHurried, tagsOf(committed).includes("Propose")]).toEqual([false, false])
    const executed = commits.slice(0, 1).flatMap((commit) => member.core.executed(commit, at(member.now)))
    expect(only(executed, "Propose").map(({ round }) => round)).toEqual([4])
  })

  it("waits an interval after a start, since it may have made a round a moment before", () => {
    const member = new Driven({ current: stored(upTo(2)) }, 0, { isAwaited: () => true })
    const outputs = others.flatMap((seat) =>
      member.core.answered(addressOf(seat), { epoch: record.epoch, header: null }, at(NOW)),
    )
    expect(only(outputs, "Propose")).toEqual([])
    expect(only(member.tickAt(NOW + 3 * INTERVAL_MS - 1), "Propose")).toEqual([])
    expect(only(member.tickAt(NOW + 3 * INTERVAL_MS), "Propose").map(({ round }) => round)).toEqual([3])
  })

  it("wakes when the next round is due, or something may be asked again", () => {
    const member = new Driven().answered()
    member.own(vertexAt(0, 1))
    member.receive(...others.map((seat) => vertexAt(seat, 1)))
    expect(member.core.wakeAt(at(NOW + 1))).toBe(NOW + INTERVAL_MS)
    expect(member.core.wakeAt(at(NOW + INTERVAL_MS))).toBe(NOW + INTERVAL_MS + RETRY_MS)
    member.receive(floating(builder, 1, 5))
    expect(member.core.wakeAt(at(NOW + 1))).toBe(NOW + 51)
    const waiting = new Driven({}, null)
    expect(waiting.core.wakeAt(at(NOW))).toBe(NOW + RETRY_MS)
    waiting.receive(floating(builder, 1, 5))
    expect(waiting.core.wakeAt(at(NOW))).toBe(NOW + 50)
  })

  it("gives a vertex back that came too late for its epoch, and has signed its round all the same", () => {
    const member = new Driven().answered().closed()
    const late = builder.make(0, CLOSING_ROUNDS + 1, [])
    expect(member.own(late)).toEqual([{ _tag: "Returned", vertices: [late] }])
    member.sign(closing, others)
    expect(member.core.epoch.opening.record.epoch).toBe(2)
    const later = builder.make(0, CLOSING_ROUNDS + 2, [])
    expect(member.own(later)).toEqual([{ _tag: "Returned", vertices: [later] }])
    expect(only(member.receive(late, later), "ForeignOwnHeader")).toEqual([])
  })
})

describe("a node that restarts", () => {
  it("sends again exactly the vertex it signed last, before anything else, and inserts nothing twice", () => {
    const { executed } = playedIn(builder, upTo(6))
    const member = new Driven({ current: stored(upTo(6), { commits: executed }) })
    const [first] = member.atStart
    expect(first).toEqual({ _tag: "Resend", vertices: [vertexAt(0, 6)], closing: null })
    expect(only(member.atStart, "Inserted")).toEqual([])
    expect(only(member.atStart, "Committed")).toEqual([])
    expect(new Driven({ current: stored(upTo(6), { commits: executed }) }, null).atStart).toEqual([])
  })

  it("waits for nothing that was before its start: it sends again and asks for all rounds at once", () => {
    const member = new Driven({ current: stored(upTo(3)) })
    const tags = tagsOf(member.atStart)
    expect(tags.filter((tag) => tag === "Resend")).toHaveLength(2)
    expect(tags).toContain("CatchUp")
    expect(tagsOf(new Driven().atStart)).toEqual(["AskOwnHighest"])
  })

  it("goes on as if its last vertex had been made long ago", () => {
    const member = new Driven({ current: stored(upTo(3)) })
    const { epoch } = record
    const outputs = others.flatMap((seat) => member.core.answered(addressOf(seat), { epoch, header: null }, at(NOW)))
    expect(only(outputs, "Propose").map(({ round }) => round)).toEqual([4])
  })

  it("closes its epoch again, and opens the next if a quorum has signed", () => {
    const current = stored(whole, { commits, checkpoints: [closing] })
    const waiting = new Driven({ current })
    expect(only(waiting.atStart, "SignCheckpoint")).toEqual([{ _tag: "SignCheckpoint", checkpoint: closing }])
    expect(waiting.core.following(at(NOW))).toEqual({
      _tag: "Closing",
      epoch: 1,
      lacks: record.members.map(({ address }) => address),
    })
    const opened = new Driven({ current: { ...current, signed: [signed(closing, others)] } })
    expect(only(opened.atStart, "EpochStarted")).toEqual([{ _tag: "EpochStarted", opening: next.opening }])
    expect(opened.core.checkpoints.committee.record).toEqual(next.opening.record)
  })

  it("stops when what it recorded is contradicted by a quorum", () => {
    const forged = closingOf(over, { seed: seedOf("another") })
    const current = stored(whole, { commits, checkpoints: [closing], signed: [signed(forged, others)] })
    const node = new Driven({ current })
    expect(tagsOf(node.atStart)).toContain("FinalityRollback")
    expect(node.core.isHalted).toBe(true)
    expect(node.receive(next.make(1, next.opening.record.firstRound, []))).toEqual([])
  })

  it("stops when its vertices decide another commit than it recorded, and says only that", () => {
    const [first, second, ...rest] = commits
    if (first === undefined || second === undefined) throw new Error("two commits expected")
    const forged = { ...second, commit: { ...second.commit, hash: Hash.ZERO } }
    const node = new Driven({ current: stored(whole, { commits: [first, forged, ...rest] }) }, null)
    expect(node.atStart).toEqual([
      {
        _tag: "FinalityRollback",
        rollback: { _tag: "CommitDecidedAnew", recorded: forged.commit, decided: second.commit },
      },
    ])
  })

  it("stops when two vertices of one slot have certificates, and makes no vertex after it", () => {
    const first = upTo(1)
    const leader = builder.committee.leaderOf(Natural.round(1))
    const other = builder.make(leader, 1, [], { timestamp: at(77) })
    const voters = [0, 1, 2, 3].filter((seat) => seat !== leader)
    const voting = (on: ReadonlyArray<Vertex>) => voters.map((seat) => builder.make(seat, 2, on.map(parentOf)))
    const forOne = voting(first)
    const forOther = voting(first.map((vertex, seat) => (seat === leader ? other : vertex)))
    const [one = 0, two = 0] = voters
    const certifying = (seat: number, votes: ReadonlyArray<Vertex>) => builder.make(seat, 3, votes.map(parentOf))
    const member = new Driven({}, leader)
    for (const { address } of record.members) {
      member.core.answered(address, { epoch: record.epoch, header: null }, at(NOW))
    }
    member.own(first[leader] ?? other)
    const outputs = member.receive(...first, ...forOne, ...forOther, other)
    const last = member.receive(certifying(one, forOne), certifying(two, forOther))
    expect(only([...outputs, ...last], "FinalityRollback")).toHaveLength(1)
    expect(last.at(-1)?._tag).toBe("FinalityRollback")
    expect(member.tickAt(NOW + 20_000)).toEqual([])
  })

  it("asks for all rounds at once also where only the epoch's first one has a quorum", () => {
    expect(tagsOf(new Driven({ current: stored(upTo(1)) }).atStart)).toContain("CatchUp")
  })

  it("stops when it recorded a commit that its vertices do not decide, and says only that", () => {
    const node = new Driven({ current: stored(upTo(2), { commits: commits.slice(0, 1) }) }, null)
    expect(node.atStart).toEqual([
      { _tag: "FinalityRollback", rollback: { _tag: "CommitNotDecided", recorded: commits[0]?.commit } },
    ])
    expect(node.tickAt(NOW + 100_000)).toEqual([])
  })

  it("remembers the epoch before: its checkpoints, its own vertices, and everybody's highest header", () => {
    const ended = endedEpoch(stored(whole, { commits, checkpoints: [closing], signed: [signed(closing, others)] }))
    const own = ended.vertices.filter(({ header }) => header.author === addressOf(0))
    const member = new Driven({ current: freshEpoch(next.opening), previous: { ...ended, vertices: own } })
    expect(member.core.committeeOf(record.epoch)?.record).toEqual(record)
    expect(member.core.committeeOf(Natural.epoch(0))).toBeUndefined()
    expect(member.core.committeeOf(Natural.epoch(3))).toBeUndefined()
    expect(member.core.highestKnownOf(addressOf(2))).toEqual({ epoch: 2, header: vertexAt(2, CLOSING_ROUNDS).header })
    // It sends what ended that epoch again until the next one is heard.
    const [resent] = only(member.atStart, "Resend")
    expect(resent?.vertices.map(({ header }) => header.round)).toEqual([30, 31, 32])
    expect(only(member.atStart, "ForeignOwnHeader")).toEqual([])
    expect(member.core.held).toMatchObject({ candidates: 0, commits: commits.length, highestHeaders: 4 })
  })

  it("finds its own key's headers of the epoch before that its signed vertices lack, and of this one", () => {
    const ended = endedEpoch(stored(whole, { commits, checkpoints: [closing], signed: [signed(closing, others)] }))
    const before = new Driven({ current: freshEpoch(next.opening), previous: { ...ended, vertices: [] } })
    expect(only(before.atStart, "ForeignOwnHeader").map(({ header }) => header.round)).toEqual([CLOSING_ROUNDS])
    // What is in the ledger's file and not among the signed vertices was signed by somebody with the same disk, earlier.
    const guard = new SigningGuard(addressOf(0), INTERVAL_MS, record.epoch, [], WITH_MEMORY)
    const core = new Core(
      { roundIntervalMs: INTERVAL_MS, guard },
      { current: stored(upTo(2)), previous: null, signed: [] },
    )
    expect(only(core.start(at(NOW)), "ForeignOwnHeader").map(({ header }) => header.round)).toEqual([1, 2])
    expect(core.signing._tag).toBe("Silent")
  })

  it("is alone in its committee with all of its vertices, so none of them is foreign", () => {
    const single = new VertexBuilder(openingOf(recordOf([1])))
    const guard = new SigningGuard(single.committee.member(0).address, INTERVAL_MS, record.epoch, [], WITH_MEMORY)
    const current = { ...freshEpoch(single.opening), vertices: grown(single, 2, [0]) }
    const core = new Core({ roundIntervalMs: INTERVAL_MS, guard }, { current, previous: null, signed: [] })
    expect(only(core.start(at(NOW)), "ForeignOwnHeader")).toEqual([])
  })
})

describe("vertices that were signed and are not in the DAG", () => {
  const lost = [3, 4].map((round) => vertexAt(0, round))

  const resentBy = (outputs: ReadonlyArray<Output>) =>
    only(outputs, "Resend").map(({ vertices }) => vertices.map((v) => v.header.round))

  it("are offered to the DAG once the committee has answered, and sent until it has them", () => {
    const member = new Driven({ current: stored(upTo(2)), signed: lost })
    expect(resentBy(member.tickAt(NOW + RETRY_MS))).not.toContainEqual([3, 4])
    expect(only(member.answer(), "Inserted").map(({ vertex }) => vertex.header.round)).toEqual([3])
    expect(member.core.held.recovered).toBe(2)
    expect(resentBy(member.tickAt(NOW + 2 * RETRY_MS))).toContainEqual([3, 4])
    member.receive(...others.map((seat) => vertexAt(seat, 3)))
    member.tickAt(NOW + 3 * RETRY_MS)
    expect(member.core.held.recovered).toBe(0)
    expect(member.core.vertex(vertexAt(0, 4).header.hash)).toBe(vertexAt(0, 4))
  })

  it("are not told of while the committee has not answered, nor ever if another process has signed", () => {
    const member = new Driven({ current: stored(upTo(2)), signed: lost })
    const told = () => {
      const { epoch, header } = member.core.highestKnownOf(addressOf(0))
      return [epoch, header?.round, ...lost.map(({ header: { hash } }) => member.core.isWithheld(hash))]
    }
    expect([...only(member.atStart, "Inserted"), ...told()]).toEqual([0, undefined, true, true])
    member.receive(builder.make(0, 4, [], { timestamp: at(9) }))
    expect(only(member.answer(), "Inserted")).toEqual([])
    expect(told()).toEqual([0, undefined, true, true])
    const honest = new Driven({ current: stored(upTo(2)), signed: lost }).answered()
    expect(honest.core.highestKnownOf(addressOf(0))).toEqual({ epoch: record.epoch, header: lost[1]?.header })
    expect(lost.map(({ header: { hash } }) => honest.core.isWithheld(hash))).toEqual([false, false])
  })

  it("are not waited for once their rounds are collected, nor where the DAG has them", () => {
    const { executed } = playedIn(builder, upTo(12))
    const current = stored(upTo(12), { commits: executed })
    const second = builder.make(0, 2, upTo(1).map(parentOf), { timestamp: at(9) })
    expect(new Driven({ current, signed: [second] }).core.held.recovered).toBe(0)
    expect(new Driven({ current, signed: [vertexAt(0, 12)] }).core.held.recovered).toBe(0)
    expect(new Driven({ current, signed: [builder.make(0, 14, [])] }).core.held.recovered).toBe(1)
  })

  it("of an epoch that has not opened wait for it, in order, and those of older ones are of no use", () => {
    const { firstRound } = next.opening.record
    const later = [next.make(0, firstRound, []), next.make(0, firstRound + 1, [])]
    const own = whole.filter(({ header }) => header.author === addressOf(0))
    const member = new Driven({ signed: [...own, ...later] })
    expect(member.core.signedLater).toEqual(later)
    expect(member.core.held.recovered).toBe(own.length + 2)
    member.closed()
    const outputs = member.sign(closing, others)
    expect(only(outputs, "EpochStarted")).toHaveLength(1)
    const inserted = only([...outputs, ...member.answer()], "Inserted")
    expect(inserted.map(({ vertex }) => vertex.header.hash)).toEqual([later[0]?.header.hash])
    expect(member.core.signedLater).toEqual([])
  })
})

describe("a vertex", () => {
  it("of an earlier epoch makes the node offer its close, of a later one ask for it", () => {
    const opened = new Driven({}, null).closed()
    opened.sign(closing, others)
    expect(opened.receive(vertexAt(1, 5))).toEqual([{ _tag: "OfferClosing", from: 1 }])
    const node = new Driven({}, null)
    const later = next.make(1, next.opening.record.firstRound, [])
    expect(node.receive(later)).toEqual([{ _tag: "AskClosing", from: 1 }])
    expect(node.core.held.early).toBe(0)
    expect(node.core.highestKnownOf(addressOf(1)).header).toBeNull()
  })

  it("of the next epoch is kept while this one waits for signatures, and is inserted when it opens", () => {
    const node = new Driven({}, null).closed()
    const { firstRound } = next.opening.record
    const early = next.make(1, firstRound, [])
    expect(node.core.useOf(early.header)).toEqual({ _tag: "Wanted" })
    expect(node.receive(early)).toEqual([{ _tag: "AskClosing", from: 1 }])
    expect(node.core.held.early).toBe(1)
    expect(node.core.useOf(early.header)).toEqual({ _tag: "Elsewhere", epoch: 2 })
    expect(node.core.highestKnownOf(addressOf(1)).header).toBe(early.header)
    expect(tagsOf(node.sign(closing, others))).toEqual(["CheckpointFinal", "EpochStarted", "Inserted"])
    expect(node.core.vertex(early.header.hash)).toBe(early)
    // The epoch before is still answered for.
    expect(node.core.vertex(vertexAt(1, CLOSING_ROUNDS).header.hash)).toBe(vertexAt(1, CLOSING_ROUNDS))
  })

  it("with this node's key that it has not signed is foreign, once", () => {
    const member = new Driven()
    const foreign = builder.make(0, 1, [], { timestamp: at(5) })
    expect(tagsOf(member.receive(foreign))).toContain("ForeignOwnHeader")
    expect(tagsOf(member.receive(foreign))).not.toContain("ForeignOwnHeader")
  })

  it("with this node's key, of an epoch that has not opened, is judged when it opens", () => {
    const member = new Driven({ current: stored(whole, { commits, checkpoints: [closing] }) })
    const later = next.make(0, next.opening.record.firstRound, [])
    expect(only(member.receive(later), "ForeignOwnHeader")).toEqual([])
    expect(member.core.held).toMatchObject({ heldBack: 1, guarded: CLOSING_ROUNDS })
    expect(only(member.sign(closing, others), "ForeignOwnHeader")).toEqual([
      { _tag: "ForeignOwnHeader", header: later.header },
    ])
    expect(member.core.held).toMatchObject({ heldBack: 0, guarded: CLOSING_ROUNDS + 1 })
  })

  it("that breaks a rule is not remembered for its author", () => {
    const node = new Driven({}, null)
    const broken = builder.make(1, 5, [], { coinbase: Sats.make(1) })
    expect(tagsOf(node.receive(broken))).toEqual(["Invalid"])
    expect(node.core.highestKnownOf(addressOf(1)).header).toBeNull()
  })

  it("whose round was collected is remembered for its author, who may have lost its disk", () => {
    const node = new Driven({}, null)
    const without = grown(builder, 12, [0, 1, 2])
    node.receive(...without)
    expect(node.core.epoch.dag.collectedRound).toBeGreaterThan(3)
    const late = builder.make(3, 2, without.slice(0, 3).map(parentOf))
    expect(node.core.useOf(late.header)).toEqual({ _tag: "HeaderOnly" })
    node.receive(late)
    expect(node.core.highestKnownOf(addressOf(3)).header).toBe(late.header)
    expect(node.core.useOf(late.header)).toEqual({ _tag: "Known" })
    const lower = builder.make(3, 1, [])
    node.core.metHeader(lower.header, at(NOW))
    expect(node.core.highestKnownOf(addressOf(3)).header).toBe(late.header)
    const higher = builder.make(3, 3, without.slice(3, 6).map(parentOf))
    node.core.metHeader(higher.header, at(NOW))
    expect(node.core.highestKnownOf(addressOf(3)).header).toBe(higher.header)
    const last = builder.make(3, node.core.epoch.dag.collectedRound, [])
    node.receive(last)
    expect(node.core.highestKnownOf(addressOf(3)).header).toBe(last.header)
    const above = builder.make(3, node.core.epoch.dag.collectedRound + 1, [])
    node.core.metHeader(above.header, at(NOW))
    expect(node.core.highestKnownOf(addressOf(3)).header).toBe(last.header)
  })

  it("whose round is not collected and that is not here is not remembered, nor one upon another base or of a stranger", () => {
    const node = new Driven({}, null)
    node.core.metHeader(vertexAt(1, 1).header, at(NOW))
    expect(node.core.highestKnownOf(addressOf(1)).header).toBeNull()
    node.receive(...whole)
    expect(node.core.epoch.isClosed).toBe(true)
    const elsewhere = builder.make(1, 40, [], { base: Hash.of("udg/checkpoint-id", Uint8Array.of(1)) })
    node.core.metHeader(elsewhere.header, at(NOW))
    const stranger = new VertexBuilder(openingOf(recordOf(equalWeights(5)))).make(4, 40, [], {
      base: builder.opening.base,
    })
    node.core.metHeader(stranger.header, at(NOW))
    expect(node.core.held.highestHeaders).toBe(4)
    expect(node.core.highestKnownOf(addressOf(1)).header?.round).toBe(CLOSING_ROUNDS)
    const late = builder.make(1, 40, [])
    node.core.metHeader(late.header, at(NOW))
    expect(node.core.highestKnownOf(addressOf(1)).header).toBe(late.header)
  })
})

describe("a checkpoint", () => {
  it("of a commit is signed by members, and by nobody else", () => {
    const [first] = commits
    if (first === undefined) throw new Error("a commit expected")
    for (const seat of [0, null]) {
      const node = new Driven({}, seat)
      node.receive(...upTo(6))
      node.core.executed(first, at(NOW))
      const interval = { ...closing, commitIndex: first.commit.index, commitHash: first.commit.hash, nextEpoch: null }
      const outputs = node.core.built(interval, at(NOW))
      expect(only(outputs, "SignCheckpoint")).toEqual(
        seat === null ? [] : [{ _tag: "SignCheckpoint", checkpoint: interval }],
      )
      expect(node.core.epoch.opening.record.epoch).toBe(1)
    }
    const outsider = new SigningGuard(
      openingOf(recordOf(equalWeights(5))).record.members[4]?.address ?? addressOf(0),
      1,
      record.epoch,
      [],
      WITH_MEMORY,
    )
    const core = new Core(
      { roundIntervalMs: INTERVAL_MS, guard: outsider },
      { current: stored(whole), previous: null, signed: [] },
    )
    expect(only(core.built(closing, at(NOW)), "SignCheckpoint")).toEqual([])
  })

  it("that closes opens the next epoch with signatures of a quorum, and not before", () => {
    const member = new Driven({ current: stored(whole, { commits, checkpoints: [closing] }) }).answered()
    expect(tagsOf(member.sign(closing, [1, 2]))).not.toContain("EpochStarted")
    const outputs = member.core.checkpointSigned(closing, signatureOf(builder.committee, closing, 3), at(NOW))
    expect(only(outputs, "CheckpointFinal")).toEqual([{ _tag: "CheckpointFinal", signed: signed(closing, others) }])
    expect(only(outputs, "EpochStarted")).toEqual([{ _tag: "EpochStarted", opening: next.opening }])
    expect(member.core.committeeOf(record.epoch)?.record).toEqual(record)
    // In the new epoch, everybody is asked again what this key has signed: nothing was since the start.
    expect(member.core.signing).toMatchObject({ _tag: "Asking", lacks: others.map(addressOf) })
  })

  it("signed by a quorum before it is built here opens the next epoch as soon as it is", () => {
    const node = new Driven({}, null)
    node.receive(...whole)
    for (const executed of commits) node.core.executed(executed, at(NOW))
    expect(tagsOf(node.sign(closing, others))).toEqual(["CheckpointFinal"])
    expect(tagsOf(node.core.built(closing, at(NOW)))).toEqual(["EpochStarted"])
  })

  it("of a later epoch makes the node ask for the closes in between, and of a commit it executed otherwise stop", () => {
    const node = new Driven({}, null)
    const later = { ...closing, epoch: Natural.epoch(2) }
    expect(node.sign(later, others)).toEqual([{ _tag: "AskClosing", from: 1 }])
    node.closed()
    const forged = closingOf(over, { seed: seedOf("another") })
    expect(tagsOf(node.sign(forged, others))).toEqual(["CheckpointFinal", "FinalityRollback"])
    expect(node.core.isHalted).toBe(true)
    expect(node.sign(closing, others)).toEqual([])
  })

  it("that contradicts the epoch before stops the node too", () => {
    const node = new Driven({}, null).closed()
    node.sign(closing, others)
    const forged = closingOf(over, { seed: seedOf("another") })
    expect(tagsOf(node.sign(forged, others))).toContain("FinalityRollback")
  })

  it("is signed by those whose signature adds something", () => {
    const node = new Driven({}, null).closed()
    expect(node.core.signerOf(closing, addressOf(1))).toEqual(record.members[1])
    node.sign(closing, [1])
    expect(node.core.signerOf(closing, addressOf(1))).toBeUndefined()
    expect(node.core.signerOf({ ...closing, epoch: Natural.epoch(7) }, addressOf(2))).toBeUndefined()
    expect(node.core.held.candidates).toBe(1)
  })

  it("or a commit of an epoch that this node is not in changes nothing", () => {
    const member = new Driven()
    const elsewhere = { ...closing, epoch: Natural.epoch(7) }
    expect(member.core.built(elsewhere, at(NOW))).toEqual([])
    expect(member.core.following(at(NOW))).toEqual({ _tag: "InStep" })
    const [first] = commits
    if (first === undefined) throw new Error("a commit expected")
    const foreign = { ...first, commit: { ...first.commit, epoch: Natural.epoch(7) } }
    expect(member.core.executed(foreign, at(NOW))).toEqual([])
    const follower = new Driven({}, null)
    const answer = { epoch: record.epoch, header: vertexAt(0, 1).header }
    expect(follower.core.answered(addressOf(1), answer, at(NOW))).toEqual([])
    expect(follower.core.signing).toEqual({ _tag: "NoSeat" })
  })

  it("with signatures of too few is held in the epoch before as well as in this one", () => {
    const node = new Driven({}, null).closed()
    node.sign(closing, others)
    const late = closingOf(over, { seed: seedOf("another") })
    node.sign(late, [1])
    const ahead = { ...closing, epoch: Natural.epoch(2), nextEpoch: null, hash: seedOf("ahead") as Hash.Hash }
    node.sign({ ...ahead, commitIndex: Natural.commitIndex(closing.commitIndex + 5) }, [1])
    expect(node.core.held.candidates).toBe(2)
  })

  it("that closes lets those be forgotten who left before it", () => {
    const without = { members: record.members.slice(0, 3) }
    const opened = new Driven({}, null)
    opened.receive(...whole)
    const shrunk = closingOf(over, without)
    for (const executed of commits) opened.core.executed(executed, at(NOW))
    opened.core.built(shrunk, at(NOW))
    opened.sign(shrunk, others)
    // Of the epoch that has just ended it still answers everybody.
    expect(opened.core.highestKnownOf(addressOf(3)).header?.round).toBe(CLOSING_ROUNDS)
    const second = new VertexBuilder(openingAfter(shrunk, over.position.time))
    const vertices = grown(second, CLOSING_ROUNDS, [0, 1, 2])
    const { epoch, executed } = playedIn(second, vertices)
    opened.receive(...vertices)
    for (const commit of executed) opened.core.executed(commit, at(NOW))
    const third = closingOf(epoch)
    opened.core.built(third, at(NOW))
    const signatures = [0, 1, 2].map((seat) => signatureOf(second.committee, third, seat))
    opened.core.checkpointsSigned({ checkpoint: third, signatures }, at(NOW))
    expect(opened.core.epoch.opening.record.epoch).toBe(3)
    expect(opened.core.highestKnownOf(addressOf(3)).header).toBeNull()
    expect(opened.core.highestKnownOf(addressOf(2)).header).not.toBeNull()
    expect(opened.core.held.commits).toBe(executed.length)
  })
})

describe("an answer about this node's key", () => {
  const foreign = vertexAt(0, 9)

  it("that shows an unknown header makes it fetch the vertex, from whoever answered, and stay silent", () => {
    const member = new Driven()
    const outputs = member.core.answered(addressOf(2), { epoch: record.epoch, header: foreign.header }, at(NOW))
    const { round, author, hash } = foreign.header
    expect(outputs).toEqual([
      { _tag: "ForeignOwnHeader", header: foreign.header },
      { _tag: "Fetch", wanted: [{ parent: { round, author, hash }, namedBy: addressOf(2), attempt: 0 }] },
    ])
    expect(member.core.signing).toEqual({
      _tag: "Silent",
      msLeft: SILENT_INTERVALS * INTERVAL_MS,
      isConnected: false,
      round: 9,
    })
    expect(member.core.answered(addressOf(2), { epoch: record.epoch, header: foreign.header }, at(NOW))).toEqual([])
  })

  it("ends its silence in time, with a quorum connected, and then it signs above what was found", () => {
    const silenceMs = SILENT_INTERVALS * INTERVAL_MS
    const roundsAfter = (connected: ReadonlyArray<number>, comes = true): ReadonlyArray<number> => {
      const member = new Driven().answered()
      member.receive(...upTo(8))
      member.core.answered(addressOf(2), { epoch: record.epoch, header: foreign.header }, at(NOW))
      for (const seat of others) {
        const progress = { epoch: record.epoch, header: vertexAt(seat, 8).header }
        member.core.testified(addressOf(seat), progress, at(NOW))
      }
      member.core.connected(connected.map(addressOf))
      const outputs: Array<Output> = []
      for (let now = NOW; now <= NOW + silenceMs; now += RETRY_MS) outputs.push(...member.tickAt(now))
      outputs.push(
        ...member.receive(...whole.filter(({ header }) => header.round === 9 && header.author !== addressOf(0))),
      )
      if (comes) outputs.push(...member.receive(foreign))
      for (let now = member.now; now <= NOW + silenceMs + 20_000; now += RETRY_MS) outputs.push(...member.tickAt(now))
      return only(outputs, "Propose").map(({ round }) => round)
    }
    expect(roundsAfter([1, 2])).toEqual([10])
    // Although only its header was ever seen here.
    expect(roundsAfter([1, 2], false)).toEqual([10])
    expect(roundsAfter([1])).toEqual([])
  })
})

describe("a node with a key and no seat", () => {
  it("sends heartbeats for commits that are due, and a member or a node without a key sends none", () => {
    const five = openingOf(recordOf(equalWeights(5))).record.members[4]
    if (five === undefined) throw new Error("a stranger expected")
    const guard = new SigningGuard(five.address, INTERVAL_MS, record.epoch, [], WITH_MEMORY)
    const core = new Core(
      { roundIntervalMs: INTERVAL_MS, guard },
      { current: freshEpoch(builder.opening), previous: null, signed: [] },
    )
    expect(core.start(at(NOW))).toEqual([])
    const outputs = upTo(6).flatMap((vertex) => core.receive(vertex, at(NOW)))
    const [first] = commits
    expect(only(outputs, "HeartbeatDue")[0]).toEqual({
      _tag: "HeartbeatDue",
      commitIndex: first?.commit.index,
      commitHash: first?.commit.hash,
    })
    for (const seat of [0, null]) expect(only(new Driven({}, seat).receive(...upTo(6)), "HeartbeatDue")).toEqual([])
    expect(core.signing).toEqual({ _tag: "NoSeat" })
  })
})
