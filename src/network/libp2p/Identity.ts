/**
 * Noise for peers whose key is an Ed25519 key, as every node's is. The library reads keys of any kind and length, and computes
 * with them before anybody can refuse the peer. So the handshake is looked at as soon as it is decrypted.
 */
import { type ICryptoInterface, noise } from "@chainsafe/libp2p-noise"
import { defaultCrypto } from "@chainsafe/libp2p-noise/crypto"

/** The key as field 1, in 36 bytes: its kind as field 1, Ed25519, and its 32 bytes as field 2. */
const KEY = Uint8Array.of(0x0a, 36, 0x08, 1, 0x12, 32)
const SIGNATURE_AT = KEY.length + 32
/** The signature as field 2. */
const SIGNATURE = Uint8Array.of(0x12, 64)
const EXTENSIONS_AT = SIGNATURE_AT + SIGNATURE.length + 64
/** The tag of field 4. */
const EXTENSIONS = 0x22
/** A varint byte below this is the last one. No node names so many extensions that they need a second one. */
const LAST = 0x80
/** The other secret in a handshake. */
const STATIC_KEY_BYTES = 32

export class NoNode extends Error {}

const startsWith = (bytes: Uint8Array, at: number, expected: Uint8Array): boolean =>
  expected.every((byte, i) => bytes[at + i] === byte)

/** Fails unless this is what a node says of itself in a handshake: key, signature and extensions, once each. */
export const inspect = (payload: Uint8Array): void => {
  const rest = payload.length - EXTENSIONS_AT
  const length = payload[EXTENSIONS_AT + 1] ?? 0
  const isWhole = rest === 0 || (payload[EXTENSIONS_AT] === EXTENSIONS && length < LAST && rest === length + 2)
  if (!startsWith(payload, 0, KEY) || !startsWith(payload, SIGNATURE_AT, SIGNATURE) || !isWhole) {
    throw new NoNode("the key in its handshake is not an Ed25519 key")
  }
}

const crypto: ICryptoInterface = {
  ...defaultCrypto,
  chaCha20Poly1305Decrypt: (ciphertext, nonce, ad, k, dst) => {
    const plaintext = defaultCrypto.chaCha20Poly1305Decrypt(ciphertext, nonce, ad, k, dst)
    // Only within a handshake is there something that a ciphertext is bound to.
    if (ad.length > 0 && plaintext.length !== STATIC_KEY_BYTES) inspect(plaintext.subarray())
    return plaintext
  },
}

export const encrypter = noise({ crypto })
