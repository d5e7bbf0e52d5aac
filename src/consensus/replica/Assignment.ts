/** Which members of the committee propose an account's transactions, so that normally only one does. Never judged. */
import type { Address } from "../../protocol/Address.js"
import type { EpochRecord } from "../../protocol/EpochRecord.js"

/** FNV-1a over 32 bits: asked for every sender of the mempool in every round. */
const mixed = (start: number, text: string): number => {
  let hash = start
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

/**
 * Whose turn it is first, at `turn` 0, and next where that one is not there. Spread by the epoch's seed, so that nobody
 * chooses an account to go with a validator for longer than an epoch.
 */
export const assignment = ({ seed, members, epoch }: EpochRecord): ((account: Address, turn?: number) => Address) => {
  const start = mixed(0x811c9dc5, seed)
  return (account, turn = 0) => {
    const member = members[(mixed(start, account) + turn) % members.length]
    if (member === undefined) throw new RangeError(`epoch ${epoch} has no members`)
    return member.address
  }
}
