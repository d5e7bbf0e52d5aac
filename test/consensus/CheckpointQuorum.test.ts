import { describe, expect, it } from "vitest"
import { CheckpointQuorum } from "../../src/consensus/CheckpointQuorum.js"
import type { ExecutedCommit } from "../../src/consensus/commit/Rollback.js"
import * as Rollback from "../../src/consensus/commit/Rollback.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Commit from "../../src/protocol/vertex/Commit.js"
import * as FakeKeys from "./FakeKeys.js"
import { committeeOf, equalWeights, keysOf, recordOf, seedOf } from "./TestCommittee.js"

const committee = committeeOf(equalWeights(4))

const commitAt = (index: number): ExecutedCommit => ({
  commit: Commit.make({
    index: Natural.commitIndex(index),
    epoch: Natural.epoch(1),
    leaderRound: Natural.round(index),
    leaderHash: seedOf(`leader ${index}`),
    previous: Hash.ZERO,
  }),
  effectsDigest: seedOf(`effects ${index}`),
})

const checkpointAt = (index: number, given: Partial<Checkpoint.Content> = {}): Checkpoint.Checkpoint => {
  const { commit, effectsDigest } = commitAt(index)
  return Checkpoint.make({
    epoch: commit.epoch,
    round: commit.leaderRound,
    commitIndex: commit.index,
    commitHash: commit.hash,
    effectsDigest,
    stateRoot: seedOf("state"),
    totalSupply: Sats.make(1_000),
    nextEpoch: null,
    previous: Hash.ZERO,
    ...given,
  })
}

const signed = (checkpoint: Checkpoint.Checkpoint, seat: number): Checkpoint.CheckpointSignature => {
  const { address, publicKey } = committee.member(seat)
  return { validator: address, signature: FakeKeys.signWith(publicKey)(Checkpoint.signedBytes(checkpoint)) }
}

const addAll = (quorum: CheckpointQuorum, checkpoint: Checkpoint.Checkpoint, seats: ReadonlyArray<number>) =>
  seats.map((seat) => quorum.add(checkpoint, signed(checkpoint, seat)))

