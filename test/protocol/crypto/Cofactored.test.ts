import { createHash } from "node:crypto"
import * as ed25519 from "@noble/ed25519"
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Native from "../../../src/protocol/crypto/Native.js"
import * as Portable from "../../../src/protocol/crypto/Portable.js"
import * as Rest from "../../support/Rest.js"
import { L, speccheck, zip215 } from "./published.js"

const fromHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"))

const littleEndian = (value: bigint): Uint8Array =>
  Uint8Array.from(Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse())

const challenge = (...parts: ReadonlyArray<Uint8Array>): bigint => {
  const digest = createHash("sha512").update(Buffer.concat(parts)).digest()
  return BigInt(`0x${Buffer.from(digest).reverse().toString("hex")}`) % L
}

const smallOrder = [...new Set(zip215.map(({ publicKey }) => publicKey))].map((hex) => ed25519.Point.fromHex(hex, true))

const scalar = fc.bigInt({ min: 1n, max: L - 1n })
const torsion = fc.constantFrom(...smallOrder)

/** A signature by a key and with an R that each have a small-order part: anybody can make one for free. */
const torsioned = fc
  .tuple(scalar, scalar, torsion, torsion, fc.uint8Array({ maxLength: 60 }))
  .map(([a, r, keyPart, noncePart, message]) => {
    const publicKey = ed25519.Point.BASE.multiply(a).add(keyPart).toBytes()
    const nonce = ed25519.Point.BASE.multiply(r).add(noncePart).toBytes()
    const s = littleEndian((r + challenge(nonce, publicKey, message) * a) % L)
    return { publicKey, message, signature: Uint8Array.of(...nonce, ...s) }
  })

/** Whether noble was called: it hashes for every signature it judges. */
const asksNoble = (judge: () => void): boolean => {
  const { sha512 } = ed25519.hashes
  let asked = false
  ed25519.hashes.sha512 = (message) => {
    asked = true
    return Uint8Array.from(createHash("sha512").update(message).digest())
  }
  judge()
  ed25519.hashes.sha512 = sha512
  return asked
}

describe("the cofactored equation in native arithmetic", () => {
  it("accepts alone keys with a small-order part, most of which libsodium's verifier refuses", () => {
    fc.assert(
      fc.property(torsioned, ({ signature, message, publicKey }) => {
        const judge = () => expect(Native.verifyZip215(signature, message, publicKey)).toBe(true)
        expect(asksNoble(judge)).toBe(false)
      }),
      { numRuns: 100 },
    )
  })

  it("accepts alone all 196 pairs of small-order encodings", () => {
    for (const { signature, message, publicKey } of zip215) {
      const judge = () =>
        expect(Native.verifyZip215(fromHex(signature), fromHex(message), fromHex(publicKey))).toBe(true)
      expect(asksNoble(judge)).toBe(false)
      expect(Portable.verifyZip215(fromHex(signature), fromHex(message), fromHex(publicKey))).toBe(true)
    }
    const garbage = new Uint8Array(64).fill(7)
    expect(asksNoble(() => expect(Native.verifyZip215(garbage, garbage, garbage.slice(32))).toBe(false))).toBe(true)
  })

  const neverSaysYesAlone = (mutations: number): void => {
    for (const { signature, message, publicKey, zip215: valid } of speccheck) {
      expect(Native.verifyZip215(fromHex(signature), fromHex(message), fromHex(publicKey))).toBe(valid)
    }
    fc.assert(
      fc.property(torsioned, fc.nat(95), fc.integer({ min: 1, max: 255 }), (made, at, mask) => {
        const publicKey = made.publicKey.map((byte, i) => (i === at ? byte ^ mask : byte))
        const signature = made.signature.map((byte, i) => (i + 32 === at ? byte ^ mask : byte))
        expect(Native.verifyZip215(signature, made.message, publicKey)).toBe(
          Portable.verifyZip215(signature, made.message, publicKey),
        )
      }),
      { numRuns: mutations },
    )
  }

  const NEVER = "never accepts where noble refuses, on published edge cases and on mutations of every part"
  it(NEVER, () => neverSaysYesAlone(30))
  it(Rest.of("more mutations", NEVER), () => neverSaysYesAlone(300))

  // Under the neutral element as a key, R = S·B signs everything.
  it("accepts alone up to the last S below the order, and never the order", () => {
    const message = new Uint8Array(3)
    const publicKey = ed25519.Point.ZERO.toBytes()
    for (const s of [1n, 2n ** 252n - 1n, 2n ** 252n, 2n ** 252n + 1n, L - 2n, L - 1n]) {
      const signature = Uint8Array.of(...ed25519.Point.BASE.multiply(s).toBytes(), ...littleEndian(s))
      expect(asksNoble(() => expect(Native.verifyZip215(signature, message, publicKey)).toBe(true))).toBe(false)
    }
    const above = Uint8Array.of(...publicKey, ...littleEndian(L))
    expect([Native, Portable].map((each) => each.verifyZip215(above, message, publicKey))).toEqual([false, false])
  })

  it("refuses an S that is not below the order, regardless of the number it represents", () => {
    fc.assert(
      fc.property(torsioned, ({ signature, message, publicKey }) => {
        const s = BigInt(`0x${Buffer.from(signature.slice(32)).reverse().toString("hex")}`)
        const raised = Uint8Array.of(...signature.slice(0, 32), ...littleEndian(s + L))
        expect(Native.verifyZip215(raised, message, publicKey)).toBe(false)
      }),
      { numRuns: 30 },
    )
  })
})
