/**
 * `#crypto` on Node: OpenSSL's SHA-256 and libsodium's Ed25519. `Portable.ts` is the same contract for browsers; a test
 * holds the two equal on every input except the documented one, `verifyNative`.
 */
import * as crypto from "node:crypto"
import * as ed25519 from "@noble/ed25519"
import sodium from "sodium-native"

ed25519.hashes.sha512 = (message) => new Uint8Array(crypto.createHash("sha512").update(message).digest())

type OneShotHash = (algorithm: string, data: Uint8Array, encoding: "hex") => string

// `crypto.hash` came with Node 20.12 and is a third faster than a hash object; older type definitions do not know it.
const oneShot = (crypto as { readonly hash?: OneShotHash }).hash

export const sha256Hex: (bytes: Uint8Array) => string = oneShot
  ? (bytes) => oneShot("sha256", bytes, "hex")
  : (bytes) => crypto.createHash("sha256").update(bytes).digest("hex")

export const sha256 = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(crypto.createHash("sha256").update(bytes).digest())

export const toHex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")

/** The caller has checked that `hex` is hexadecimal and of even length. */
export const fromHex = (hex: string): Uint8Array => {
  const bytes = new Uint8Array(hex.length >>> 1)
  Buffer.from(bytes.buffer).write(hex, "hex")
  return bytes
}

export const randomBytes = (length: number): Uint8Array => new Uint8Array(crypto.randomBytes(length))

export const publicKeyOf = (seed: Uint8Array): Uint8Array => {
  const publicKey = new Uint8Array(32)
  sodium.crypto_sign_seed_keypair(publicKey, new Uint8Array(64), seed)
  return publicKey
}

/**
 * The public key must be that of the seed: handing it over halves the time of a signature, and a signature under another
 * one would give the seed away. `SecretKey` keeps the two together and is the only caller.
 */
export const sign = (message: Uint8Array, seed: Uint8Array, publicKey: Uint8Array): Uint8Array => {
  // What libsodium calls the secret key: the seed and its public key.
  const secretKey = new Uint8Array(64)
  secretKey.set(seed)
  secretKey.set(publicKey, 32)
  const signature = new Uint8Array(64)
  sodium.crypto_sign_detached(signature, message, secretKey)
  secretKey.fill(0)
  return signature
}

/** Fast, and stricter than the protocol: a yes is a yes of ZIP-215, a no is final only at the door. */
export const verifyNative = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean =>
  sodium.crypto_sign_verify_detached(signature, message, publicKey)

/** ZIP-215 with S < L: what decides for whatever stands in a vertex. */
export const verifyZip215 = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean =>
  ed25519.verify(signature, message, publicKey, { zip215: true })
