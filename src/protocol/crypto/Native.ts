/**
 * `#crypto` on Node: OpenSSL's SHA-256 and libsodium's Ed25519. `Portable.ts` has the same contract for browsers; a
 * test checks that the two agree on every input, except for the documented difference, `verifyNative`.
 */
import * as crypto from "node:crypto"
import { createRequire } from "node:module"
import * as ed25519 from "@noble/ed25519"
import { satisfiesCofactored } from "./Cofactored.js"
import * as HexDigits from "./HexDigits.js"
import * as NativeModule from "./NativeModule.js"

type Sodium = typeof import("sodium-native").default

const load = (): Sodium => {
  try {
    // `require` is faster: an import would first parse the dependencies for the names they export.
    return createRequire(import.meta.url)("sodium-native")
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new NativeModule.NotLoaded(NativeModule.complaint("sodium-native", "checks signatures", reason), { cause })
  }
}

const sodium = load()

const sha512 = (message: Uint8Array): Uint8Array<ArrayBuffer> =>
  new Uint8Array(crypto.createHash("sha512").update(message).digest())

ed25519.hashes.sha512 = sha512

type OneShotHash = (algorithm: string, data: Uint8Array, encoding: "hex") => string

// `crypto.hash` exists since Node 20.12 and is a third faster than a hash object. Older type definitions lack it.
const oneShot = (crypto as { readonly hash?: OneShotHash }).hash

export const sha256Hex: (bytes: Uint8Array) => string = oneShot
  ? (bytes) => oneShot("sha256", bytes, "hex")
  : (bytes) => crypto.createHash("sha256").update(bytes).digest("hex")

/** The hash of parts in sequence. Joining long parts first would cost as much as hashing them. */
export const sha256HexOf = (parts: ReadonlyArray<Uint8Array>): string => {
  const hash = crypto.createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest("hex")
}

export const sha256 = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(crypto.createHash("sha256").update(bytes).digest())

/** Hashes, keys and signatures are copied here: accessing the buffer of a short array costs more than converting it. */
const short = Buffer.alloc(64)

export const toHex = (bytes: Uint8Array): string => {
  const { length } = bytes
  if (length > short.length) return Buffer.from(bytes.buffer, bytes.byteOffset, length).toString("hex")
  short.set(bytes)
  return short.toString("hex", 0, length)
}

/** The caller must have checked that `hex` is hexadecimal and of even length. */
export const fromHex = (hex: string): Uint8Array => {
  const bytes = new Uint8Array(hex.length >>> 1)
  HexDigits.write(bytes, 0, hex)
  return bytes
}

export const randomBytes = (length: number): Uint8Array => new Uint8Array(crypto.randomBytes(length))

export const publicKeyOf = (seed: Uint8Array): Uint8Array => {
  const publicKey = new Uint8Array(32)
  sodium.crypto_sign_seed_keypair(publicKey, new Uint8Array(64), seed)
  return publicKey
}

/**
 * Whether a public key can come from a secret key: the canonical bytes of a point of the prime-order group. For other
 * bytes, either nobody can sign (not a point), anybody can (small order), or signatures are slow to verify (a
 * small-order part).
 */
export const isPointOfPrimeOrder = (publicKey: Uint8Array): boolean =>
  sodium.crypto_core_ed25519_is_valid_point(publicKey)

/**
 * The public key must belong to the seed. Passing it in halves the time of a signature, but a signature under another
 * public key would reveal the seed. `SecretKey` keeps the two together and is the only caller.
 */
export const sign = (message: Uint8Array, seed: Uint8Array, publicKey: Uint8Array): Uint8Array => {
  // Libsodium's secret key is the seed followed by its public key.
  const secretKey = new Uint8Array(64)
  secretKey.set(seed)
  secretKey.set(publicKey, 32)
  const signature = new Uint8Array(64)
  sodium.crypto_sign_detached(signature, message, secretKey)
  secretKey.fill(0)
  return signature
}

/** Fast, and stricter than the protocol: true means that ZIP-215 accepts, false is final only at admission. */
export const verifyNative = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean =>
  sodium.crypto_sign_verify_detached(signature, message, publicKey)

/**
 * A second native way to accept. Keys with a small-order part cost their owner nothing, and libsodium's verifier
 * refuses most of their signatures: with noble alone, a vertex full of them would keep every node busy six times as
 * long.
 */
const verifyCofactored = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean =>
  satisfiesCofactored(sodium, sha512, signature, message, publicKey)

/** ZIP-215 with S < L: the rule for everything in a vertex. Only noble rejects. */
export const verifyZip215 = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean =>
  verifyCofactored(signature, message, publicKey) || ed25519.verify(signature, message, publicKey, { zip215: true })
