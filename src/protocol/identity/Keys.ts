/** Ed25519 keys and signatures. Public values are lower-case hex; the secret one is an object that never prints. */

import { Option, type Schema } from "effect"
// biome-ignore lint/style/noRestrictedImports: a new key is random; the rule keeps `generate` out of deterministic code
import { fromHex, isPointOfPrimeOrder, publicKeyOf, randomBytes, sign, toHex } from "#crypto"
import type { Reader } from "../encoding/Binary.js"
import * as Hex from "../encoding/Hex.js"
import type * as Kinds from "../numbers/Kinds.js"

export type PublicKey = Kinds.PublicKey
export type Signature = Kinds.Signature

export const PUBLIC_KEY_BYTES = 32
export const SIGNATURE_BYTES = 64
export const SEED_BYTES = 32

export const PublicKey: Schema.Schema<PublicKey, string> = /* @__PURE__ */ Hex.schema<PublicKey>(
  "PublicKey",
  PUBLIC_KEY_BYTES,
  "an Ed25519 public key",
)

export const Signature: Schema.Schema<Signature, string> = /* @__PURE__ */ Hex.schema<Signature>(
  "Signature",
  SIGNATURE_BYTES,
  "an Ed25519 signature",
)

const COPY = /* @__PURE__ */ Symbol.for("udg/SecretKey")

/**
 * A secret key: the 32-byte Ed25519 seed. The bytes are private to the object, so no log line, error, trace or JSON can
 * show them. Only `toSecretHex` reveals them, and its name is easy to search for.
 */
export class SecretKey {
  /**
   * Whether this is a secret key of any copy of this class: the package's wallet is a bundle with a copy of its own.
   * The symbol comes from the global registry, so all copies share it.
   */
  static isSecretKey(value: unknown): value is SecretKey {
    return typeof value === "object" && value !== null && COPY in value
  }

  readonly #seed: Uint8Array
  readonly #publicKeyBytes: Uint8Array
  readonly publicKey: PublicKey

  private constructor(seed: Uint8Array) {
    this.#seed = seed
    this.#publicKeyBytes = publicKeyOf(seed)
    this.publicKey = toHex(this.#publicKeyBytes) as PublicKey
  }

  static generate(): SecretKey {
    return new SecretKey(randomBytes(SEED_BYTES))
  }

  static fromSeed(seed: Uint8Array): Option.Option<SecretKey> {
    return seed.length === SEED_BYTES ? Option.some(new SecretKey(seed.slice())) : Option.none()
  }

  static fromHex(text: string): Option.Option<SecretKey> {
    return Hex.isHex(text, SEED_BYTES) ? Option.some(new SecretKey(fromHex(text))) : Option.none()
  }

  get [COPY](): true {
    return true
  }

  sign(message: Uint8Array): Signature {
    return toHex(sign(message, this.#seed, this.#publicKeyBytes)) as Signature
  }

  toSecretHex(): string {
    return toHex(this.#seed)
  }

  toString(): string {
    return `SecretKey(of ${this.publicKey})`
  }

  toJSON(): string {
    return this.toString()
  }
}

/**
 * Signs with a key held in memory or elsewhere. The bytes are the whole statement with its domain, so a signer can
 * judge what it signs.
 */
export type Signer = Pick<SecretKey, "publicKey" | "sign">

/** A key that signs elsewhere and answers later; the program does not wait for it. */
export type SignerElsewhere = Pick<SecretKey, "publicKey"> & { readonly sign: null }

/** A signer that does not expose its key. */
export const signerOf = (key: SecretKey): Signer => ({
  publicKey: key.publicKey,
  sign: (message) => key.sign(message),
})

/**
 * Whether a secret key can belong to this public key. For keys that come without a signature. Transactions may contain
 * other keys, as ZIP-215 allows, since their signatures are verified.
 */
export const hasSecretKey = (publicKey: PublicKey): boolean => isPointOfPrimeOrder(fromHex(publicKey))

export const readPublicKey = (reader: Reader): PublicKey => reader.hex(PUBLIC_KEY_BYTES) as PublicKey

export const readSignature = (reader: Reader): Signature => reader.hex(SIGNATURE_BYTES) as Signature
