/** A core that begins from stored data. */
import { describe, expect, it } from "vitest"
import { Core } from "../../src/consensus/Core.js"
import type { Output } from "../../src/consensus/output/Output.js"
import { freshEpoch } from "../../src/consensus/output/StoredEpoch.js"
import { SigningGuard } from "../../src/consensus/SigningGuard.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { endedEpoch } from "../support/EndedEpoch.js"
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
  over,
  playedIn,
  RETRY_MS,
  record,
  signed,
  stored,
  tagsOf,
  upTo,
  vertexAt,
  whole,
} from "./DrivenCore.js"
import { closingOf, grown, twoCertified } from "./Grown.js"
import { openingOf, recordOf, seedOf, WITH_MEMORY } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

describe("a restarted node", () => {
  it("first resends exactly the vertex it signed last, and inserts nothing twice", () => {
    const { executed } = playedIn(builder, upTo(6))
    const member = new Driven({ current: stored(upTo(6), { commits: executed }) })
    const [first] = member.atStart
    expect(first).toEqual({ _tag: "Resend", vertices: [vertexAt(0, 6)], closing: null })
    expect(only(member.atStart, "Inserted")).toEqual([])
    expect(only(member.atStart, "Committed")).toEqual([])
    expect(new Driven({ current: stored(upTo(6), { commits: executed }) }, null).atStart).toEqual([])
  })

  it("counts no waiting time from before its start: it resends and asks for all rounds at once", () => {
    const member = new Driven({ current: stored(upTo(3)) })
    const tags = tagsOf(member.atStart)
    expect(tags.filter((tag) => tag === "Resend")).toHaveLength(2)
    expect(tags).toContain("CatchUp")
    expect(tagsOf(new Driven().atStart)).toEqual(["AskOwnHighest"])
  })

  it("continues as if its last vertex had been made long ago", () => {
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

  it("stops when a quorum contradicts its records", () => {
    const forged = closingOf(over, { seed: seedOf("another") })
    const current = stored(whole, { commits, checkpoints: [closing], signed: [signed(forged, others)] })
    const node = new Driven({ current })
    expect(tagsOf(node.atStart)).toContain("FinalityRollback")
    expect(node.core.isHalted).toBe(true)
    expect(node.receive(next.make(1, next.opening.record.firstRound, []))).toEqual([])
  })

  it("stops when its vertices decide another commit than it recorded, and reports only that", () => {
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
    const { leader, other, votes, certificates } = twoCertified(builder, first)
    const member = new Driven({}, leader)
    for (const { address } of record.members) {
      member.core.answered(address, { epoch: record.epoch, header: null }, at(NOW))
    }
    member.own(first[leader] ?? other)
    const outputs = member.receive(...first, ...votes, other)
    const last = member.receive(...certificates)
    expect(only([...outputs, ...last], "FinalityRollback")).toHaveLength(1)
    expect(last.at(-1)?._tag).toBe("FinalityRollback")
    expect(member.tickAt(NOW + 20_000)).toEqual([])
  })

  it("asks for all rounds at once also where only the epoch's first one has a quorum", () => {
    expect(tagsOf(new Driven({ current: stored(upTo(1)) }).atStart)).toContain("CatchUp")
  })

  it("stops when its vertices do not decide a recorded commit, and reports only that", () => {
    const node = new Driven({ current: stored(upTo(2), { commits: commits.slice(0, 1) }) }, null)
    expect(node.atStart).toEqual([
      { _tag: "FinalityRollback", rollback: { _tag: "CommitNotDecided", recorded: commits[0]?.commit } },
    ])
    expect(node.tickAt(NOW + 100_000)).toEqual([])
  })

  it("remembers the previous epoch: its checkpoints, its own vertices, and everybody's highest header", () => {
    const ended = endedEpoch(stored(whole, { commits, checkpoints: [closing], signed: [signed(closing, others)] }))
    const own = ended.vertices.filter(({ header }) => header.author === addressOf(0))
    const member = new Driven({ current: freshEpoch(next.opening), previous: { ...ended, vertices: own } })
    expect(member.core.committeeOf(record.epoch)?.record).toEqual(record)
    expect(member.core.committeeOf(Natural.epoch(0))).toBeUndefined()
    expect(member.core.committeeOf(Natural.epoch(3))).toBeUndefined()
    expect(member.core.highestKnownOf(addressOf(2))).toEqual({ epoch: 2, header: vertexAt(2, CLOSING_ROUNDS).header })
    // It resends the end of that epoch until it hears the next one.
    const [resent] = only(member.atStart, "Resend")
    expect(resent?.vertices.map(({ header }) => header.round)).toEqual([30, 31, 32])
    expect(only(member.atStart, "ForeignOwnHeader")).toEqual([])
    expect(member.core.held).toMatchObject({ candidates: 0, commits: commits.length, highestHeaders: 4 })
  })

  it("finds its own key's headers of this and the previous epoch that its signed vertices lack", () => {
    const ended = endedEpoch(stored(whole, { commits, checkpoints: [closing], signed: [signed(closing, others)] }))
    const before = new Driven({ current: freshEpoch(next.opening), previous: { ...ended, vertices: [] } })
    expect(only(before.atStart, "ForeignOwnHeader").map(({ header }) => header.round)).toEqual([CLOSING_ROUNDS])
    // Vertices in the ledger's file but not among the signed ones were signed by an earlier user of the same disk.
    const guard = new SigningGuard(addressOf(0), INTERVAL_MS, record.epoch, [], WITH_MEMORY)
    const core = new Core(
      { roundIntervalMs: INTERVAL_MS, guard },
      { current: stored(upTo(2)), previous: null, signed: [], companions: [] },
    )
    expect(only(core.start(at(NOW)), "ForeignOwnHeader").map(({ header }) => header.round)).toEqual([1, 2])
    expect(core.signing._tag).toBe("Silent")
  })

  it("is alone in its committee with all of its vertices, so none of them is foreign", () => {
    const single = new VertexBuilder(openingOf(recordOf([1])))
    const guard = new SigningGuard(single.committee.member(0).address, INTERVAL_MS, record.epoch, [], WITH_MEMORY)
    const current = { ...freshEpoch(single.opening), vertices: grown(single, 2, [0]) }
    const core = new Core(
      { roundIntervalMs: INTERVAL_MS, guard },
      { current, previous: null, signed: [], companions: [] },
    )
    expect(only(core.start(at(NOW)), "ForeignOwnHeader")).toEqual([])
  })
})

describe("companions of signed vertices", () => {
  const roundsOf = (outputs: ReadonlyArray<Output>) =>
    only(outputs, "Inserted").map(({ vertex }) => vertex.header.round)

  it("enter the DAG again where the ledger's file lacks them, and are written to it", () => {
    const member = new Driven({ current: stored(upTo(2)), signed: [vertexAt(0, 4)], companions: upTo(4).slice(4) })
    expect(roundsOf(member.atStart)).toEqual([3, 3, 3, 3, 4, 4, 4, 4])
    expect(member.core.held.recovered).toBe(0)
  })

  it("lead to the commits that the ledger's file lacks as well", () => {
    const { executed } = playedIn(builder, upTo(12))
    const member = new Driven({ current: stored(upTo(2)), companions: upTo(12) })
    expect(only(member.atStart, "Committed").map(({ commit }) => commit)).toEqual(executed.map(({ commit }) => commit))
  })

  it("are left out without their parents, from another epoch, and on another history", () => {
    const current = stored(upTo(2))
    expect(roundsOf(new Driven({ current, companions: upTo(4).slice(-4) }).atStart)).toEqual([])
    expect(roundsOf(new Driven({ companions: [next.make(0, next.opening.record.firstRound, [])] }).atStart)).toEqual([])
    const elsewhere = new VertexBuilder({ ...builder.opening, base: seedOf("another history") })
    expect(roundsOf(new Driven({ companions: [elsewhere.make(0, 1, [])] }).atStart)).toEqual([])
    expect(roundsOf(new Driven({ companions: [builder.make(0, 1, [])] }).atStart)).toEqual([1])
  })

  it("change nothing once the epoch is closed", () => {
    const closed = stored(whole, { commits, checkpoints: [closing] })
    expect(roundsOf(new Driven({ current: closed, companions: [builder.make(0, 31, [])] }).atStart)).toEqual([])
  })
})

describe("signed vertices that are not in the DAG", () => {
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

  it("stay unreported before the committee answers, and for good if another process has signed", () => {
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

  it("of an epoch that has not opened wait for it, in order, and older ones are dropped", () => {
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
