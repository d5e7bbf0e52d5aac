/** The signers of a checkpoint within a committee, for verifying a checkpoint later. */
import type { Address } from "../identity/Address.js"
import type { Signature } from "../identity/Keys.js"
import type { Check } from "../transaction/Verification.js"
import * as Checkpoint from "./Checkpoint.js"
import * as EpochRecord from "./EpochRecord.js"

type IsValid = (check: Check) => boolean

/**
 * The members with valid signatures if they are a quorum of this committee, whoever else signed; otherwise undefined.
 * Verifies signatures only while a quorum is still possible.
 */
export const quorumOf = (
  record: EpochRecord.EpochRecord,
  { checkpoint, signatures }: Checkpoint.SignedCheckpoint,
  isValid: IsValid,
): ReadonlyArray<EpochRecord.Member> | undefined => {
  const total = EpochRecord.totalWeight(record)
  const byValidator = new Map<Address, Signature>(signatures.map(({ validator, signature }) => [validator, signature]))
  const signers = record.members.filter(({ address }) => byValidator.has(address))
  let weight = signers.reduce((sum, member) => sum + member.weight, 0)
  if (!EpochRecord.isQuorum(weight, total)) return undefined
  // Encoded once for all of them, because the closing checkpoint of a large committee has some kilobytes.
  const message = Checkpoint.signedBytes(checkpoint)
  const quorum: Array<EpochRecord.Member> = []
  for (const member of signers) {
    const signature = byValidator.get(member.address)
    if (signature !== undefined && isValid({ message, publicKey: member.publicKey, signature })) quorum.push(member)
    else weight -= member.weight
    if (!EpochRecord.isQuorum(weight, total)) return undefined
  }
  return quorum
}
