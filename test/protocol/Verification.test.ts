import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import { verifyNative, verifyZip215 } from "#crypto"
import * as Address from "../../src/protocol/identity/Address.js"
import { type PublicKey, SecretKey, type Signature } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Possession from "../../src/protocol/transaction/Possession.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import * as Rest from "../support/Rest.js"
import * as arbitrary from "./arbitraries.js"
import { makeChance } from "./codecLaws.js"
import { type Case, L, rfc8032, speccheck, zip215 } from "./crypto/published.js"

const network = "udg-test" as NetworkId
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"))

const checkOf = ({ publicKey, message, signature }: Omit<Case, "zip215" | "about">): Verification.Check => ({
  message: bytesOf(message),
  publicKey: publicKey as PublicKey,
  signature: signature as Signature,
})

const nativeOf = ({ message, publicKey, signature }: Verification.Check): boolean =>
  verifyNative(bytesOf(signature), message, bytesOf(publicKey))

const zip215Of = ({ message, publicKey, signature }: Verification.Check): boolean =>
  verifyZip215(bytesOf(signature), message, bytesOf(publicKey))

/** In a vertex ZIP-215 decides; at admission the native verifier, which is stricter (docs/protocol.md). */
const expectDecided = (check: Verification.Check, valid: boolean): void => {
  expect(Verification.isValid(check)).toBe(valid)
  expect(zip215Of(check)).toBe(valid)
  expect(Verification.isStrictlyValid(check)).toBe(nativeOf(check))
  if (nativeOf(check)) expect(valid).toBe(true)
}

const signatureWithS = (signature: string, s: bigint): string => {
  const bytes = Buffer.from(s.toString(16).padStart(64, "0"), "hex").reverse()
  return signature.slice(0, 64) + bytes.toString("hex")
}

const sOf = (signature: string): bigint =>
  BigInt(`0x${Buffer.from(signature.slice(64), "hex").reverse().toString("hex")}`)

describe("a signature judged by published vectors", () => {
  it.each(rfc8032)("holds for RFC 8032, $about", (published) => {
    expectDecided(checkOf(published), true)
    expect(Verification.isStrictlyValid(checkOf(published))).toBe(true)
  })

  it("holds in a vertex for all 196 pairs of small-order encodings of ZIP-215", () => {
    expect(zip215).toHaveLength(196)
    for (const published of zip215) expectDecided(checkOf(published), published.zip215)
  })

  it.each(speccheck)("is decided as published for speccheck case $about", (published) => {
    expectDecided(checkOf(published), published.zip215)
    expect(Verification.isStrictlyValid(checkOf(published))).toBe(published.libsodium)
  })

  it.each(rfc8032)("does not hold with S + n · L for any n that fits, $about", (published) => {
    for (let s = sOf(published.signature) + L; s < 2n ** 256n; s += L) {
      const check = checkOf({ ...published, signature: signatureWithS(published.signature, s) })
      expect(Verification.isValid(check)).toBe(false)
      expect(Verification.isStrictlyValid(check)).toBe(false)
    }
  })

  it("does not hold with S = L where S = 0 would", () => {
    for (const published of zip215.slice(0, 14)) {
      expect(Verification.isValid(checkOf(published))).toBe(true)
      expectDecided(checkOf({ ...published, signature: signatureWithS(published.signature, L) }), false)
      expectDecided(checkOf({ ...published, signature: signatureWithS(published.signature, L - 1n) }), false)
    }
  })

  it("does not hold for a key or an R that is not a point", () => {
    const [published] = rfc8032
    if (published === undefined) throw new Error("no vector")
    // y = 2 is on no point of the curve.
    const noPoint = `02${"00".repeat(31)}`
    expectDecided(checkOf({ ...published, publicKey: noPoint }), false)
    expectDecided(checkOf({ ...published, signature: noPoint + published.signature.slice(64) }), false)
  })
})

