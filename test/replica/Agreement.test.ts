/** A state whose parts are each sound, with one part from another time or another life. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import type { Position } from "../../src/consensus/commit/Linearizer.js"
import type { StoredEpoch } from "../../src/consensus/output/StoredEpoch.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type * as Commit from "../../src/protocol/vertex/Commit.js"
import type * as Header from "../../src/protocol/vertex/Header.js"
import { disagreementIn } from "../../src/replica/disk/Agreement.js"
import type { StoredState } from "../../src/replica/disk/StoredState.js"
import { fromRecords } from "../support/Restored.js"
import { Cluster } from "./Cluster.js"

const cluster = new Cluster({
  validators: Object.fromEntries(["ann", "ben", "cleo", "dan"].map((name) => [name, 10_000])),
  epochRounds: 40,
})
cluster.start()
cluster.runRounds(100)
const { disk } = cluster.machine("ann")
const { genesis, current, previous, closings } = disk
if (previous === null) throw new Error("two epochs expected")
const ledger = Either.getOrThrowWith(
  fromRecords(genesis.protocol, { low: 1, high: 2 }, disk.records, disk.effectsDigest),
  (failure) => failure,
)

const sound: StoredState = {
  genesis,
  current,
  previous,
  ownVertices: [],
  intent: null,
  companions: [],
  foreignHeaders: [],
  pending: [],
  closings,
  join: null,
}

const { opening, commits, vertices } = current
const last = commits.at(-1)
if (last === undefined) throw new Error("a commit expected")
/** The last commit, to which the state does not belong. */
const otherLast = (change: Partial<Commit.Commit>) =>
  changed({ commits: [...commits.slice(0, -1), { ...last, commit: { ...last.commit, ...change } }] })
/** Follows another place than the one where the previous epoch was closed. */
const otherPlace = (change: Partial<Position>) =>
  changed({ opening: { ...opening, position: { ...opening.position, ...change } } })
const epoch = opening.record.epoch
const otherHash = Hash.of("udg/commit", Uint8Array.of(1))
const otherRecord = { ...opening.record, seed: otherHash }
const changed = (change: Partial<StoredEpoch>): StoredState => ({ ...sound, current: { ...current, ...change } })
const [first] = previous.commits
if (first === undefined) throw new Error("a commit expected")
const checkpoint = (content: Partial<Checkpoint.Content>) => {
  const [some] = previous.checkpoints
  if (some === undefined) throw new Error("a checkpoint expected")
  return Checkpoint.make({ ...some, ...content })
}
const otherCheckpoint = (content: Partial<Checkpoint.Content>): StoredState => ({
  ...sound,
  previous: { ...previous, checkpoints: [checkpoint(content)] },
})
const foreignVertex = (change: Partial<Header.Header>) => {
  const [vertex] = vertices
  if (vertex === undefined) throw new Error("a vertex expected")
  return changed({ vertices: [...vertices, { ...vertex, header: { ...vertex.header, ...change } }] })
}
const closing = closings.find((signed) => signed.checkpoint.epoch === epoch - 1)
if (closing === undefined) throw new Error("a closed epoch expected")
/** The previous epoch was closed by this checkpoint, which names no or another epoch as the next one. */
const otherClose = (nextEpoch: Checkpoint.Content["nextEpoch"]): StoredState => {
  const forged = Checkpoint.make({ ...closing.checkpoint, nextEpoch })
  return {
    ...changed({ opening: { ...opening, base: forged.hash } }),
    closings: [{ ...closing, checkpoint: forged }],
  }
}

