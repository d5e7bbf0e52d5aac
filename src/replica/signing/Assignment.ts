/**
 * Assigns each account's transactions to one proposing member, so that normally only one proposes them. Validity never
 * depends on it.
 */

import type { EpochRecord } from "../../protocol/epoch/EpochRecord.js"
import type { Address } from "../../protocol/identity/Address.js"

/** 32-bit FNV-1a: fast enough to run for every sender in the mempool in every round. */
const mixed = (start: number, text: string): number => {
  let hash = start
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

/**
 * Seeded by the epoch, so that an account ground to match a validator helps for one epoch at most. Counting on from
 * there gives every member its turn.
 */
export const assignment = ({ seed, members, epoch }: EpochRecord): ((account: Address, turn?: number) => Address) => {
  const start = mixed(0x811c9dc5, seed)
  return (account, turn = 0) => {
    const member = members[(mixed(start, account) + turn) % members.length]
    if (member === undefined) throw new RangeError(`epoch ${epoch} has no members`)
    return member.address
  }
}
