/** The four functions of sodium-native that this project calls; the package ships no types. */
declare module "sodium-native" {
  interface Sodium {
    crypto_sign_seed_keypair(publicKey: Uint8Array, secretKey: Uint8Array, seed: Uint8Array): void
    crypto_sign_detached(signature: Uint8Array, message: Uint8Array, secretKey: Uint8Array): void
    crypto_sign_verify_detached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean
  }
  const sodium: Sodium
  export default sodium
}
