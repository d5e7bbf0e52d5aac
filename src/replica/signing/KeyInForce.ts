/** Which of a validator's keys signs in an epoch. It changes with the first round after a change of the key. */
import type * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import * as Address from "../../protocol/identity/Address.js"
import type { PublicKey } from "../../protocol/identity/Keys.js"

/** `Reads` of the ledger. */
export interface Known {
  readonly accountOf: (validator: Address.Address) => Address.Address
  readonly account: (address: Address.Address) => { readonly publicKey: PublicKey | null }
}

/** The account's newest key, which takes effect with a later epoch if another one has the seat. */
export const newest = (held: Address.Address, read: Known): Address.Address => {
  const { publicKey } = read.account(read.accountOf(held))
  return publicKey === null ? held : Address.fromPublicKey(publicKey)
}

/**
 * The key with a seat in the running epoch or, without a seat, the newest key of the account, whose heartbeats count.
 * `held` is any key of the validator.
 */
export const of = (held: Address.Address, { members }: EpochRecord.EpochRecord, read: Known): Address.Address => {
  const account = read.accountOf(held)
  return members.find(({ address }) => read.accountOf(address) === account)?.address ?? newest(held, read)
}