describe("a checkpoint", () => {
  it("is final once with signatures of more than two thirds", () => {
    const quorum = new CheckpointQuorum(committee)
    const checkpoint = checkpointAt(5)
    const findings = addAll(quorum, checkpoint, [3, 0, 1, 2])
    const signatures = [0, 1, 3].map((seat) => signed(checkpoint, seat))
    expect(findings.map(({ final }) => final)).toEqual([null, null, { checkpoint, signatures }, null])
    expect(quorum.latest).toEqual({ checkpoint, signatures })
    expect(quorum.closing).toBeNull()
  })

  it("is not final by one validator's repeated signatures, nor by strangers'", () => {
    const quorum = new CheckpointQuorum(committee)
    const checkpoint = checkpointAt(5)
    const stranger = {
      validator: keysOf(9)[8]?.address ?? committee.member(0).address,
      signature: signed(checkpoint, 0).signature,
    }
    addAll(quorum, checkpoint, [0, 0, 0, 1])
    expect(quorum.add(checkpoint, stranger).final).toBeNull()
    expect(quorum.latest).toBeNull()
  })

  it("is not final by signatures under different contents", () => {
    const quorum = new CheckpointQuorum(committee)
    addAll(quorum, checkpointAt(5), [0, 1])
    addAll(quorum, checkpointAt(5, { stateRoot: Hash.ZERO }), [2, 3])
    expect(quorum.latest).toBeNull()
  })

  it("of another epoch is ignored", () => {
    const quorum = new CheckpointQuorum(committee)
    addAll(quorum, checkpointAt(5, { epoch: Natural.epoch(2) }), [0, 1, 2])
    expect(quorum.latest).toBeNull()
  })

  it("below the latest final one is ignored", () => {
    const quorum = new CheckpointQuorum(committee)
    addAll(quorum, checkpointAt(9), [0, 1, 2])
    expect(addAll(quorum, checkpointAt(5), [0, 1, 2]).every(({ final }) => final === null)).toBe(true)
  })

  it("that closes the epoch is recognised once a quorum has signed it", () => {
    const closing = checkpointAt(5, { nextEpoch: recordOf(equalWeights(4), { epoch: Natural.epoch(2) }) })
    const quorum = new CheckpointQuorum(committee)
    expect(quorum.closing).toBeNull()
    addAll(quorum, closing, [0, 1])
    expect(quorum.closing).toBeNull()
    addAll(quorum, closing, [2])
    expect(quorum.closing?.checkpoint).toEqual(closing)
  })

  it("needs each member's signature once, and none once it is final", () => {
    const quorum = new CheckpointQuorum(committee)
    const checkpoint = checkpointAt(5)
    const isNews = (seat: number) => quorum.isNews(checkpoint, committee.member(seat).address)
    expect(quorum.isNews(checkpoint, keysOf(9)[8]?.address ?? committee.member(0).address)).toBe(false)
    addAll(quorum, checkpoint, [0])
    expect([0, 1, 2, 3].map(isNews)).toEqual([false, true, true, true])
    addAll(quorum, checkpoint, [1, 2, 3])
    expect([0, 1, 2, 3].map(isNews)).toEqual([false, false, false, false])
    expect(quorum.pending).toBe(0)
  })

  it("returns each signature under it, with a quorum or without, and none under other contents", () => {
    const quorum = new CheckpointQuorum(committee)
    const checkpoint = checkpointAt(5)
    const signedBy = (content: Checkpoint.Checkpoint) =>
      [0, 1, 2, 3].map((seat) => quorum.signatureOf(content, committee.member(seat).address))
    const expected = (...seats: ReadonlyArray<number>) =>
      [0, 1, 2, 3].map((seat) => (seats.includes(seat) ? signed(checkpoint, seat).signature : undefined))
    expect(signedBy(checkpoint)).toEqual(expected())
    addAll(quorum, checkpoint, [1, 2])
    expect(signedBy(checkpoint)).toEqual(expected(1, 2))
    addAll(quorum, checkpoint, [3])
    expect(signedBy(checkpoint)).toEqual(expected(1, 2, 3))
    expect(signedBy(checkpointAt(5, { stateRoot: Hash.ZERO }))).toEqual(expected())
    expect(signedBy(checkpointAt(6))).toEqual(expected())
  })

  it("leaves only higher ones to be gathered", () => {
    const quorum = new CheckpointQuorum(committee)
    addAll(quorum, checkpointAt(4), [0, 1])
    addAll(quorum, checkpointAt(5, { stateRoot: Hash.ZERO }), [0, 1])
    addAll(quorum, checkpointAt(6), [0, 1])
    addAll(quorum, checkpointAt(5), [0, 1, 2])
    expect(quorum.pending).toBe(1)
    expect(addAll(quorum, checkpointAt(6), [2])[0]?.final?.checkpoint).toEqual(checkpointAt(6))
    expect(quorum.pending).toBe(0)
  })

  it("with a second signer outlives a flood from one of the two", () => {
    const quorum = new CheckpointQuorum(committee)
    addAll(quorum, checkpointAt(5), [0, 3])
    for (let i = 0; i < 20; i++) addAll(quorum, checkpointAt(9, { stateRoot: seedOf(`forged ${i}`) }), [3])
    expect(quorum.pending).toBe(9)
    expect(
      addAll(quorum, checkpointAt(5), [1, 2])
        .at(-1)
        ?.final?.signatures.map(({ validator }) => validator),
    ).toEqual([0, 1, 2].map((seat) => committee.member(seat).address))
  })

  it("takes one of its own signer's eight places", () => {
    const quorum = new CheckpointQuorum(committee)
    const forge = (i: number, seat: number) =>
      addAll(quorum, checkpointAt(9, { stateRoot: seedOf(`forged ${i}`) }), [seat])
    for (let i = 0; i < 4; i++) forge(i, 3)
    forge(4, 0)
    for (let i = 5; i < 9; i++) forge(i, 3)
    expect(quorum.pending).toBe(9)
    forge(9, 3)
    expect(quorum.pending).toBe(9)
  })

  it("takes bounded memory, regardless of what a validator signs", () => {
    const quorum = new CheckpointQuorum(committee)
    for (let i = 0; i < 500; i++) addAll(quorum, checkpointAt(9, { stateRoot: seedOf(`forged ${i}`) }), [3])
    expect(quorum.pending).toBeLessThanOrEqual(8)
    // One validator's flood does not stop the others' signatures from completing a checkpoint.
    expect(addAll(quorum, checkpointAt(9), [0, 1, 2]).at(-1)?.final).not.toBeNull()
  })
})

