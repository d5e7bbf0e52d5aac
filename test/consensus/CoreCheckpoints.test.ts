/** How a core handles checkpoints and their signatures. */
import { describe, expect, it } from "vitest"
import { Core } from "../../src/consensus/Core.js"
import { openingOf as openingAfter } from "../../src/consensus/output/Opening.js"
import { SigningGuard } from "../../src/consensus/SigningGuard.js"
import type * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
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
  record,
  signed,
  stored,
  tagsOf,
  upTo,
  vertexAt,
  whole,
} from "./DrivenCore.js"
import { closingOf, grown, signatureOf } from "./Grown.js"
import { equalWeights, openingOf, recordOf, seedOf, WITH_MEMORY } from "./TestCommittee.js"
import { VertexBuilder } from "./VertexBuilder.js"

describe("a checkpoint", () => {
  it("of a commit is signed by members only", () => {
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
      { current: stored(whole), previous: null, signed: [], companions: [] },
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
    // In the new epoch it asks all others again what this key has signed, because it has heard nothing since its start.
    expect(member.core.signing).toMatchObject({ _tag: "Asking", lacks: others.map(addressOf) })
  })

  it("signed by a quorum before it is built here opens the next epoch as soon as it is built", () => {
    const node = new Driven({}, null)
    node.receive(...whole)
    for (const executed of commits) node.core.executed(executed, at(NOW))
    expect(tagsOf(node.sign(closing, others))).toEqual(["CheckpointFinal"])
    expect(tagsOf(node.core.built(closing, at(NOW)))).toEqual(["EpochStarted"])
  })

  it("of a later epoch makes the node ask for the closes in between, and stop at a contradicting commit", () => {
    const node = new Driven({}, null)
    const later = { ...closing, epoch: Natural.epoch(2) }
    expect(node.sign(later, others)).toEqual([{ _tag: "AskClosing", from: 1 }])
    node.closed()
    const forged = closingOf(over, { seed: seedOf("another") })
    expect(tagsOf(node.sign(forged, others))).toEqual(["CheckpointFinal", "FinalityRollback"])
    expect(node.core.isHalted).toBe(true)
    expect(node.sign(closing, others)).toEqual([])
  })

  it("that contradicts the previous epoch also stops the node", () => {
    const node = new Driven({}, null).closed()
    node.sign(closing, others)
    const forged = closingOf(over, { seed: seedOf("another") })
    expect(tagsOf(node.sign(forged, others))).toContain("FinalityRollback")
  })

  it("is signed by members whose signature is needed", () => {
    const node = new Driven({}, null).closed()
    expect(node.core.signerOf(closing, addressOf(1))).toEqual(record.members[1])
    node.sign(closing, [1])
    expect(node.core.signerOf(closing, addressOf(1))).toBeUndefined()
    expect(node.core.signerOf({ ...closing, epoch: Natural.epoch(7) }, addressOf(2))).toBeUndefined()
    expect(node.core.held.candidates).toBe(1)
  })

  it("changes nothing if it, or a commit, is of an epoch that this node is not in", () => {
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

  it("with too few signatures is kept in the previous epoch as well as in this one", () => {
    const node = new Driven({}, null).closed()
    node.sign(closing, others)
    const late = closingOf(over, { seed: seedOf("another") })
    node.sign(late, [1])
    const ahead = { ...closing, epoch: Natural.epoch(2), nextEpoch: null, hash: seedOf("ahead") as Hash.Hash }
    node.sign({ ...ahead, commitIndex: Natural.commitIndex(closing.commitIndex + 5) }, [1])
    expect(node.core.held.candidates).toBe(2)
  })

  it("that closes an epoch lets members that left before it be forgotten", () => {
    const without = { members: record.members.slice(0, 3) }
    const opened = new Driven({}, null)
    opened.receive(...whole)
    const shrunk = closingOf(over, without)
    for (const executed of commits) opened.core.executed(executed, at(NOW))
    opened.core.built(shrunk, at(NOW))
    opened.sign(shrunk, others)
    // It still answers for the epoch that has just ended.
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