describe("a stored state", () => {
  it("agrees with itself as it was written", () => {
    expect(disagreementIn(sound, ledger)).toBeNull()
  })

  it.each<readonly [string, StoredState, RegExp]>([
    [
      "lacks its last commits",
      changed({ commits: commits.slice(0, -1) }),
      /the state is that of commit \d+, round \d+, the last/,
    ],
    ...[
      { index: Natural.commitIndex(last.commit.index + 1) },
      { hash: otherHash },
      { leaderRound: Natural.round(last.commit.leaderRound + 1) },
    ].map(
      (change) =>
        [
          `has another ${Object.keys(change)} of its last commit`,
          otherLast(change),
          /the state is that of commit \d+, round \d+, the last commit is \d+, round \d+/,
        ] as const,
    ),
    ...[
      { index: Natural.commitIndex(opening.position.index + 1) },
      { hash: otherHash },
      { leaderRound: Natural.round(opening.position.leaderRound + 1) },
    ].map(
      (change) =>
        [`follows on another ${Object.keys(change)}`, otherPlace(change), /starts from .* closed with/] as const,
    ),
    [
      "follows on a checkpoint that closes no epoch",
      otherClose(null),
      new RegExp(`^epoch ${epoch} starts from [0-9a-f]{64}, but epoch ${epoch - 1} closed with [0-9a-f]{64}$`),
    ],
    ["follows on the close before another epoch", otherClose(otherRecord), /starts from .* closed with/],
    [
      "has the committee of another epoch",
      changed({ opening: { ...opening, record: otherRecord } }),
      /starts from [0-9a-f]{64}, but epoch \d+ closed with/,
    ],
    [
      "lacks the close of the epoch before",
      { ...sound, closings: [] },
      new RegExp(`^the signed closing checkpoint of epoch ${epoch - 1} is missing$`),
    ],
    ["follows on another close", changed({ opening: { ...opening, base: otherHash } }), /starts from .* closed with/],
    [
      "keeps an epoch that is not the one before",
      {
        ...sound,
        previous: {
          ...previous,
          opening: { ...previous.opening, record: { ...previous.opening.record, epoch: Natural.epoch(epoch) } },
        },
      },
      /epoch \d+ is stored as the one before epoch \d+/,
    ],
    [
      "lacks a commit in the epoch before",
      { ...sound, previous: { ...previous, commits: previous.commits.filter((_, i) => i !== 1) } },
      /commit \d+ does not follow commit \d+/,
    ],
    [
      "has a commit of another hash in the epoch before",
      {
        ...sound,
        previous: { ...previous, commits: [{ ...first, commit: { ...first.commit, hash: otherHash } }] },
      },
      /commit \d+ does not follow commit \d+/,
    ],
    [
      "has a commit of other content in the epoch before",
      {
        ...sound,
        previous: {
          ...previous,
          commits: [{ ...first, commit: { ...first.commit, leaderHash: otherHash } }, ...previous.commits.slice(1)],
        },
      },
      /commit \d+ does not follow commit \d+/,
    ],
    [
      "lacks the end of the epoch before",
      { ...sound, previous: { ...previous, commits: previous.commits.slice(0, -1) } },
      /ends with commit \d+, the next one starts from commit \d+/,
    ],
    [
      "has a checkpoint of a commit that it does not have",
      changed({ checkpoints: [checkpoint({ commitIndex: Natural.commitIndex(1_000_000) })] }),
      /the checkpoint of round \d+ does not match commit 1000000/,
    ],
    ...[{ commitHash: otherHash }, { effectsDigest: otherHash }, { round: Natural.round(1_000) }].map(
      (change) =>
        [
          `has a checkpoint with another ${Object.keys(change)} than its commit`,
          otherCheckpoint(change),
          /the checkpoint of round \d+ does not match commit \d+/,
        ] as const,
    ),
    ["has a vertex on another base", foreignVertex({ base: otherHash }), /does not belong to epoch \d+/],
    [
      "has a vertex of an earlier epoch on its base",
      foreignVertex({ epoch: Natural.epoch(epoch - 1) }),
      /does not belong to epoch \d+/,
    ],
    [
      "has a vertex of another epoch",
      changed({ vertices: [...vertices, ...previous.vertices.slice(0, 1)] }),
      /vertex [0-9a-f]{64} of round \d+ does not belong to epoch \d+/,
    ],
  ])("%s is reported as a fault", (_, stored, finding) => {
    expect(disagreementIn(stored, ledger)).toMatch(finding)
  })

  it("of an epoch that its ledger has long left is reported as a fault", () => {
    const record = { ...opening.record, epoch: Natural.epoch(1) }
    const older = changed({
      opening: { ...opening, record, position: { ...last.commit, time: opening.position.time } },
      commits: [],
    })
    const other = changed({ opening: { ...opening, record } })
    for (const stored of [older, other]) {
      expect(disagreementIn(stored, ledger)).toBe(`the state is of epoch ${epoch}, the running epoch is 1`)
    }
  })

  it("with another committee than its ledger's is reported as a fault", () => {
    const other = otherClose(otherRecord)
    const { base } = other.current.opening
    const stored = { ...other, current: { ...current, opening: { ...opening, base, record: otherRecord } } }
    expect(disagreementIn(stored, ledger)).toMatch(/the state and the opening of epoch \d+ name different committees/)
  })
})

/** The first epoch follows nothing that was signed. */
describe("a stored state of the first epoch", () => {
  const young = new Cluster({ validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 }, epochRounds: 40 })
  // The last commit is executed, but the node never learns that a quorum has signed its checkpoint.
  young.passes = (_from, _to, message) => message._tag !== "CheckpointSignature"
  young.start()
  young.runRounds(60)
  const { genesis, current, records, effectsDigest } = young.machine("ann").disk
  const closed: StoredState = { ...sound, genesis, current, previous: null, closings: [] }
  const next = Either.getOrThrowWith(
    fromRecords(genesis.protocol, { low: 1, high: 2 }, records, effectsDigest),
    (failure) => failure,
  )

  it("agrees with a ledger that has closed the epoch", () => {
    expect([next.read.epoch.epoch, current.opening.record.epoch]).toEqual([2, 1])
    expect(disagreementIn(closed, next)).toBeNull()
  })

  it("cannot be closed without a commit", () => {
    const { index, hash, leaderRound } = next.read.head
    const position = { ...current.opening.position, index, hash, leaderRound }
    const empty = { ...current, opening: { ...current.opening, position }, commits: [] }
    expect(disagreementIn({ ...closed, current: empty }, next)).toBe("the state is of epoch 2, the running epoch is 1")
  })
})
