/** Who must sign for an account, and how many have. Pure. */
import * as Address from "../../protocol/identity/Address.js"
import type { PublicKey } from "../../protocol/identity/Keys.js"
import type * as Transaction from "../../protocol/transaction/Transaction.js"
import type { Line } from "../terminal/Sheet.js"

/** Null for an account that its own key signs for. */
export type Policy = { readonly threshold: number; readonly keys: ReadonlyArray<PublicKey> } | null

type Signatures = ReadonlyArray<Transaction.KeySignature>

export const isSigner = (policy: Policy, account: Address.Address, key: PublicKey): boolean =>
  policy === null ? Address.fromPublicKey(key) === account : policy.keys.includes(key)

export const thresholdOf = (policy: Policy): number => policy?.threshold ?? 1

/** Drops signatures of other keys, for which a node would refuse the transaction. */
export const counted = (policy: Policy, account: Address.Address, signatures: Signatures): Signatures =>
  signatures.filter(({ publicKey }) => isSigner(policy, account, publicKey))

/** `1 of 2, still needs 1 of these keys`, and the keys that can still sign. */
export const progress = (policy: Policy, signatures: Signatures): ReadonlyArray<Line> => {
  const signed = signatures.map(({ publicKey }) => publicKey)
  const threshold = thresholdOf(policy)
  const missing = threshold - signed.length
  const others = policy?.keys.filter((key) => !signed.includes(key)) ?? []
  const state = `${signed.length} of ${threshold}`
  if (missing <= 0)
    return [
      ["signed", `${state}, ready for udg multisig submit`],
      ["by", signed],
    ]
  const needs = policy === null ? "the account's own key" : `${missing} of these keys`
  return [
    ["signed", `${state}, still needs ${needs}`],
    ["by", signed],
    ["may sign", others],
  ]
}
