/**
 * The first bytes inside the encryption, from each side: its node's key, and a signature by that key over what only the
 * two ends of this very connection know. Whoever sits in between has two connections, and can forward neither proof.
 */
import { toHex } from "#crypto"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as Verification from "../../protocol/transaction/Verification.js"
import type { PeerId } from "../../replica/messages/Peer.js"

/** Which end makes the proof: neither can be handed its own proof back. */
export type Role = "dialler" | "listener"

/** For `exportKeyingMaterial`: 32 bytes from the secrets of the connection. */
export const LABEL = "EXPORTER-udg-node"
export const BINDING_BYTES = 32

export const BYTES = Keys.PUBLIC_KEY_BYTES + Keys.SIGNATURE_BYTES

const SIGNATURE_DOMAIN = Binary.utf8("udg/node\0")
const ROLE: { readonly [role in Role]: number } = { dialler: 1, listener: 2 }

export const signedBytes = (key: Keys.PublicKey, role: Role, binding: Uint8Array): Uint8Array =>
  Hash.tagged(SIGNATURE_DOMAIN, [Binary.encode((writer) => writer.u8(ROLE[role]).raw(binding).hex(key))])

export const make = (key: Keys.Signer, role: Role, binding: Uint8Array): Uint8Array =>
  Binary.encode((writer) => writer.hex(key.publicKey).hex(key.sign(signedBytes(key.publicKey, role, binding))))

/** The peer that proves its key; null if the proof does not hold. */
export const peerOf = (proof: Uint8Array, role: Role, binding: Uint8Array): PeerId | null => {
  if (proof.length !== BYTES) return null
  const publicKey = toHex(proof.subarray(0, Keys.PUBLIC_KEY_BYTES)) as Keys.PublicKey
  const signature = toHex(proof.subarray(Keys.PUBLIC_KEY_BYTES)) as Keys.Signature
  const message = signedBytes(publicKey, role, binding)
  return Verification.isStrictlyValid({ message, publicKey, signature }) ? (publicKey as string as PeerId) : null
}

/** The peer id of the node with this key. */
export const idOf = ({ publicKey }: Pick<Keys.Signer, "publicKey">): PeerId => publicKey as string as PeerId
