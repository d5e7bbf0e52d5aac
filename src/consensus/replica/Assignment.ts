/** Which member of the committee proposes an account's transactions, so that normally only one does. Never judged. */
import type { Address } from "../../protocol/Address.js"
import type { EpochRecord } from "../../protocol/EpochRecord.js"

const WORD = 8

/** Spread by the epoch's seed, so that nobody chooses an account to go with a validator for longer than an epoch. */
const draw = ({ seed }: EpochRecord, account: Address): number => {
  let mixed = Number.parseInt(seed.slice(0, WORD), 16)
  for (let at = 0; at < account.length; at += WORD) {
    mixed = Math.imul(mixed ^ Number.parseInt(account.slice(at, at + WORD), 16), 0x9e3779b1)
    mixed ^= mixed >>> 15
  }
  return mixed >>> 0
}

export const proposerOf = (record: EpochRecord, account: Address): Address => {
  const member = record.members[draw(record, account) % record.members.length]
  if (member === undefined) throw new RangeError(`epoch ${record.epoch} has no members`)
  return member.address
}