describe("a native acceptance", () => {
  const isAYes = (signatures: number): void => {
    const chance = makeChance(0xed25519)
    const [key] = fc.sample(arbitrary.secretKey, { numRuns: 1, seed: 1 })
    if (key === undefined) throw new Error("no key")
    let yes = 0
    for (let i = 0; i < signatures; i++) {
      const message = Uint8Array.from({ length: 1 + chance.below(64) }, () => chance.below(256))
      const parts = [bytesOf(key.sign(message)), message.slice(), bytesOf(key.publicKey)] as const
      const kind = chance.below(100)
      if (kind > 0) {
        const part = chance.pick(parts)
        const at = chance.below(part.length)
        part[at] = (part[at] ?? 0) ^ (1 << chance.below(8))
      }
      const [signature, mutated, publicKey] = parts
      const native = verifyNative(signature, mutated, publicKey)
      if (native) yes++
      // The slow verifier checks every acceptance, and one rejection in a hundred.
      if (native || kind === 1) expect(verifyZip215(signature, mutated, publicKey)).toBe(native)
    }
    expect(yes).toBeGreaterThan(signatures / 200)
  }

  const named = (signatures: number) =>
    `is a yes of ZIP-215 for ${signatures} signatures, good and mutated in every part`
  it(named(1_500), () => isAYes(1_500))
  it(Rest.of("more signatures", named(10_000)), () => isAYes(10_000))
})

const alice = Option.getOrThrow(SecretKey.fromHex("a1".repeat(32)))
const bob = Option.getOrThrow(SecretKey.fromHex("b0".repeat(32)))

const unsigned = (nonce: number): Transaction.Unsigned => ({
  from: Address.fromPublicKey(alice.publicKey),
  nonce: Natural.nonce(nonce),
  fee: Sats.ZERO,
  operation: { _tag: "UnstakeTx" },
})

const good = Transaction.sign(network, unsigned(0), alice)
/** The same transaction, with the same id, under an invalid signature. */
const bad = Transaction.make(network, unsigned(0), {
  _tag: "SingleKey",
  publicKey: alice.publicKey,
  signature: alice.sign(new Uint8Array(0)),
})

/** The verdict of a node with this memory. */
const isValid = (verified: Verification.VerifiedTransactions, transaction: Transaction.Transaction): boolean => {
  if (verified.has(transaction)) return true
  const holds = Verification.checksOf(network, transaction).every(Verification.isValid)
  if (holds) verified.add(transaction)
  return holds
}

describe("a remembered verification", () => {
  it("does not vouch for the same transaction under another signature, in either order", () => {
    expect(bad.id).toBe(good.id)
    for (const order of [
      [good, bad, good],
      [bad, good, bad],
    ]) {
      const verified = new Verification.VerifiedTransactions(10)
      for (const transaction of order) {
        expect(isValid(verified, transaction)).toBe(transaction === good)
      }
      expect(verified.size).toBe(1)
    }
  })

  it("does not vouch for the same bytes on another network", () => {
    const verified = new Verification.VerifiedTransactions(10)
    verified.add(good)
    expect(verified.has(Either.getOrThrow(Transaction.decode(network, good.encoded)))).toBe(true)
    expect(verified.has(Either.getOrThrow(Transaction.decode("udg-other" as NetworkId, good.encoded)))).toBe(false)
  })

  it("does not vouch for an additional or different signature of a policy", () => {
    const first = Transaction.cosign(network, unsigned(1), alice)
    const second = Transaction.cosign(network, unsigned(1), bob)
    const forged = { ...second, signature: first.signature }
    const signedBy = (...signatures: ReadonlyArray<Transaction.KeySignature>) =>
      Transaction.make(network, unsigned(1), { _tag: "Policy", signatures })
    const verified = new Verification.VerifiedTransactions(10)
    expect(isValid(verified, signedBy(first, second))).toBe(true)
    expect(isValid(verified, signedBy(first, forged))).toBe(false)
    expect(isValid(verified, signedBy(forged))).toBe(false)
    expect(isValid(verified, signedBy(second))).toBe(true)
    // One authorization per id, the latest.
    expect(verified.size).toBe(1)
    expect(verified.has(signedBy(first, second))).toBe(false)
  })

  it("is forgotten, the oldest first, once there are too many", () => {
    const verified = new Verification.VerifiedTransactions(4)
    const transactions = [0, 1, 2, 3, 4].map((nonce) => Transaction.sign(network, unsigned(nonce), alice))
    const sizes = transactions.map((transaction) => {
      isValid(verified, transaction)
      return verified.size
    })
    expect(sizes).toEqual([1, 2, 3, 4, 3])
    expect(transactions.map((transaction) => verified.has(transaction))).toEqual([false, false, true, true, true])
  })

  it("takes the room of as many transactions as it has signatures", () => {
    const verified = new Verification.VerifiedTransactions(8)
    const shared = [0, 1, 2, 3, 4].map((nonce) => {
      const signatures = [alice, bob].map((key) => Transaction.cosign(network, unsigned(nonce), key))
      return Transaction.make(network, unsigned(nonce), { _tag: "Policy", signatures })
    })
    for (const transaction of shared) verified.add(transaction)
    expect(shared.map((transaction) => verified.has(transaction))).toEqual([false, false, true, true, true])
  })

  it("is reused, and not repeated, when it was made elsewhere", () => {
    const verified = new Verification.VerifiedTransactions(10)
    verified.add(bad)
    expect(isValid(verified, bad)).toBe(true)
  })

  it("displaces nothing when it is remembered again", () => {
    const verified = new Verification.VerifiedTransactions(2)
    const [first, second] = [0, 1].map((nonce) => Transaction.sign(network, unsigned(nonce), alice))
    if (first === undefined || second === undefined) throw new Error("no transactions")
    for (const transaction of [first, second, second, second]) verified.add(transaction)
    expect([first, second].every((transaction) => verified.has(transaction))).toBe(true)
  })
})

