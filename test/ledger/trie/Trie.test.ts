import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import { toHex } from "#crypto"
import { SORTED } from "../../../src/ledger/trie/Batch.js"
import { Leaf } from "../../../src/ledger/trie/Leaf.js"
import * as Span from "../../../src/ledger/trie/Span.js"
import * as Trie from "../../../src/ledger/trie/Trie.js"
import * as TrieNode from "../../../src/ledger/trie/TrieNode.js"
import * as StateProof from "../../../src/protocol/state/StateProof.js"
import * as StateTree from "../../../src/protocol/state/StateTree.js"
import * as Rest from "../../support/Rest.js"
import { type Content, rootOf, sorted } from "./reference.js"
import * as worlds from "./worlds.js"

const EMPTY: Content = new Map()

const contentOf = (trie: Trie.Trie): Content => new Map([...Trie.entries(trie)].map(({ key, value }) => [key, value]))

const hex = (value: Uint8Array | undefined) => value && Buffer.from(value).toString("hex")

const expectContent = (trie: Trie.Trie, content: Content): void => {
  expect(trie.hash).toBe(rootOf(content))
  const records = sorted(content).map(([key, value]) => ({ key, value: Buffer.from(value).toString("hex") }))
  const entries = [...Trie.entries(trie)].map(({ key, value }) => ({ key, value: Buffer.from(value).toString("hex") }))
  expect(entries).toEqual(records)
  expect(trie.records).toBe(content.size)
  expect(trie.bytes).toBe([...content.values()].reduce((sum, value) => sum + 34 + value.length, 0))
}

const inSlices = (trie: Trie.Trie, changes: Iterable<Trie.Change>): { trie: Trie.Trie; steps: number } => {
  const job = Trie.update(trie, changes)
  for (let steps = 1; ; steps++) {
    const updated = job.step(() => false)
    if (updated !== undefined) return { trie: updated, steps }
  }
}

describe("a trie", () => {
  it("is the same object after changes that change nothing", () => {
    const content = worlds.plain(3_000)
    const trie = worlds.trieOf(content)
    const removalsOfNothing = Array.from({ length: 200 }, (_, i) => ({ key: worlds.hashed(`no ${i}`), value: null }))
    expect(Trie.apply(trie, [...worlds.changesTo(content).slice(0, 1_000), ...removalsOfNothing])).toBe(trie)
  })

  it("becomes the empty one when everything is removed", () => {
    const content = worlds.plain(1_000)
    const removals = [...content.keys()].map((key) => ({ key: worlds.key(key), value: null }))
    const trie = Trie.apply(worlds.trieOf(content), removals)
    expect(trie.hash).toBe(StateTree.EMPTY.hash)
    expectContent(trie, EMPTY)
  })

  it("holds 32 records in one leaf and 33 under a branch, down to keys that share 250 bits", () => {
    const close = (i: number) => worlds.key(i.toString(16).padStart(64, "0"))
    const records = (count: number) => new Map(Array.from({ length: count }, (_, i) => [close(i), Uint8Array.of(i)]))
    expect(Trie.prove(worlds.trieOf(records(32)), close(0)).siblings).toHaveLength(0)
    expect(Trie.prove(worlds.trieOf(records(33)), close(0)).siblings).toHaveLength(251)
    for (const count of [32, 33, 64]) expectContent(worlds.trieOf(records(count)), records(count))
    const narrowed = Trie.apply(worlds.trieOf(records(33)), [{ key: close(7), value: null }])
    expect(Trie.prove(narrowed, close(0)).siblings).toHaveLength(0)
  })

  it("accepts values at the size limit, first or among others", () => {
    const values = [StateTree.VALUE_BYTES, 1, StateTree.VALUE_BYTES, 3_000, StateTree.VALUE_BYTES]
    const content = new Map(values.map((bytes, i) => [worlds.hashed(i), new Uint8Array(bytes).fill(i + 1)]))
    expectContent(worlds.trieOf(content), content)
  })

  it("proves each record by the siblings on its path and its leaf, and each absence by the records there", () => {
    const content = worlds.plain(100)
    const trie = worlds.trieOf(content)
    for (const key of [...[...content.keys()].slice(0, 20).map(worlds.key), worlds.hashed("no record")]) {
      const proof = Trie.prove(trie, key)
      const value = Either.getOrThrow(StateProof.verify(trie.hash, key, proof))
      expect(Option.getOrUndefined(Option.map(value, toHex))).toBe(hex(content.get(key)))
    }
  })

  it("has no leaf of more than 32 records and no branch of fewer than 33", () => {
    const trie = worlds.trieOf(worlds.plain(40))
    const spans = [...Trie.leaves(trie)].flatMap((leaf) => leaf.spans())
    expect(() => Leaf.of(spans, 1, 34)).toThrow("a leaf of 33 records")
    expect(Leaf.of(spans, 1, 33).records).toBe(32)
    expect(Leaf.of(spans, 7, 7)).toBe(Leaf.EMPTY)
    expect(TrieNode.spansOf(trie).map(Span.toEntry)).toEqual(spans.map(Span.toEntry))
    const [left, right] = [Leaf.of(spans, 0, 16), Leaf.of(spans, 16, 32)]
    expect(() => new TrieNode.Branch(left, right)).toThrow("a branch over 32 records")
  })

  it("refuses a value above the limit and a key that is not a hash", () => {
    const value = new Uint8Array(StateTree.VALUE_BYTES + 1)
    expect(() => Trie.apply(Trie.empty, [{ key: worlds.hashed(1), value }])).toThrow("not 8193")
    expect(() => Trie.apply(Trie.empty, [{ key: worlds.key("12"), value: null }])).toThrow("not a key hash: 12")
  })
})

