import { Either, FastCheck as fc, Option, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as Trie from "../../src/ledger/trie/Trie.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as StateProof from "../../src/protocol/state/StateProof.js"
import * as StateTree from "../../src/protocol/state/StateTree.js"
import { type Content, rootOf } from "../ledger/trie/reference.js"
import * as worlds from "../ledger/trie/worlds.js"
import * as Rest from "../support/Rest.js"
import { itObeysTheLawsOfACodec } from "./codecLaws.js"

const EMPTY: Content = new Map()

/** What a proof shows, in words that compare: a value, "absent", or "refused". */
const verdict = (root: string, key: Hash, proof: StateProof.StateProof): string =>
  Either.match(StateProof.verify(worlds.key(root), key, proof), {
    onLeft: () => "refused",
    onRight: Option.match({ onNone: () => "absent", onSome: (value) => Buffer.from(value).toString("hex") }),
  })

const truth = (content: Content, key: Hash): string => {
  const value = content.get(key)
  return value === undefined ? "absent" : Buffer.from(value).toString("hex")
}

const reasonOf = (root: Hash, key: Hash, proof: StateProof.StateProof): string =>
  Option.match(Either.getLeft(StateProof.verify(root, key, proof)), {
    onNone: () => "accepted",
    onSome: (e) => e.reason,
  })

const flipped = (bytes: Uint8Array, bit: number): Uint8Array => {
  const copy = bytes.slice()
  const at = (bit >>> 3) % copy.length
  copy[at] = (copy[at] ?? 0) ^ (1 << (bit & 7))
  return copy
}

/** The reader's verdict on the bytes: refused already when they are no proof at all. */
const verdictOfBytes = (root: string, key: Hash, bytes: Uint8Array): string =>
  Either.match(StateProof.decode(bytes), {
    onLeft: () => "refused",
    onRight: (proof) => verdict(root, key, proof),
  })

itObeysTheLawsOfACodec("state proofs", {
  values: fc.tuple(worlds.changes, worlds.keys).map(([batch, key]) => Trie.prove(Trie.apply(Trie.empty, batch), key)),
  encode: StateProof.encode,
  decode: StateProof.decode,
})

describe("a state proof", () => {
  /** A quarter of the runs, since each makes a trie or two; all of them with the rest of the tests. */
  const itHolds = <Ts>(name: string, law: fc.IProperty<Ts>): void => {
    it(name, () => fc.assert(law, { numRuns: 25 }))
    it(Rest.of("more runs", name), () => fc.assert(law))
  }

  itHolds(
    "shows the value of every member and the absence of everything else",
    fc.property(worlds.changes, fc.array(worlds.keys), (batch, others) => {
      const content = worlds.after(EMPTY, batch)
      const trie = worlds.trieOf(content)
      const asked = [...new Set([...content.keys(), ...others])].slice(0, 20).map(worlds.key)
      const shown = asked.map((key) => verdict(rootOf(content), key, Trie.prove(trie, key)))
      expect(shown).toEqual(asked.map((key) => truth(content, key)))
    }),
  )

  itHolds(
    "has one encoding, which decodes to it, and a JSON form that does too",
    fc.property(worlds.changes, worlds.keys, (batch, key) => {
      const trie = Trie.apply(Trie.empty, batch)
      const bytes = StateProof.encode(Trie.prove(trie, key))
      const decoded = Either.getOrThrow(StateProof.decode(bytes))
      const hex = Buffer.from(bytes).toString("hex")
      expect(Buffer.from(StateProof.encode(decoded)).toString("hex")).toBe(hex)
      const json = JSON.stringify(Schema.encodeSync(StateProof.schema)(decoded))
      const fromJson = Schema.decodeUnknownSync(StateProof.schema)(JSON.parse(json))
      expect(Buffer.from(StateProof.encode(fromJson)).toString("hex")).toBe(hex)
      expect(verdict(trie.hash, key, fromJson)).toBe(verdict(trie.hash, key, decoded))
    }),
  )

  itHolds(
    "is refused after any change of its bytes",
    fc.property(worlds.changes, worlds.keys, fc.array(fc.nat(), { minLength: 20 }), (batch, key, bits) => {
      const trie = Trie.apply(Trie.empty, batch)
      const bytes = StateProof.encode(Trie.prove(trie, key))
      expect(verdictOfBytes(trie.hash, key, bytes)).not.toBe("refused")
      const mutated = bits.flatMap((bit) => [
        flipped(bytes, bit),
        bytes.slice(0, bit % bytes.length),
        Uint8Array.from([...bytes, bit & 0xff]),
      ])
      expect(mutated.map((bytes) => verdictOfBytes(trie.hash, key, bytes))).toEqual(mutated.map(() => "refused"))
    }),
  )

  itHolds(
    "shows only the truth of another key, and nothing under another root",
    fc.property(worlds.changes, worlds.changes, worlds.keys, worlds.keys, (batch, more, key, other) => {
      const content = worlds.after(EMPTY, batch)
      const before = worlds.trieOf(content)
      const later = Trie.apply(before, more)
      const proof = Trie.prove(before, key)
      expect(["refused", truth(content, other)]).toContain(verdict(before.hash, other, proof))
      if (later.hash !== before.hash) expect(verdict(later.hash, key, proof)).toBe("refused")
    }),
  )
})

describe("a forged state proof", () => {
  const content = worlds.plain(2_000)
  const trie = worlds.trieOf(content)
  const key = worlds.hashed(17)
  const proof = Trie.prove(trie, key)
  const { siblings, leaf } = proof
  const [first, second] = siblings
  if (first === undefined || second === undefined) throw new Error("a path of two siblings or more is needed here")

  const refuses = (forged: Partial<StateProof.StateProof>, reason: string, root: Hash = trie.hash) =>
    expect(reasonOf(root, key, { ...proof, ...forged })).toContain(reason)

  it("differs from the real one", () => {
    expect(verdict(trie.hash, key, proof)).toBe(Buffer.from("value 17").toString("hex"))
  })

  it("with a record left out, added, changed or renamed leads to another root", () => {
    const without = leaf.filter((record) => record.key !== key)
    refuses({ leaf: without }, "it leads to the root")
    refuses({ leaf: leaf.map((record) => ({ ...record, value: Buffer.from("more") })) }, "it leads to the root")
    const foreign = leaf.map((record) => ({ ...record, key: worlds.key(record.key.slice(0, 60).padEnd(64, "0")) }))
    refuses({ leaf: foreign }, "it leads to the root")
  })

  it("cannot move bytes from one record to the next", () => {
    const merged = leaf.map((record, i) =>
      i === 0 ? { ...record, value: Buffer.concat([record.value, Uint8Array.of(0)]) } : record,
    )
    refuses({ leaf: merged }, "it leads to the root")
  })

  it("with swapped, missing, doubled or recounted siblings leads to another root", () => {
    const rest = siblings.slice(2)
    refuses({ siblings: [second, first, ...rest] }, "it leads to the root")
    refuses({ siblings: [second, ...rest] }, "it leads to the root")
    refuses({ siblings: [first, first, second, ...rest] }, "does not lie under this path")
    const recounted = [{ ...first, records: first.records + 1 }, { ...second, records: second.records - 1 }, ...rest]
    refuses({ siblings: recounted }, "it leads to the root")
  })

  it("with records out of order, twice, or beyond the limits is refused for that", () => {
    const [one] = leaf
    if (one === undefined) throw new Error("a leaf with a record is needed here")
    refuses({ leaf: leaf.toReversed() }, "not in the order of their keys")
    refuses({ leaf: [one, ...leaf] }, "not in the order of their keys")
    refuses({ leaf: [{ ...one, value: new Uint8Array(8_193) }] }, "a value above the limit")
    const crowd = Array.from({ length: 33 }, (_, i) => ({
      key: worlds.key(`${key.slice(0, 62)}${i.toString(16).padStart(2, "0")}`),
      value: new Uint8Array(0),
    }))
    refuses({ leaf: crowd }, "a leaf of 33 records")
  })

  it("with a record from beside the path is refused, even with a fitting hash", () => {
    const turned = worlds.key((Number.parseInt(key.slice(0, 1), 16) ^ 8).toString(16) + key.slice(1))
    // The proof is true for its own key; a leaf that holds no record of the asked path must not pass as an absence.
    expect(reasonOf(trie.hash, turned, proof)).toContain("does not lie under this path")
  })

  it("with a key in capitals is refused: its bytes lead to the root, but its letters would not be found", () => {
    const key = worlds.key("ab".repeat(32))
    const trie = Trie.apply(Trie.empty, [{ key, value: Uint8Array.of(1) }])
    const proof = Trie.prove(trie, key)
    const shouted = { ...proof, leaf: proof.leaf.map((entry) => ({ ...entry, key: worlds.key(key.toUpperCase()) })) }
    expect(verdict(trie.hash, key, proof)).toBe("01")
    expect(verdict(trie.hash, key, shouted)).toBe("refused")
    expect(verdict(trie.hash, worlds.key(key.toUpperCase()), proof)).toBe("refused")
  })

  it("with a path deeper than keys can diverge is refused unread", () => {
    refuses({ siblings: Array.from({ length: 252 }, () => first) }, "a path of 252")
  })

  it("with a branch where one leaf must be is refused, also under the root it leads to", () => {
    const record = { key, value: Buffer.from("x") }
    const lonely = StateTree.leafHash(StateTree.encodeLeaf([record]))
    const isRight = Number.parseInt(key.slice(0, 1), 16) >= 8
    const empty = StateTree.EMPTY
    const root = StateTree.branchHash(1, isRight ? empty.hash : lonely, isRight ? lonely : empty.hash)
    refuses({ siblings: [empty], leaf: [record] }, "a branch over 1 records", root)
  })

  it("with as many siblings as a tree is deep is judged by them", () => {
    const deep = (count: number) => ({ ...proof, siblings: Array.from({ length: count }, () => first) })
    refuses(deep(StateTree.MAX_DEPTH + 1), `a path of ${StateTree.MAX_DEPTH + 1}, at most ${StateTree.MAX_DEPTH}`)
    refuses(deep(StateTree.MAX_DEPTH), "a record that does not lie under this path")
  })

  it("names the root and the key that it does not prove", () => {
    const upper = key.toUpperCase() as Hash
    const [error] = [StateProof.verify(trie.hash, upper, proof)].flatMap((result) =>
      Option.toArray(Either.getLeft(result)),
    )
    expect(error?.message).toBe(
      `no proof of ${upper} under ${trie.hash}: a key that is not 64 lower-case hex characters`,
    )
  })

  it("with impossible counts is refused", () => {
    for (const records of [-1, 0.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY]) {
      refuses({ siblings: [{ ...first, records }, ...siblings.slice(1)] }, "record counts")
    }
    refuses({ siblings: [{ ...first, records: 0 }, ...siblings.slice(1)] }, "not the empty leaf")
  })

  it("in JSON is refused by its schema where the shape is wrong", () => {
    const decode = Schema.decodeUnknownEither(StateProof.schema)
    const json = Schema.encodeSync(StateProof.schema)(proof)
    const [record] = json.leaf
    const forged: ReadonlyArray<unknown> = [
      { ...json, leaf: [{ ...record, value: "abc" }] },
      { ...json, leaf: [{ ...record, value: "zz" }] },
      { ...json, leaf: [{ ...record, value: "00".repeat(8_193) }] },
      { ...json, leaf: [{ ...record, key: "00" }] },
      { ...json, leaf: Array.from({ length: 33 }, () => record) },
      { ...json, siblings: [{ ...first, records: 1.5 }] },
      { ...json, siblings: [{ ...first, records: "1" }] },
      { ...json, siblings: Array.from({ length: 252 }, () => first) },
      { siblings: json.siblings },
    ]
    expect(forged.map((value) => decode(value)._tag)).toEqual(forged.map(() => "Left"))
    expect(decode(json)._tag).toBe("Right")
  })
})