describe("a signed checkpoint", () => {
  const another = (index: number) => checkpointAt(index, { stateRoot: seedOf("another state") })
  /** After a commit's signed checkpoint is kept, another checkpoint for it still counts as contradicting. */
  const isKept = (quorum: CheckpointQuorum, index: number): boolean =>
    quorum.isNews(another(index), committee.member(0).address)
  const finalAt = (...indices: ReadonlyArray<number>): CheckpointQuorum => {
    const quorum = new CheckpointQuorum(committee)
    for (const index of indices) addAll(quorum, checkpointAt(index), [0, 1, 2])
    return quorum
  }

  it("is kept until its commit is executed and its own checkpoint is built, and then while it is the latest", () => {
    const quorum = finalAt(5, 6)
    for (const index of [5, 6]) {
      quorum.record(commitAt(index))
      addAll(quorum, checkpointAt(index + 2), [0, 1, 2])
      expect([index, isKept(quorum, index)]).toEqual([index, true])
      quorum.build(checkpointAt(index))
      expect([index, isKept(quorum, index)]).toEqual([index, true])
    }
    expect(quorum.commits).toBe(2)
    addAll(quorum, checkpointAt(9), [0, 1, 2])
    expect([5, 6, 7, 8, 9].map((index) => isKept(quorum, index))).toEqual([false, false, true, true, true])
    for (const index of [7, 8, 9]) quorum.build(checkpointAt(index))
    quorum.record(commitAt(9))
    expect(isKept(quorum, 9)).toBe(true)
  })

  it("is kept with at most seven others, and the oldest goes first", () => {
    const indices = [1, 2, 3, 4, 5, 6, 7, 8]
    const quorum = finalAt(...indices)
    expect(indices.map((index) => isKept(quorum, index))).toEqual(indices.map(() => true))
    addAll(quorum, checkpointAt(9), [0, 1, 2])
    expect(indices.map((index) => isKept(quorum, index))).toEqual(indices.map((index) => index > 1))
  })

  it("is kept for comparison with later executions", () => {
    const quorum = finalAt(5, 6, 7)
    const executed = { ...commitAt(6), effectsDigest: Hash.ZERO }
    expect(quorum.record(commitAt(5)).rollback).toBeNull()
    expect(quorum.record(executed).rollback).toEqual({
      _tag: "CheckpointOfOtherCommit",
      checkpoint: checkpointAt(6),
      recorded: executed,
    })
  })
})

it("is built here once per commit, and a second one is a bug", () => {
  const quorum = new CheckpointQuorum(committee)
  quorum.build(checkpointAt(5))
  quorum.build(checkpointAt(5))
  expect(() => quorum.build(checkpointAt(5, { stateRoot: seedOf("another state") }))).toThrow(
    /has two checkpoints here/,
  )
})

