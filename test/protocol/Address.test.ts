import { bech32, bech32m } from "bech32"
import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type { PublicKey } from "../../src/protocol/identity/Keys.js"
import type { AddressPrefix } from "../../src/protocol/identity/Network.js"
import * as arbitrary from "./arbitraries.js"

const prefix = fc.constantFrom<AddressPrefix>("tudg", "udg")
const otherOf = (prefix: AddressPrefix): AddressPrefix => (prefix === "udg" ? "tudg" : "udg")

const zeros = "0".repeat(40) as Address.Address
const refusal = (text: string, prefix: AddressPrefix = "tudg"): string =>
  Option.getOrThrow(Either.getLeft(Address.parse(text, prefix))).message

describe("an address", () => {
  it("is the first 20 bytes of the hash of its public key", () => {
    fc.assert(
      fc.property(arbitrary.publicKey, (key) => {
        expect(Address.fromPublicKey(key)).toBe(Hash.of("udg/address", Buffer.from(key, "hex")).slice(0, 40))
      }),
    )
  })

  it("is the same before and after thousands of other keys", () => {
    const keys = Array.from({ length: 5_000 }, (_, i) => i.toString(16).padStart(64, "0") as PublicKey)
    const first = keys.map(Address.fromPublicKey)
    expect(new Set(first).size).toBe(keys.length)
    expect(keys.map(Address.fromPublicKey)).toEqual(first)
    expect(first.map((address) => address.length)).toEqual(keys.map(() => 40))
  })

  it("reads the same from hex and from bech32m, each in either case", () => {
    fc.assert(
      fc.property(arbitrary.address, prefix, (address, prefix) => {
        const text = Address.toBech32(address, prefix)
        expect(text.startsWith(`${prefix}1`)).toBe(true)
        for (const form of [address, address.toUpperCase(), text, text.toUpperCase()]) {
          expect(Address.parse(form, prefix)).toStrictEqual(Either.right(address))
        }
      }),
    )
  })

  it("has no other bech32m form: no changed, missing or added character is accepted", () => {
    fc.assert(
      fc.property(arbitrary.address, prefix, fc.nat(50), fc.string({ maxLength: 2 }), (address, prefix, at, put) => {
        const text = Address.toBech32(address, prefix)
        const changed = text.slice(0, at) + put + text.slice(at + 1)
        if (changed !== text) expect(Either.isLeft(Address.parse(changed, prefix))).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })

  it("of the other network is refused with a reason that says so", () => {
    fc.assert(
      fc.property(arbitrary.address, prefix, (address, prefix) => {
        expect(refusal(Address.toBech32(address, otherOf(prefix)), prefix)).toContain("an address of the other network")
      }),
    )
  })

  it("of no network is refused without mentioning the other one", () => {
    // The last 1 ends the prefix.
    const text = bech32m.encode("tudg1x", bech32m.toWords(new Uint8Array(20)))
    expect(refusal(text)).toContain("it begins with tudg1x1, addresses of this network begin with tudg1")
  })

  it("is refused in mixed case, in bech32 instead of bech32m, and with more or fewer than 20 bytes", () => {
    const text = Address.toBech32(zeros, "tudg")
    const words = (bytes: number) => bech32m.toWords(new Uint8Array(bytes))
    expect(refusal(`${text.slice(0, -1)}${text.slice(-1).toUpperCase()}`)).toContain("checksum or form")
    expect(refusal(bech32.encode("tudg", words(20)))).toContain("checksum or form")
    expect(refusal(bech32m.encode("tudg", words(19)))).toContain("does not hold 20 bytes")
    expect(refusal(bech32m.encode("tudg", words(21)))).toContain("does not hold 20 bytes")
    expect(refusal(bech32m.encode("tudg", [...words(20), 0]))).toContain("does not hold 20 bytes")
  })

  // The bech32 package lowers the case first, and the Kelvin sign (U+212A) becomes a k.
  it("is refused with a Kelvin sign for a K", () => {
    const [text] = fc
      .sample(arbitrary.address, { numRuns: 50, seed: 1 })
      .map((address) => Address.toBech32(address, "tudg").toUpperCase())
      .filter((text) => text.includes("K"))
    expect(text).toBeDefined()
    expect(refusal((text ?? "").replace("K", "\u212a"))).toContain("checksum or form")
  })

  it.each(["", "tudg", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "0".repeat(39), `0x${"0".repeat(38)}`, "@alice"])(
    "is not %j",
    (text) => {
      expect(refusal(text)).toContain("is not an address")
    },
  )

  it("is refused with an example of a valid one", () => {
    for (const text of ["alice", `x${Address.toBech32(zeros, "tudg")}`, Address.toBech32(zeros, "tudg").slice(1, 4)]) {
      expect(refusal(text)).toBe(`"${text}" is not an address: expected 40 hex characters or tudg1…`)
    }
  })

  it("is read from its 20 bytes", () => {
    const address = Address.fromPublicKey("0".repeat(64) as PublicKey)
    const read = Binary.decode("address", Buffer.from(address, "hex"), Address.read)
    expect(read).toStrictEqual(Either.right(address))
  })

  it("is quoted in a refusal up to 60 characters, shorter than any secret key", () => {
    expect(refusal("x".repeat(60))).toContain(`"${"x".repeat(60)}" is not an address`)
    expect(refusal("x".repeat(61))).toContain("a text of 61 characters is not an address")
  })

  it("is not quoted in a refusal when it is very long", () => {
    expect(refusal("x".repeat(100_000)).length).toBeLessThan(250)
    expect(refusal(`tudg1${"q".repeat(100_000)}`).length).toBeLessThan(250)
  })
})

describe("a reference to an account", () => {
  it("is an address in any form, or a name after an @", () => {
    fc.assert(
      fc.property(arbitrary.address, arbitrary.name, prefix, (address, name, prefix) => {
        for (const form of [address, Address.toBech32(address, prefix)]) {
          expect(Address.parseReference(form, prefix)).toStrictEqual(Either.right({ _tag: "Address", address }))
        }
        expect(Address.parseReference(`@${name}`, prefix)).toStrictEqual(Either.right({ _tag: "Name", name }))
      }),
    )
  })

  it.each(["@", "@ab", "@Alice", "@-alice", "alice", "@@alice"])("is not %j", (text) => {
    const reason = text.startsWith("@") ? "a name has 3 to 20 characters" : "expected 40 hex characters or tudg1…"
    expect(Option.getOrThrow(Either.getLeft(Address.parseReference(text, "tudg"))).message).toContain(reason)
  })
})

/** BIP-350, "Test vectors for Bech32m": the checksum of this project's addresses, on strings of other people. */
describe("the bech32m of BIP-350", () => {
  it.each([
    "A1LQFN3A",
    "a1lqfn3a",
    "an83characterlonghumanreadablepartthatcontainsthetheexcludedcharactersbioandnumber11sg7hg6",
    "abcdef1l7aum6echk45nj3s0wdvt2fg8x9yrzpqzd3ryx",
    "11llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllludsr8",
    "split1checkupstagehandshakeupstreamerranterredcaperredlc445v",
    "?1v759aa",
  ])("accepts %s", (text) => {
    const decoded = bech32m.decode(text)
    expect(bech32m.encode(decoded.prefix, decoded.words)).toBe(text.toLowerCase())
    expect(bech32.decodeUnsafe(text)).toBeUndefined()
  })

  it.each([
    ["HRP character out of range", "\x201xj0phk"],
    ["HRP character out of range", "\x7f1g6xzxy"],
    ["HRP character out of range", "\x801vctc34"],
    [
      "overall max length exceeded",
      "an84characterslonghumanreadablepartthatcontainsthetheexcludedcharactersbioandnumber11d6pts4",
    ],
    ["no separator character", "qyrz8wqd2c9m"],
    ["empty HRP", "1qyrz8wqd2c9m"],
    ["invalid data character", "y1b0jsk6g"],
    ["invalid data character", "lt1igcx5c0"],
    ["too short checksum", "in1muywd"],
    ["invalid character in checksum", "mm1crxm3i"],
    ["invalid character in checksum", "au1s5cgom"],
    ["checksum calculated with uppercase form of HRP", "M1VUXWEZ"],
    ["empty HRP", "16plkw9"],
    ["empty HRP", "1p2gdwpf"],
  ])("refuses, for %s, %j", (_, text) => {
    expect(bech32m.decodeUnsafe(text)).toBeUndefined()
  })

  // The segregated-witness addresses of BIP-350 that fail for a reason of bech32m itself, not of witness programs.
  it.each([
    ["Bech32 instead of Bech32m", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd"],
    ["Bech32 instead of Bech32m", "tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf"],
    ["Bech32 instead of Bech32m", "BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL"],
    ["invalid character in checksum", "bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4"],
    ["mixed case", "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq"],
  ])("refuses, for %s, %s", (_, text) => {
    expect(bech32m.decodeUnsafe(text)).toBeUndefined()
  })

  it.each([
    ["zero padding of more than 4 bits", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf"],
    ["non-zero padding", "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j"],
  ])("finds no bytes, for %s, in %s", (_, text) => {
    // The first word is the witness version; the rest is the program.
    expect(bech32m.fromWordsUnsafe(bech32m.decode(text).words.slice(1))).toBeUndefined()
  })
})
