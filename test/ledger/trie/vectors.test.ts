import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { Either, Option, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { fromHex, toHex } from "#crypto"
import * as Assembly from "../../../src/ledger/trie/Assembly.js"
import * as StateProof from "../../../src/protocol/state/StateProof.js"
import { rootOf } from "./reference.js"
import * as worlds from "./worlds.js"

const Proof = { root: Schema.String, key: Schema.String, encoded: Schema.String }

const Vectors = Schema.parseJson(
  Schema.Struct({
    tries: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        entries: Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.String })),
        records: Schema.Number,
        bytes: Schema.Number,
        root: Schema.String,
      }),
    ),
    generated: Schema.Array(Schema.Struct({ records: Schema.Number, root: Schema.String })),
    proofs: Schema.Array(Schema.Struct({ ...Proof, value: Schema.NullOr(Schema.String) })),
    refused_proofs: Schema.Array(Schema.Struct({ ...Proof, reason: Schema.String })),
    subtrees: Schema.Struct({
      root: Schema.String,
      max_bytes: Schema.Number,
      encoded: Schema.Array(Schema.String),
    }),
  }),
)

const path = resolve(import.meta.dirname, "../../../docs/vectors/state-trie.json")
const vectors = Schema.decodeUnknownSync(Vectors)(readFileSync(path, "utf8"))

const verdict = ({ root, key, encoded }: Schema.Schema.Type<typeof refusedProof>): string | null =>
  Either.flatMap(StateProof.decode(fromHex(encoded)), (proof) =>
    StateProof.verify(worlds.key(root), worlds.key(key), proof),
  ).pipe(
    Either.match({
      onLeft: () => "refused",
      onRight: (value) => Option.getOrNull(Option.map(value, toHex)),
    }),
  )

const refusedProof = Schema.Struct(Proof)

describe("the vectors of the state trie", () => {
  it("give the roots of listed entries, by the definition and by the trie", () => {
    expect(vectors.tries.length).toBeGreaterThan(4)
    for (const { entries, records, bytes, root } of vectors.tries) {
      const content = new Map(entries.map(({ key, value }) => [key, fromHex(value)]))
      expect(rootOf(content)).toBe(root)
      const trie = worlds.trieOf(content)
      expect({ root: trie.hash, records: trie.records, bytes: trie.bytes }).toEqual({ root, records, bytes })
    }
  })

  it("give the roots of generated entries, by the definition and by the trie", () => {
    for (const { records, root } of vectors.generated) {
      expect(rootOf(worlds.plain(records))).toBe(root)
      expect(worlds.trieOf(worlds.plain(records)).hash).toBe(root)
    }
  })

  it("hold proofs of values and absences, and forgeries that are refused", () => {
    expect(vectors.proofs.map(verdict)).toEqual(vectors.proofs.map(({ value }) => value))
    expect(vectors.refused_proofs.map(verdict)).toEqual(vectors.refused_proofs.map(() => "refused"))
  })

  it("hold subtrees that form their trie in any order", () => {
    const { root, encoded } = vectors.subtrees
    expect(encoded.length).toBeGreaterThan(1)
    const assembly = new Assembly.Assembly(worlds.key(root))
    for (const bytes of encoded.toReversed()) expect(Either.isRight(assembly.accept(fromHex(bytes)))).toBe(true)
    expect(assembly.trie?.hash).toBe(root)
  })
})