describe("an update", () => {
  it(Rest.of("ten thousand keys", "pauses after at most 64 changes, even when all keys share 240 bits"), () => {
    const crowd = Array.from({ length: 10_000 }, (_, i) => ({
      key: worlds.key(`${"ab".repeat(30)}${((i * 40_503) % 65_536).toString(16).padStart(4, "0")}`),
      value: Uint8Array.of(i & 0xff),
    }))
    const { trie, steps } = inSlices(Trie.empty, crowd)
    expect(steps).toBeGreaterThan(10_000 / 64)
    expect(trie.hash).toBe(rootOf(worlds.after(EMPTY, crowd)))
  })

  it.each([8, 60])("separates keys that share their first %i digits, in any order of arrival", (shared) => {
    const common = worlds.hashed("common").slice(0, shared)
    const crowd = Array.from({ length: 200 }, (_, i) => ({
      key: worlds.key(common + worlds.hashed(i).slice(shared)),
      value: Uint8Array.of(i),
    }))
    expectContent(Trie.apply(Trie.empty, crowd), worlds.after(EMPTY, crowd))
  })

  it("accepts more changes than are sorted at once", () => {
    const change = (i: number) => ({
      key: worlds.key(((i * 40_503) % 65_536).toString(16).padStart(4, "0").padEnd(64, "0")),
      value: i % 300 === 7 ? Uint8Array.of(1) : null,
    })
    const crowd = Array.from({ length: SORTED + 1 }, (_, i) => change(i))
    expectContent(Trie.apply(Trie.empty, crowd), worlds.after(EMPTY, crowd))
  })

  it("applies the latest of the changes of one key, even of hundreds", () => {
    const repeated = Array.from({ length: 1_000 }, (_, i) => ({
      key: worlds.hashed(i % 3),
      value: i % 10 === 9 ? null : Buffer.from(`${i}`),
    }))
    const trie = Trie.apply(worlds.trieOf(worlds.plain(100)), repeated)
    expect(trie.hash).toBe(rootOf(worlds.after(worlds.plain(100), repeated)))
  })

  it("pauses after every 256 accepted changes, and then before each piece of at most 64", () => {
    let taken = 0
    function* changes(count: number) {
      for (; taken < count; taken++) yield { key: worlds.hashed(taken), value: Uint8Array.of(1) }
    }
    const job = Trie.update(Trie.empty, changes(600))
    const never = (): boolean => false
    expect(
      [0, 1, 2].map(() => {
        expect(job.step(never)).toBeUndefined()
        return taken
      }),
    ).toEqual([255, 511, 600])
    const stepsOf = (count: number) => inSlices(Trie.empty, worlds.changesTo(worlds.plain(count))).steps
    expect([0, 1, 64, 65].map(stepsOf)).toEqual([1, 2, 2, 4])
  })

  it("reads its changes lazily and copies them", () => {
    const shared = new Uint8Array(8)
    function* changes() {
      for (let i = 0; i < 500; i++) {
        shared.fill(i & 0xff)
        yield { key: worlds.hashed(i), value: shared }
      }
    }
    const expected = new Map(
      Array.from({ length: 500 }, (_, i) => [worlds.hashed(i), new Uint8Array(8).fill(i & 0xff)]),
    )
    expect(inSlices(Trie.empty, changes()).trie.hash).toBe(rootOf(expected))
  })

  it("continues until its time is over", () => {
    const job = Trie.update(Trie.empty, worlds.changesTo(worlds.plain(2_000)))
    let asked = 0
    expect(job.step(() => ++asked < 3)).toBeUndefined()
    expect(asked).toBe(3)
    const trie = job.step(() => true)
    expect(trie?.hash).toBe(rootOf(worlds.plain(2_000)))
    expect(job.step(() => true)).toBe(trie)
  })
})

