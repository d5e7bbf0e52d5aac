/** The functions of sodium-native that this project calls; the package ships no types. */
declare module "sodium-native" {
  interface Sodium {
    crypto_sign_seed_keypair(publicKey: Uint8Array, secretKey: Uint8Array, seed: Uint8Array): void
    crypto_sign_detached(signature: Uint8Array, message: Uint8Array, secretKey: Uint8Array): void
    crypto_sign_verify_detached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean
    crypto_core_ed25519_is_valid_point(point: Uint8Array): boolean
    crypto_core_ed25519_add(sum: Uint8Array, a: Uint8Array, b: Uint8Array): void
    crypto_core_ed25519_scalar_add(sum: Uint8Array, a: Uint8Array, b: Uint8Array): void
    crypto_core_ed25519_scalar_reduce(reduced: Uint8Array, wide: Uint8Array): void
    crypto_scalarmult_ed25519_noclamp(product: Uint8Array, scalar: Uint8Array, point: Uint8Array): void
    crypto_scalarmult_ed25519_base_noclamp(product: Uint8Array, scalar: Uint8Array): void
  }
  const sodium: Sodium
  export default sodium
}
