/** A state of which each part is sound by itself, and one part is of another time or another life. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import type { StoredEpoch } from "../../src/consensus/output/StoredEpoch.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
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
  foreignHeaders: [],
  pending: [],
  closings,
  join: null,
}

const { opening, commits, checkpoints, vertices } = current
const epoch = opening.record.epoch
const otherHash = Hash.of("udg/commit", Uint8Array.of(1))
const changed = (change: Partial<StoredEpoch>): StoredState => ({ ...sound, current: { ...current, ...change } })
const [first] = previous.commits
if (first === undefined) throw new Error("a commit expected")
const checkpoint = (content: Partial<Checkpoint.Content>) => {
  const [some] = [...checkpoints, ...previous.checkpoints]
  if (some === undefined) throw new Error("a checkpoint expected")
  return Checkpoint.make({ ...some, ...content })
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
    [
      "has the committee of another epoch",
      changed({ opening: { ...opening, record: { ...opening.record, seed: otherHash } } }),
      /follows on [0-9a-f]{64}, epoch \d+ closed with/,
    ],
    [
      "lacks the close of the epoch before",
      { ...sound, closings: [] },
      /there is no signed checkpoint with which epoch \d+ closed/,
    ],
    ["follows on another close", changed({ opening: { ...opening, base: otherHash } }), /follows on .* closed with/],
    [
      "keeps an epoch that is not the one before",
      {
        ...sound,
        previous: {
          ...previous,
          opening: { ...previous.opening, record: { ...previous.opening.record, epoch: Natural.epoch(epoch) } },
        },
      },
      /epoch \d+ is kept as the one before the running one/,
    ],
    [
      "lacks a commit in the epoch before",
      { ...sound, previous: { ...previous, commits: previous.commits.filter((_, i) => i !== 1) } },
      /commit \d+ does not follow on commit \d+/,
    ],
    [
      "has a commit of another hash in the epoch before",
      {
        ...sound,
        previous: { ...previous, commits: [{ ...first, commit: { ...first.commit, hash: otherHash } }] },
      },
      /commit \d+ does not follow on commit \d+/,
    ],
    [
      "lacks the end of the epoch before",
      { ...sound, previous: { ...previous, commits: previous.commits.slice(0, -1) } },
      /ends with commit \d+, the next one follows on commit \d+/,
    ],
    [
      "has a checkpoint of a commit that it does not have",
      changed({ checkpoints: [checkpoint({ commitIndex: Natural.commitIndex(1_000_000) })] }),
      /the checkpoint of round \d+ is not of the recorded commit 1000000/,
    ],
    [
      "has a checkpoint of another commit in its place",
      { ...sound, previous: { ...previous, checkpoints: [checkpoint({ commitHash: otherHash })] } },
      /the checkpoint of round \d+ is not of the recorded commit \d+/,
    ],
    [
      "has a vertex of another epoch",
      changed({ vertices: [...vertices, ...previous.vertices.slice(0, 1)] }),
      /vertex [0-9a-f]{64} of round \d+ is of another epoch than \d+/,
    ],
  ])("%s, and says so", (_, stored, finding) => {
    expect(disagreementIn(stored, ledger)).toMatch(finding)
  })

  it("is of an epoch that its ledger has long left, and says so", () => {
    const last = commits.at(-1)
    if (last === undefined) throw new Error("a commit expected")
    const record = { ...opening.record, epoch: Natural.epoch(1) }
    const older = changed({
      opening: { ...opening, record, position: { ...last.commit, time: opening.position.time } },
      commits: [],
    })
    expect(disagreementIn(older, ledger)).toMatch(/the state is of epoch \d+, the running epoch is 1/)
  })

  it("has another committee than its ledger, and says so", () => {
    const record = { ...opening.record, seed: otherHash, epoch: Natural.epoch(epoch) }
    const closing = closings.find(({ checkpoint }) => checkpoint.epoch === epoch - 1)
    if (closing === undefined) throw new Error("a closed epoch expected")
    const forged = Checkpoint.make({ ...closing.checkpoint, nextEpoch: record })
    const other: StoredState = {
      ...changed({ opening: { ...opening, record, base: forged.hash } }),
      closings: [{ ...closing, checkpoint: forged }],
    }
    expect(disagreementIn(other, ledger)).toMatch(/the state has another committee of epoch \d+ than its opening/)
  })
})
