/**
 * ZIP-215's own equation, 8·S·B = 8·R + 8·h·A, in libsodium's point arithmetic. Every point is first multiplied by
 * eight, so that a key with a small-order part ends up in the group where libsodium multiplies. Libsodium refuses
 * factors that are the identity, so this code handles those itself.
 */

export interface Arithmetic {
  crypto_core_ed25519_add(sum: Uint8Array, a: Uint8Array, b: Uint8Array): void
  crypto_core_ed25519_scalar_add(sum: Uint8Array, a: Uint8Array, b: Uint8Array): void
  crypto_core_ed25519_scalar_reduce(reduced: Uint8Array, wide: Uint8Array): void
  crypto_scalarmult_ed25519_noclamp(product: Uint8Array, scalar: Uint8Array, point: Uint8Array): void
  crypto_scalarmult_ed25519_base_noclamp(product: Uint8Array, scalar: Uint8Array): void
}

/** True means that ZIP-215 accepts. False can also mean that libsodium does not take the bytes; then noble decides. */
export const satisfiesCofactored = (
  sodium: Arithmetic,
  sha512: (bytes: Uint8Array) => Uint8Array,
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): boolean => {
  const r = signature.subarray(0, 32)
  const s = signature.subarray(32)
  /** L, the order of the base point, is 2^252 plus these little-endian bytes. */
  const low = [0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14]
  let difference = 0
  for (let i = 31; i >= 0 && difference === 0; i--) {
    difference = (s[i] ?? 0) - (i === 31 ? 0x10 : (low[i] ?? 0))
  }
  if (difference >= 0) return false
  try {
    const [a8, r8, s8] = [Uint8Array.from(publicKey), Uint8Array.from(r), Uint8Array.from(s)]
    for (let i = 0; i < 3; i++) {
      sodium.crypto_core_ed25519_add(a8, a8, a8)
      sodium.crypto_core_ed25519_add(r8, r8, r8)
      sodium.crypto_core_ed25519_scalar_add(s8, s8, s8)
    }
    const hashed = new Uint8Array(64 + message.length)
    hashed.set(r)
    hashed.set(publicKey, 32)
    hashed.set(message, 64)
    const challenge = new Uint8Array(32)
    sodium.crypto_core_ed25519_scalar_reduce(challenge, sha512(hashed))
    const identity = Uint8Array.of(1, ...new Uint8Array(31))
    const ha8 = Uint8Array.from(identity)
    if (a8.some((byte, i) => byte !== identity[i])) sodium.crypto_scalarmult_ed25519_noclamp(ha8, challenge, a8)
    const left = Uint8Array.from(identity)
    if (s8.some((byte) => byte !== 0)) sodium.crypto_scalarmult_ed25519_base_noclamp(left, s8)
    const right = new Uint8Array(32)
    sodium.crypto_core_ed25519_add(right, r8, ha8)
    return left.every((byte, i) => byte === right[i])
  } catch {
    // Libsodium throws on bytes that are not a point.
    return false
  }
}
