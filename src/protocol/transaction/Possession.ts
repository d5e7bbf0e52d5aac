/**
 * The proof that a validator holds the key that it changes to. The nonce binds the proof to one transaction, so nobody
 * can repeat it, and the account keeps others from naming the key as theirs.
 */
import * as Binary from "../encoding/Binary.js"
import type { Address } from "../identity/Address.js"
import * as Hash from "../identity/Hash.js"
import type { PublicKey, Signature, Signer } from "../identity/Keys.js"
import type { NetworkId } from "../identity/Network.js"
import type { Nonce } from "../numbers/Natural.js"

const SIGNATURE_DOMAIN = Binary.utf8("udg/possession\0")

export interface Claim {
  readonly account: Address
  readonly nonce: Nonce
}

export const signedBytes = (networkId: NetworkId, { account, nonce }: Claim, key: PublicKey): Uint8Array =>
  Hash.tagged(SIGNATURE_DOMAIN, [Binary.encode((writer) => writer.text8(networkId).hex(account).u64(nonce).hex(key))])

export const sign = (networkId: NetworkId, claim: Claim, key: Signer): Signature =>
  key.sign(signedBytes(networkId, claim, key.publicKey))
