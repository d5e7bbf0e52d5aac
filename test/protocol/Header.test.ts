import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Address from "../../src/protocol/identity/Address.js"
import type * as Hash from "../../src/protocol/identity/Hash.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as arbitrary from "./arbitraries.js"
import { itObeysTheLawsOfACodec } from "./codecLaws.js"

itObeysTheLawsOfACodec("vertex headers", {
  values: arbitrary.header,
  encode: Header.encode,
  decode: Header.decode,
})

const another = (value: number): number => (value === 0 ? 1 : value - 1)

describe("a header", () => {
  it("is signed by its author's key, over every field", () => {
    const [key] = fc.sample(arbitrary.secretKey, 1)
    const [header] = fc.sample(arbitrary.header, 1)
    if (key === undefined || header === undefined) throw new Error("no sample")
    const signed = Header.sign(header, key)
    expect(signed.author).toBe(Address.fromPublicKey(key.publicKey))
    expect(Verification.isValid(Header.check(signed))).toBe(true)
    const changes: ReadonlyArray<Partial<Header.Content>> = [
      { base: "00".repeat(32) as Header.Content["base"] },
      { epoch: another(signed.epoch) as Header.Content["epoch"] },
      { round: another(signed.round) as Header.Content["round"] },
      { timestamp: another(signed.timestamp) as Header.Content["timestamp"] },
      { coinbase: another(signed.coinbase) as Header.Content["coinbase"] },
      { bodyHash: "00".repeat(32) as Header.Content["bodyHash"] },
    ]
    for (const change of changes) {
      const forged = Header.make({ ...signed, ...change }, () => signed.signature)
      expect(Verification.isValid(Header.check(forged))).toBe(false)
      expect(forged.hash).not.toBe(signed.hash)
    }
  })

  it("has a hash independent of its signature", () => {
    fc.assert(
      fc.property(arbitrary.header, arbitrary.signature, (header, signature) => {
        expect(Header.make(header, () => signature).hash).toBe(header.hash)
      }),
    )
  })

  it("sorts its parents by round, author, hash", () => {
    fc.assert(
      fc.property(arbitrary.header, (header) => {
        const shuffled = Header.make({ ...header, parents: [...header.parents].reverse() }, () => header.signature)
        expect(shuffled).toStrictEqual(header)
      }),
    )
  })

  const [sample] = fc.sample(arbitrary.header, 1)
  const [one, two] = fc.sample(arbitrary.parent, 2)
  if (sample === undefined || one === undefined || two === undefined) throw new Error("no sample")
  it("sorts parents of one round by author, and an author's by hash", () => {
    const parent = (round: number, author: string, hash: string): Header.Parent => ({
      round: Natural.round(round),
      author: author.repeat(20) as Address.Address,
      hash: hash.repeat(32) as Hash.Hash,
    })
    const inOrder = [
      parent(2, "ff", "ff"),
      parent(10, "0a", "cc"),
      parent(10, "0b", "aa"),
      parent(10, "0b", "bb"),
      parent(10, "0c", "00"),
    ]
    for (const parents of [[...inOrder].reverse(), inOrder]) {
      expect(Header.make({ ...sample, parents }, () => sample.signature).parents).toEqual(inOrder)
    }
    expect(Header.compareParents(parent(2, "0a", "0b"), parent(2, "0a", "0b"))).toBe(0)
  })

  const encodedWith = (parents: ReadonlyArray<Header.Parent>): Uint8Array => {
    const sorted = Header.make({ ...sample, parents }, () => sample.signature)
    // `encode` writes the parents as given, so this test can write a header out of order.
    return Header.encode({ ...sorted, parents })
  }
  const reasonOf = (bytes: Uint8Array): string => Option.getOrThrow(Either.getLeft(Header.decode(bytes))).message

  it("is refused with parents out of order or named twice", () => {
    const [low, high] = Header.compareParents(one, two) < 0 ? [one, two] : [two, one]
    expect(Either.isRight(Header.decode(encodedWith([low, high])))).toBe(true)
    expect(reasonOf(encodedWith([high, low]))).toContain("parents not in order")
    expect(reasonOf(encodedWith([low, low]))).toContain("parents not in order")
  })

  it("is refused with more parents than any committee may name", () => {
    const many = Array.from({ length: Header.MAX_PARENTS + 1 }, () => one)
    expect(Header.MAX_PARENTS).toBe(3 * Limits.COMMITTEE_MEMBERS)
    expect(reasonOf(encodedWith(many))).toContain("list of 301, at most 300 allowed")
  })

  it("fills the same slot as another of the same base, epoch, round and author, and no other", () => {
    expect(Header.isSameSlot(sample, { ...sample, bodyHash: one.hash })).toBe(true)
    const others: ReadonlyArray<Partial<Header.Header>> = [
      { base: one.hash },
      { epoch: Natural.epoch(another(sample.epoch)) },
      { round: Natural.round(another(sample.round)) },
      { publicKey: "00".repeat(32) as Header.Header["publicKey"] },
    ]
    for (const other of others) expect(Header.isSameSlot(sample, { ...sample, ...other })).toBe(false)
  })
})
