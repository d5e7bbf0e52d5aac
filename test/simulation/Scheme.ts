/**
 * Signatures in a run: by default a keyed hash that takes a microsecond. The hash needs no secret, but the modelled
 * adversaries cannot forge, because they only hold their own `Signer`s. Marked seeds use real Ed25519.
 */
import { Option } from "effect"
import { fromHex, sha256Hex } from "#crypto"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import type { PublicKey, Signature } from "../../src/protocol/identity/Keys.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import * as FakeKeys from "../consensus/FakeKeys.js"

/** `SecretKey` satisfies this interface. */
export interface Signer {
  readonly publicKey: PublicKey
  sign(message: Uint8Array): Signature
}

export interface Scheme {
  /** The same name gives the same key in every run. */
  readonly signerOf: (name: string) => Signer
  readonly isValid: (check: Verification.Check) => boolean
  readonly isStrictlyValid: (check: Verification.Check) => boolean
}

export const fast: Scheme = {
  signerOf: (name) => {
    const publicKey = FakeKeys.publicKeyOf(name)
    return { publicKey, sign: FakeKeys.signWith(publicKey) }
  },
  isValid: FakeKeys.isValid,
  isStrictlyValid: FakeKeys.isValid,
}

export const ed25519: Scheme = {
  signerOf: (name) => Option.getOrThrow(SecretKey.fromSeed(fromHex(sha256Hex(Binary.utf8(`secret key of ${name}`))))),
  isValid: Verification.isValid,
  isStrictlyValid: Verification.isStrictlyValid,
}
