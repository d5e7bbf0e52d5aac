import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Native from "../../../src/protocol/crypto/Native.js"
import * as Portable from "../../../src/protocol/crypto/Portable.js"
import * as arbitrary from "../arbitraries.js"
import { mixedOrder, rfc8032, smallOrderEncodings } from "./published.js"

const fromHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"))

describe("native and portable cryptography", () => {
  it("export the same names", () => {
    expect(Object.keys(Native).sort()).toStrictEqual(Object.keys(Portable).sort())
  })

  it("hash alike", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(Native.sha256(bytes)).toStrictEqual(Portable.sha256(bytes))
        expect(Native.sha256Hex(bytes)).toBe(Portable.sha256Hex(bytes))
        expect(Native.sha256Hex(bytes)).toBe(Native.toHex(Native.sha256(bytes)))
        const parts = [bytes.subarray(0, bytes.length >>> 2), bytes.subarray(bytes.length >>> 2)]
        expect(Native.sha256HexOf(parts)).toBe(Native.sha256Hex(bytes))
        expect(Portable.sha256HexOf(parts)).toBe(Native.sha256Hex(bytes))
      }),
    )
  })

  it("write and read hexadecimal alike, also from views", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(20), (bytes, skipped) => {
        const view = bytes.subarray(Math.min(skipped, bytes.length))
        const hex = Native.toHex(view)
        expect(Portable.toHex(view)).toBe(hex)
        for (const text of [hex, hex.toUpperCase()]) {
          expect(Native.fromHex(text)).toStrictEqual(view.slice())
          expect(Portable.fromHex(text)).toStrictEqual(view.slice())
        }
      }),
    )
  })

  it("write texts longer than a signature too, and read nothing but pairs of digits", () => {
    for (const length of [63, 64, 65, 300]) {
      const bytes = Uint8Array.from({ length }, (_, i) => i)
      const hex = Buffer.from(bytes).toString("hex")
      for (const crypto of [Native, Portable]) {
        expect(crypto.toHex(bytes)).toBe(hex)
        expect(crypto.fromHex(hex)).toStrictEqual(bytes)
      }
    }
    for (const wrong of ["0g", "g0", "000", "00x000"]) {
      for (const crypto of [Native, Portable]) expect(() => crypto.fromHex(wrong)).toThrow()
    }
    expect(() => Native.fromHex("000")).toThrow("not hexadecimal in pairs of digits: 3 characters")
  })

  it("agree that a secret key is possible exactly for keys derived from one", () => {
    const crypto = [Native, Portable]
    const noPoint = Uint8Array.of(2, ...new Uint8Array(31))
    const badKeys = [noPoint, ...[...smallOrderEncodings, mixedOrder].map(fromHex)]
    for (const bytes of badKeys) expect(crypto.map((each) => each.isPointOfPrimeOrder(bytes))).toEqual([false, false])
    fc.assert(
      fc.property(arbitrary.bytes(32), (bytes) => {
        expect(Portable.isPointOfPrimeOrder(bytes)).toBe(Native.isPointOfPrimeOrder(bytes))
        const publicKey = Native.publicKeyOf(bytes)
        expect(crypto.map((each) => each.isPointOfPrimeOrder(publicKey))).toEqual([true, true])
      }),
      { numRuns: 200 },
    )
  })

  it("derive, sign and verify alike", () => {
    fc.assert(
      fc.property(arbitrary.bytes(32), fc.uint8Array({ maxLength: 200 }), fc.nat(511), (seed, message, bit) => {
        const publicKey = Native.publicKeyOf(seed)
        expect(Portable.publicKeyOf(seed)).toStrictEqual(publicKey)
        const signature = Native.sign(message, seed, publicKey)
        expect(Portable.sign(message, seed, publicKey)).toStrictEqual(signature)
        const forged = signature.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
        for (const crypto of [Native, Portable]) {
          expect(crypto.verifyZip215(signature, message, publicKey)).toBe(true)
          expect(crypto.verifyNative(signature, message, publicKey)).toBe(true)
          expect(crypto.verifyZip215(forged, message, publicKey)).toBe(false)
          expect(crypto.verifyNative(forged, message, publicKey)).toBe(false)
        }
      }),
      { numRuns: 40 },
    )
  })

  it("return plain byte arrays, with the requested number of random bytes", () => {
    for (const crypto of [Native, Portable]) {
      const bytes = crypto.randomBytes(32)
      expect(bytes).toHaveLength(32)
      expect(bytes).not.toStrictEqual(crypto.randomBytes(32))
      for (const made of [bytes, crypto.fromHex("00"), crypto.sha256(bytes), crypto.publicKeyOf(bytes)]) {
        expect(Object.getPrototypeOf(made)).toBe(Uint8Array.prototype)
      }
    }
  })

  it.each(rfc8032)("reproduce RFC 8032, $about", ({ seed, publicKey, message, signature }) => {
    for (const crypto of [Native, Portable]) {
      expect(crypto.toHex(crypto.publicKeyOf(fromHex(seed)))).toBe(publicKey)
      expect(crypto.toHex(crypto.sign(fromHex(message), fromHex(seed), fromHex(publicKey)))).toBe(signature)
      expect(crypto.verifyZip215(fromHex(signature), fromHex(message), fromHex(publicKey))).toBe(true)
      expect(crypto.verifyNative(fromHex(signature), fromHex(message), fromHex(publicKey))).toBe(true)
    }
  })
})
