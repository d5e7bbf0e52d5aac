/** Which member of the committee proposes an account's transactions, so that normally only one does. Never judged. */

import type { EpochRecord } from "../../protocol/epoch/EpochRecord.js"
import type { Address } from "../../protocol/identity/Address.js"

/** FNV-1a over 32 bits: asked for every sender of the mempool in every round. */
const mixed = (start: number, text: string): number => {
  let hash = start
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

/** Spread by the epoch's seed, so that nobody chooses an account to go with a validator for longer than an epoch. */
export const assignment = ({ seed, members, epoch }: EpochRecord): ((account: Address) => Address) => {
  const start = mixed(0x811c9dc5, seed)
  return (account) => {
    const member = members[mixed(start, account) % members.length]
    if (member === undefined) throw new RangeError(`epoch ${epoch} has no members`)
    return member.address
  }
}
