/** Which states are kept for others, and which of them a quorum has signed. */
import { describe, expect, it } from "vitest"
import * as Position from "../../src/ledger/trie/Position.js"
import * as Trie from "../../src/ledger/trie/Trie.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { StateViews } from "../../src/replica/live/StateViews.js"
import { equalWeights, genesisCheckpoint, recordOf, seedOf } from "../consensus/TestCommittee.js"

const record = recordOf(equalWeights(4))
const tries = Array.from({ length: 6 }, (_, i) =>
  Trie.apply(Trie.empty, [{ key: seedOf(`record ${i}`), value: new Uint8Array(8) }]),
)
const trie = (n: number): Trie.Trie => tries[n] ?? Trie.empty

/** The checkpoint of the n-th state. */
const checkpoint = (n: number, closes = false): Checkpoint.Checkpoint =>
  Checkpoint.make({
    ...genesisCheckpoint(record),
    commitIndex: Natural.commitIndex(n),
    stateRoot: trie(n).hash,
    nextEpoch: closes ? record : null,
  })
const signed = (n: number, closes = false) => ({ checkpoint: checkpoint(n, closes), signatures: [] })

const ROOT = Binary.encode((writer) => Position.write(writer, Position.ROOT))
const served = (views: StateViews) => tries.map(({ hash }) => views.subtree(hash, ROOT) !== null)

describe("the states kept for others", () => {
  it("belong to the last two closes, from the start or built here", () => {
    const views = new StateViews([trie(0), trie(1), trie(2)])
    expect(served(views)).toEqual([false, true, true, false, false, false])
    views.built(checkpoint(3, true), trie(3))
    expect(served(views)).toEqual([false, false, true, true, false, false])
    views.built(checkpoint(4), trie(4))
    expect(served(views)).toEqual([false, false, true, true, false, false])
  })

  it("are few: two closes, and four that still wait for a quorum", () => {
    const views = new StateViews([])
    expect(views.size).toBe(0)
    for (let n = 0; n < 6; n++) views.built(checkpoint(n, true), trie(n))
    expect(views.size).toBe(6)
    views.final(signed(1))
    expect(views.latest).toBeNull()
    views.final(signed(2))
    expect(views.latest?.trie).toBe(trie(2))
  })

  it("have nothing at an impossible position", () => {
    const views = new StateViews([trie(0)])
    expect(views.subtree(trie(0).hash, new Uint8Array(0))).toBeNull()
    expect(views.subtree(trie(0).hash, ROOT.slice(1))).toBeNull()
    expect(views.subtree(seedOf("another"), ROOT)).toBeNull()
    const below = Binary.encode((writer) => Position.write(writer, Position.left(Position.ROOT)))
    expect(views.subtree(trie(0).hash, below)).toBeNull()
  })
})

describe("the state for proofs", () => {
  it("belongs to the last checkpoint signed by a quorum, in any order of arrival", () => {
    const views = new StateViews([trie(0)])
    expect(views.latest).toBeNull()
    for (const n of [1, 2, 3]) views.built(checkpoint(n), trie(n))
    views.final(signed(2))
    expect(views.latest).toEqual({ signed: signed(2), trie: trie(2) })
    const { latest } = views
    for (const n of [1, 2]) views.final(signed(n))
    expect(views.latest).toBe(latest)
    views.final(signed(3))
    expect(views.latest?.trie).toBe(trie(3))
    // No machine here has that state.
    views.final(signed(5))
    expect(views.latest?.trie).toBe(trie(3))
  })

  it("can belong to a close from before the start", () => {
    const views = new StateViews([trie(0)])
    views.final(signed(0, true))
    expect(views.latest?.trie).toBe(trie(0))
  })
})
