/** One core, one input after the other, with the host actions that each requests. */
import { describe, expect, it } from "vitest"
import { bounds } from "../../src/consensus/admission/WaitingRoom.js"
import { Core } from "../../src/consensus/Core.js"
import type { Output } from "../../src/consensus/output/Output.js"
import { freshEpoch } from "../../src/consensus/output/StoredEpoch.js"
import { SILENT_INTERVALS, SigningGuard } from "../../src/consensus/SigningGuard.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import {
  addressOf,
  at,
  builder,
  CLOSING_ROUNDS,
  closing,
  commits,
  Driven,
  INTERVAL_MS,
  NOW,
  next,
  only,
  others,
  RETRY_MS,
  record,
  stored,
  tagsOf,
  upTo,
  vertexAt,
  whole,
} from "./DrivenCore.js"
import { floating, grown } from "./Grown.js"
import { equalWeights, openingOf, recordOf, WITH_MEMORY } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

const GAP_MS = 10

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

  it("inserts its own vertex when it is on disk", () => {
    const member = new Driven().answered()
    expect(member.own(vertexAt(0, 1))).toEqual([{ _tag: "Inserted", vertex: vertexAt(0, 1) }])
  })

  it("makes its next round an interval after a third made the last one, even if it was late itself", () => {
    const member = new Driven()
    member.receive(...others.map((seat) => vertexAt(seat, 1)))
    member.now = NOW + 150
    member.answered()
    member.now = NOW + 151
    member.own(vertexAt(0, 1))
    expect(member.core.wakeAt(at(NOW + 151))).toBe(NOW + INTERVAL_MS)
  })

  it("makes nothing more in a closed epoch, while it waits for signatures", () => {
    // A quorum has made the last round, and its own vertex of that round is missing. In any other round it would make
    // one.
    const own = vertexAt(3, CLOSING_ROUNDS)
    const vertices = whole.filter((vertex) => vertex !== own)
    const member = new Driven({ current: stored(vertices, { commits, checkpoints: [closing] }) }, 3)
    const outputs = [0, 1, 2].flatMap((seat) =>
      member.core.answered(addressOf(seat), { epoch: record.epoch, header: null }, at(NOW)),
    )
    expect(member.core.signing).toEqual({ _tag: "Signing" })
    expect(only([...outputs, ...member.tickAt(NOW + 60_000)], "Propose")).toEqual([])
  })

  it("never dates a vertex before time 0", () => {
    const member = new Driven()
    member.core.wallIs(-2 * NOW)
    const outputs = others.flatMap((seat) =>
      member.core.answered(addressOf(seat), { epoch: record.epoch, header: null }, at(NOW)),
    )
    expect(only(outputs, "Propose").map(({ timestamp }) => timestamp)).toEqual([0])
  })

  it("proposes a round once, and continues when its vertex is back and a quorum has its round", () => {
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
    // It moves on with a quorum that is further ahead, although its own vertex of round 2 is not on disk yet.
    expect(
      proposedAt(NOW + INTERVAL_MS + 2, ...upTo(4).filter(({ header }) => header.author !== addressOf(0))),
    ).toEqual([])
    member.own(vertexAt(0, 2))
  })

  it("hurries for a waiting client, once its own vertex is back and all commits are executed", () => {
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

  it("makes no further round for clients whose transactions are decided, even before execution", () => {
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

  it("wakes when the next round is due, or a question may be repeated", () => {
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

  it("returns a vertex that came too late for its epoch, and counts its round as signed", () => {
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
    // It still answers for the previous epoch.
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

  it("with this node's key, of the epoch that has just closed, is foreign if this node has not signed it", () => {
    const member = new Driven({ current: stored(whole, { commits, checkpoints: [closing] }) })
    member.sign(closing, others)
    expect(member.core.epoch.opening.record.epoch).toBe(record.epoch + 1)
    expect(tagsOf(member.core.metHeader(vertexAt(0, 1).header, at(NOW)))).not.toContain("ForeignOwnHeader")
    const foreign = builder.make(0, 1, [], { timestamp: at(5) })
    expect(member.core.useOf(foreign.header)).toEqual({ _tag: "HeaderOnly" })
    expect(tagsOf(member.core.metHeader(foreign.header, at(NOW)))).toContain("ForeignOwnHeader")
  })

  it("that breaks a rule is not remembered for its author", () => {
    const node = new Driven({}, null)
    const broken = builder.make(1, 5, [], { coinbase: Sats.make(1) })
    expect(tagsOf(node.receive(broken))).toEqual(["Invalid"])
    expect(node.core.highestKnownOf(addressOf(1)).header).toBeNull()
  })

  it("of a collected round is remembered for its author, who may have lost its disk", () => {
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

  it("that finds no place to wait for its parents is remembered for its author", () => {
    const node = new Driven({}, null)
    const waiting = Array.from({ length: bounds.vertices + 1 }, (_, i) => {
      const parents = [0, 1, 2].map((seat) => parentOf(builder.make(seat, 4 + i, [])))
      return builder.make(1, 5 + i, parents)
    })
    node.receive(...waiting)
    const dropped = waiting.at(-1)
    expect(node.core.held.waiting).toBe(bounds.vertices)
    expect(node.core.highestKnownOf(addressOf(1)).header).toBe(dropped?.header)
  })

  it("of a round not collected, on another base or by a stranger is not remembered unless it is here", () => {
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

describe("an answer about this node's key", () => {
  const foreign = vertexAt(0, 9)

  it("that shows an unknown header makes it fetch the vertex, from the member that answered, and stay silent", () => {
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

  it("ends its silence in time, with a quorum connected, and then signs above the found round", () => {
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
    // Only its header was ever seen here.
    expect(roundsAfter([1, 2], false)).toEqual([10])
    expect(roundsAfter([1])).toEqual([])
  })
})

describe("a node with a key and no seat", () => {
  it("sends heartbeats for due commits, unlike a member or a node without a key", () => {
    const five = openingOf(recordOf(equalWeights(5))).record.members[4]
    if (five === undefined) throw new Error("a stranger expected")
    const guard = new SigningGuard(five.address, INTERVAL_MS, record.epoch, [], WITH_MEMORY)
    const core = new Core(
      { roundIntervalMs: INTERVAL_MS, guard },
      { current: freshEpoch(builder.opening), previous: null, signed: [], companions: [] },
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