describe("the checks of a transaction", () => {
  it("cover the proof of a new validator key, for one network, account, nonce and key", () => {
    const [key, next, another] = [SecretKey.generate(), SecretKey.generate(), SecretKey.generate()]
    const account = Address.fromPublicKey(key.publicKey)
    const nonce = Natural.nonce(7)
    const isValidWith = (proof: Signature, validatorKey = next.publicKey, nonce = Natural.nonce(7), on = network) => {
      const operation = { _tag: "RotateKeyTx", validatorKey, proof } as const
      const transaction = Transaction.sign(on, { from: account, nonce, fee: Sats.make(1_000), operation }, key)
      const checks = Verification.checksOf(on, transaction)
      expect(checks.map(({ publicKey }) => publicKey)).toEqual([key.publicKey, validatorKey])
      return [Verification.isValid, Verification.isStrictlyValid].map((isValid) => checks.every(isValid))
    }
    const proof = Possession.sign(network, { account, nonce }, next)
    expect(isValidWith(proof)).toEqual([true, true])
    const elsewhere = "udg-other" as NetworkId
    const bob = Address.fromPublicKey(another.publicKey)
    for (const valid of [
      isValidWith(proof, another.publicKey),
      isValidWith(proof, next.publicKey, Natural.nonce(8)),
      isValidWith(proof, next.publicKey, nonce, elsewhere),
      isValidWith(Possession.sign(network, { account: bob, nonce }, next)),
      isValidWith(Possession.sign(network, { account, nonce }, another)),
      isValidWith(key.sign(Possession.signedBytes(network, { account, nonce }, next.publicKey))),
    ]) {
      expect(valid).toEqual([false, false])
    }
  })

  it("cover every key over the same signed bytes", () => {
    fc.assert(
      fc.property(arbitrary.transaction(network), (transaction) => {
        const isRotation = transaction.operation._tag === "RotateKeyTx"
        const checks = Verification.checksOf(network, transaction).slice(0, isRotation ? -1 : undefined)
        const proofs = Transaction.keySignatures(transaction.authorization)
        expect(checks.length).toBeGreaterThan(0)
        expect(checks.map(({ publicKey, signature }) => ({ publicKey, signature }))).toStrictEqual(
          proofs.map(({ publicKey, signature }) => ({ publicKey, signature })),
        )
        for (const { message } of checks) expect(message).toStrictEqual(Transaction.signedBytes(network, transaction))
      }),
    )
  })
})
