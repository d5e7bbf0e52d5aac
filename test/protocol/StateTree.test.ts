import { createHash } from "node:crypto"
import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as StateTree from "../../src/protocol/state/StateTree.js"
import * as arbitrary from "./arbitraries.js"

const hash = (digits: string): Hash => digits.repeat(32) as Hash
const crowd = (records: number): StateTree.Subroot => ({ hash: hash("cc"), records })
const path = new Uint8Array(32)

describe("a branch of the state", () => {
  it("has the hash of its count, as one number of 64 bits, and of both its sides", () => {
    fc.assert(
      fc.property(arbitrary.counter(), arbitrary.hash, arbitrary.hash, (records, left, right) => {
        const count = Buffer.alloc(8)
        count.writeBigUInt64LE(BigInt(records))
        const hashed = createHash("sha256").update("udg/node\0").update(count)
        expect(StateTree.branchHash(records, left, right)).toBe(
          hashed.update(Buffer.from(left + right, "hex")).digest("hex"),
        )
      }),
    )
  })

  it("covers more records than one leaf holds", () => {
    const over = (records: number) => StateTree.rootOver({ hash: hash("aa"), records: 1 }, path, [crowd(records - 1)])
    expect(over(32)).toStrictEqual(Either.left("a branch over 32 records, which are one leaf"))
    expect(Either.map(over(33), ({ records }) => records)).toStrictEqual(Either.right(33))
  })

  it("is on a path no longer than keys can share", () => {
    const under = (depth: number) =>
      StateTree.rootOver(
        { hash: hash("aa"), records: 1 },
        path,
        Array.from({ length: depth }, () => crowd(40)),
      )
    expect(Either.isRight(under(251))).toBe(true)
    expect(under(252)).toStrictEqual(Either.left("a path of 252 siblings, at most 251"))
  })
})

describe("the bytes of a leaf", () => {
  const read = (bytes: Uint8Array) => Binary.decode("leaf", bytes, StateTree.readLeaf)
  const refusalOf = (leaf: ReadonlyArray<StateTree.Entry>) =>
    Option.getOrThrow(Either.getLeft(read(StateTree.encodeLeaf(leaf)))).reason

  it("hold values up to the limit", () => {
    const entry = (length: number) => ({ key: hash("aa"), value: new Uint8Array(length) })
    expect(Either.isRight(read(StateTree.encodeLeaf([entry(8_192)])))).toBe(true)
    expect(refusalOf([entry(8_193)])).toBe("value of 8193 bytes, at most 8192 allowed")
  })

  it("hold their records in the order of the keys", () => {
    const entries = ["bb", "aa"].map((digits) => ({ key: hash(digits), value: new Uint8Array(1) }))
    expect(refusalOf(entries)).toBe("records not in the order of their keys")
  })
})