describe("any update", () => {
  it("in slices equals the update at once, and the trie built from scratch", () => {
    fc.assert(
      fc.property(worlds.changes, worlds.changes, (before, batch) => {
        const trie = Trie.apply(Trie.empty, before)
        const sliced = inSlices(trie, batch).trie
        expect(sliced.hash).toBe(Trie.apply(trie, batch).hash)
        expect(sliced.hash).toBe(worlds.trieOf(worlds.after(worlds.after(EMPTY, before), batch)).hash)
      }),
    )
  })

  it("of thousands of records, sliced, agrees with the definition", () => {
    const content = worlds.plain(20_000)
    const built = inSlices(Trie.empty, worlds.changesTo(content))
    expect(built.trie.hash).toBe(rootOf(content))
    const batch = Array.from({ length: 5_000 }, (_, i) => ({
      key: worlds.hashed(i * 7),
      value: i % 3 === 0 ? null : Buffer.from(`new ${i}`),
    }))
    const updated = inSlices(built.trie, batch)
    expect(updated.trie.hash).toBe(rootOf(worlds.after(content, batch)))
    expect(built.trie.hash).toBe(rootOf(content))
  })
})

describe("any trie", () => {
  it("has the content of its history and the root that the definition gives it", () => {
    fc.assert(
      fc.property(worlds.histories, (history) => {
        let trie = Trie.empty
        let content = EMPTY
        for (const batch of history) {
          trie = Trie.apply(trie, batch)
          content = worlds.after(content, batch)
        }
        expectContent(trie, content)
      }),
    )
  })

  it("has one root per content, for any history", () => {
    fc.assert(
      fc.property(worlds.changes, worlds.changes, fc.integer(), (wanted, noise, seed) => {
        const content = worlds.after(EMPTY, wanted)
        const straight = worlds.trieOf(content)
        const shuffled = [...worlds.changesTo(content)].sort((a, b) =>
          worlds.hashed(a.key + seed) < worlds.hashed(b.key + seed) ? -1 : 1,
        )
        let detour = Trie.apply(Trie.empty, noise)
        for (const change of shuffled.slice(0, 5)) detour = Trie.apply(detour, [change])
        detour = Trie.apply(detour, shuffled)
        const superfluous = [...contentOf(detour).keys()].filter((key) => !content.has(key))
        detour = Trie.apply(
          detour,
          superfluous.map((key) => ({ key: worlds.key(key), value: null })),
        )
        expect(detour.hash).toBe(straight.hash)
        expectContent(detour, content)
      }),
    )
  })

  it("finds every value and nothing else", () => {
    fc.assert(
      fc.property(worlds.changes, fc.array(worlds.keys), (batch, others) => {
        const content = worlds.after(EMPTY, batch)
        const trie = Trie.apply(Trie.empty, batch)
        const asked = [...new Set([...batch.map(({ key }) => key), ...others])]
        expect(asked.map((key) => hex(Trie.get(trie, key)))).toEqual(asked.map((key) => hex(content.get(key))))
      }),
    )
  })

  it("stays unchanged when others are built on it", () => {
    fc.assert(
      fc.property(worlds.histories, (history) => {
        const views: Array<readonly [Trie.Trie, Content]> = [[Trie.empty, EMPTY]]
        for (const batch of history) {
          const [trie, content] = views.at(-1) ?? [Trie.empty, EMPTY]
          views.push([Trie.apply(trie, batch), worlds.after(content, batch)])
          for (const value of batch.map((change) => Trie.get(trie, change.key))) value?.fill(0xee)
        }
        for (const [trie, content] of views) expectContent(trie, content)
      }),
      { numRuns: 50 },
    )
  })

  it("overwrites values of equal length in a leaf as it replaces any others", () => {
    const keys = Array.from({ length: 60 }, (_, i) => worlds.hashed(i))
    const value = fc.oneof({ weight: 12, arbitrary: fc.nat(2).map((byte) => Uint8Array.of(byte, 1)) }, worlds.values)
    const change = fc.record({ key: fc.constantFrom(...keys), value })
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 8 }), (history) => {
        let content: Content = new Map(keys.map((key) => [key, Uint8Array.of(0, 1)]))
        let trie = worlds.trieOf(content)
        for (const batch of history) {
          const before = trie
          trie = Trie.apply(trie, batch)
          content = worlds.after(content, batch)
          expectContent(trie, content)
          expect(trie === before).toBe(trie.hash === before.hash)
        }
      }),
    )
  })
})
