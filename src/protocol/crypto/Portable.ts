/** `#crypto` in browsers: noble alone, with the same contract as `Native.ts`. */
import * as ed25519 from "@noble/ed25519"
import { sha256 as nobleSha256, sha512 } from "@noble/hashes/sha2.js"
import { bytesToHex, hexToBytes, randomBytes as nobleRandomBytes } from "@noble/hashes/utils.js"

ed25519.hashes.sha512 = sha512

export const sha256 = (bytes: Uint8Array): Uint8Array => nobleSha256(bytes)

export const sha256Hex = (bytes: Uint8Array): string => bytesToHex(nobleSha256(bytes))

export const sha256HexOf = (parts: ReadonlyArray<Uint8Array>): string => {
  const hash = nobleSha256.create()
  for (const part of parts) hash.update(part)
  return bytesToHex(hash.digest())
}

export const toHex = (bytes: Uint8Array): string => bytesToHex(bytes)

export const fromHex = (hex: string): Uint8Array => hexToBytes(hex)

export const randomBytes = (length: number): Uint8Array => nobleRandomBytes(length)

export const publicKeyOf = (seed: Uint8Array): Uint8Array => ed25519.getPublicKey(seed)

export const isPointOfPrimeOrder = (publicKey: Uint8Array): boolean => {
  try {
    const point = ed25519.Point.fromBytes(publicKey)
    return !point.isSmallOrder() && point.isTorsionFree()
  } catch {
    // Noble throws on bytes that are not a point.
    return false
  }
}

/** Derives the public key again; the parameter is part of the contract. */
export const sign = (message: Uint8Array, seed: Uint8Array, _publicKey: Uint8Array): Uint8Array =>
  ed25519.sign(message, seed)

export const verifyZip215 = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean =>
  ed25519.verify(signature, message, publicKey, { zip215: true })

/** The protocol's own rule, since there is no native verifier here. */
export const verifyNative = verifyZip215
