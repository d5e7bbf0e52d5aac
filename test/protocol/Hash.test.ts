import { createHash } from "node:crypto"
import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Hash from "../../src/protocol/identity/Hash.js"

const plain = (tag: string, bytes: Uint8Array): string =>
  createHash("sha256").update(tag, "utf8").update(Uint8Array.of(0)).update(bytes).digest("hex")

describe("H(tag, bytes)", () => {
  it("is SHA-256 of the tag, a zero byte and the parts joined, however long they are", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 4 }), (parts) => {
        expect(Hash.of("udg/tx-id", ...parts)).toBe(plain("udg/tx-id", Buffer.concat(parts)))
      }),
    )
    expect(Hash.of("udg/body", new Uint8Array(1_048_576))).toBe(plain("udg/body", new Uint8Array(1_048_576)))
  })

  it("is independent of earlier hashes", () => {
    const long = Hash.of("udg/key", new Uint8Array(2_000).fill(7))
    const short = Hash.of("udg/key", Uint8Array.of(1))
    expect(short).toBe(plain("udg/key", Uint8Array.of(1)))
    expect(Hash.of("udg/key", new Uint8Array(2_000).fill(7))).toBe(long)
  })

  it("differs between tags for the same bytes", () => {
    expect(Hash.of("udg/leaf", new Uint8Array(0))).not.toBe(Hash.of("udg/node", new Uint8Array(0)))
  })
})

describe("a hash", () => {
  const hash = Hash.of("udg/key", Uint8Array.of(1))

  it("is shortened to its first eight characters in messages", () => {
    expect(Hash.short(hash)).toBe(`${hash.slice(0, 8)}…`)
  })

  it("is read from its 32 bytes", () => {
    const read = Binary.decode("hash", Buffer.from(hash, "hex"), Hash.read)
    expect(read).toStrictEqual(Either.right(hash))
  })
})
