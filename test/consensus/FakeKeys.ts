/**
 * A signature scheme for tests: fast, deterministic and insecure. The public key is enough to sign, so a test can play
 * any validator. Only invalid signatures must be recognizable.
 */
import { sha256Hex } from "#crypto"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import type { PublicKey, Signature } from "../../src/protocol/identity/Keys.js"
import type { Check } from "../../src/protocol/transaction/Verification.js"

export const publicKeyOf = (name: string): PublicKey => sha256Hex(Binary.utf8(`fake key of ${name}`)) as PublicKey

export const signWith =
  (publicKey: PublicKey) =>
  (message: Uint8Array): Signature => {
    const half = sha256Hex(Binary.encode((writer) => writer.hex(publicKey).raw(message)))
    return `${half}${half}` as Signature
  }

export const isValid = ({ message, publicKey, signature }: Check): boolean => signWith(publicKey)(message) === signature