describe("a rollback of finality", () => {
  const other = (index: number) => checkpointAt(index, { commitHash: seedOf("other") })

  it("is detected when a quorum signed another commit of an executed index", () => {
    const quorum = new CheckpointQuorum(committee)
    expect(quorum.record(commitAt(5)).rollback).toBeNull()
    expect(addAll(quorum, other(5), [0, 1, 2]).map(({ rollback }) => rollback)).toEqual([
      null,
      null,
      { _tag: "CheckpointOfOtherCommit", checkpoint: other(5), recorded: commitAt(5) },
    ])
  })

  it("is detected also when the own commit is the later of the two", () => {
    const quorum = new CheckpointQuorum(committee)
    expect(addAll(quorum, other(5), [0, 1, 2]).every(({ rollback }) => rollback === null)).toBe(true)
    expect(quorum.record(commitAt(4)).rollback).toBeNull()
    expect(quorum.record(commitAt(5)).rollback?._tag).toBe("CheckpointOfOtherCommit")
  })

  it("is detected when the commit is the same and its effects are not", () => {
    const quorum = new CheckpointQuorum(committee)
    quorum.record(commitAt(5))
    const differing = checkpointAt(5, { effectsDigest: Hash.ZERO })
    expect(addAll(quorum, differing, [0, 1, 2]).at(-1)?.rollback?._tag).toBe("CheckpointOfOtherCommit")
  })

  it("is detected when the own checkpoint has other contents, whichever comes later", () => {
    const differing = checkpointAt(5, { stateRoot: Hash.ZERO })
    const expected = { _tag: "CheckpointOfOtherContent", checkpoint: differing, own: checkpointAt(5) }
    const before = new CheckpointQuorum(committee)
    before.record(commitAt(5))
    before.build(checkpointAt(5))
    expect(addAll(before, differing, [0, 1, 2]).at(-1)?.rollback).toEqual(expected)
    const after = new CheckpointQuorum(committee)
    after.record(commitAt(5))
    addAll(after, differing, [0, 1, 2])
    expect(after.build(checkpointAt(5)).rollback).toEqual(expected)
  })

  it("is detected when a quorum has signed one content of a commit, and a quorum signs another", () => {
    const quorum = new CheckpointQuorum(committee)
    quorum.record(commitAt(5))
    quorum.build(checkpointAt(5))
    addAll(quorum, checkpointAt(5), [0, 1, 2])
    const differing = checkpointAt(5, { stateRoot: Hash.ZERO })
    const findings = addAll(quorum, differing, [1, 2, 3])
    expect(findings.map(({ final }) => final)).toEqual([null, null, null])
    expect(findings.at(-1)?.rollback).toEqual({
      _tag: "CheckpointOfOtherContent",
      checkpoint: differing,
      own: checkpointAt(5),
    })
    expect(quorum.latest?.checkpoint).toEqual(checkpointAt(5))
  })

  it("is detected when a quorum signs a commit of the epoch after the one that has closed it here", () => {
    const nextEpoch = recordOf(equalWeights(4), { epoch: Natural.epoch(2) })
    const closing = checkpointAt(5, { nextEpoch })
    const quorum = new CheckpointQuorum(committee)
    quorum.record(commitAt(5))
    quorum.build(closing)
    addAll(quorum, closing, [0, 1, 2])
    expect(addAll(quorum, checkpointAt(6, { nextEpoch }), [1, 2, 3]).at(-1)?.rollback).toEqual({
      _tag: "CheckpointOfOtherContent",
      checkpoint: checkpointAt(6, { nextEpoch }),
      own: closing,
    })
  })

  it("is not reported when a quorum signs a commit above or below this node's last checkpoint", () => {
    const nextEpoch = recordOf(equalWeights(4), { epoch: Natural.epoch(2) })
    for (const own of [checkpointAt(5), checkpointAt(5, { nextEpoch })]) {
      const quorum = new CheckpointQuorum(committee)
      quorum.build(own)
      expect(addAll(quorum, checkpointAt(3), [0, 1, 2]).at(-1)).toMatchObject({ rollback: null })
    }
    const quorum = new CheckpointQuorum(committee)
    quorum.build(checkpointAt(5))
    expect(addAll(quorum, checkpointAt(6), [0, 1, 2]).at(-1)).toMatchObject({ rollback: null })
  })

  it("is not reported for less than a quorum, or for agreeing signatures", () => {
    const quorum = new CheckpointQuorum(committee)
    quorum.record(commitAt(5))
    quorum.build(checkpointAt(5))
    expect(addAll(quorum, other(5), [0, 1]).every(({ rollback }) => rollback === null)).toBe(true)
    expect(addAll(quorum, checkpointAt(5), [0, 1, 2]).every(({ rollback }) => rollback === null)).toBe(true)
  })
})

describe("a commit that is decided again", () => {
  const { commit } = commitAt(5)

  it("equals the recorded one if all of it is the same", () => {
    expect(Rollback.judgeRepeatedDecision(commit, { ...commit })).toBeNull()
  })

  it("differs if any part differs, even under the same hash", () => {
    const parts: ReadonlyArray<Partial<Commit.Commit>> = [
      { hash: Hash.ZERO },
      { index: Natural.commitIndex(6) },
      { epoch: Natural.epoch(2) },
      { leaderRound: Natural.round(6) },
      { leaderHash: Hash.ZERO },
      { previous: seedOf("another") },
    ]
    for (const part of parts) {
      const decided = { ...commit, ...part }
      expect(Rollback.judgeRepeatedDecision(commit, decided)).toEqual({
        _tag: "CommitDecidedAnew",
        recorded: commit,
        decided,
      })
    }
  })
})

describe("the successor of a commit", () => {
  const last = { ...commitAt(4).commit, time: Natural.timestamp(0) }
  const next = Commit.make({ ...commitAt(5).commit, previous: last.hash })

  it("follows by index, rising leader round and hash", () => {
    expect(Rollback.judgeCommit(last, next)).toBeNull()
    expect(Rollback.judgeCommit(last, { ...next, index: Natural.commitIndex(6) })).toEqual({
      _tag: "CommitIndexNotNext",
      last: 4,
      found: 6,
    })
    expect(Rollback.judgeCommit(last, { ...next, leaderRound: Natural.round(4) })).toEqual({
      _tag: "LeaderRoundNotRising",
      last: 4,
      found: 4,
    })
    expect(Rollback.judgeCommit(last, { ...next, previous: Hash.ZERO })).toEqual({
      _tag: "CommitNotChained",
      last: last.hash,
      found: Hash.ZERO,
    })
  })
})
