/**
 * The first bytes each side sends inside the encryption: its node key, and a signature over a value known only to the
 * two ends of this connection. A man in the middle has two connections and can forward neither proof.
 */
import { toHex } from "#crypto"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as Verification from "../../protocol/transaction/Verification.js"
import type { PeerId } from "../../replica/messages/Peer.js"

/** Which end makes the proof, so that neither can be handed its own proof back. */
export type Role = "dialler" | "listener"

/** For `exportKeyingMaterial`: 32 bytes derived from the connection's secrets. */
export const LABEL = "EXPORTER-udg-node"
export const BINDING_BYTES = 32

export const BYTES = Keys.PUBLIC_KEY_BYTES + Keys.SIGNATURE_BYTES

const SIGNATURE_DOMAIN = Binary.utf8("udg/node\0")
const ROLE: { readonly [role in Role]: number } = { dialler: 1, listener: 2 }

export const signedBytes = (key: Keys.PublicKey, role: Role, binding: Uint8Array): Uint8Array =>
  Hash.tagged(SIGNATURE_DOMAIN, [Binary.encode((writer) => writer.u8(ROLE[role]).raw(binding).hex(key))])

export const make = (key: Keys.Signer, role: Role, binding: Uint8Array): Uint8Array =>
  Binary.encode((writer) => writer.hex(key.publicKey).hex(key.sign(signedBytes(key.publicKey, role, binding))))

/** The peer whose key this proves; null if the proof is invalid. */
export const peerOf = (proof: Uint8Array, role: Role, binding: Uint8Array): PeerId | null => {
  if (proof.length !== BYTES) return null
  const publicKey = toHex(proof.subarray(0, Keys.PUBLIC_KEY_BYTES)) as Keys.PublicKey
  const signature = toHex(proof.subarray(Keys.PUBLIC_KEY_BYTES)) as Keys.Signature
  const message = signedBytes(publicKey, role, binding)
  return Verification.isStrictlyValid({ message, publicKey, signature }) ? (publicKey as string as PeerId) : null
}

export const idOf = ({ publicKey }: Pick<Keys.Signer, "publicKey">): PeerId => publicKey as string as PeerId
