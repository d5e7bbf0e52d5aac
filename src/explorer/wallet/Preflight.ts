/** Predicts from the node's state why a signed transaction would fail. The node itself decides. */
import type * as Wallet from "../../client/Wallet.js"
import type { NetworkInfo } from "../live/Network.js"
import { type Answer, isMissing, node } from "../live/Node.js"
import * as Words from "../show/Words.js"

type Holder = Pick<Answer<"core", "balance">, "address_bech32" | "balance" | "staked" | "name" | "nonce" | "next_nonce">
type Info = Pick<NetworkInfo, "parameters">

export const SEVERAL_KEYS =
  "several keys sign for this account, and this page signs with one; use `udg multisig` on the signers' machines"

const coins = (sats: number): string => `${Words.coins(sats)} UDG`

/** What the balance loses besides the fee. A payment to oneself stays. */
export const spent = (signed: Wallet.SignedTransaction, { parameters }: Info): number => {
  switch (signed.type) {
    case "Transfer":
      return signed.to === signed.from ? 0 : signed.amount
    case "StakeTx":
    case "DelegateTx":
      return signed.amount
    case "CreateProposalTx":
      return parameters.proposal_bond_sats
    default:
      return 0
  }
}

/** Whether the node has it. */
const has = (answer: Promise<unknown>): Promise<boolean> =>
  answer.then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false
      throw error
    },
  )

const ofType = async (
  signed: Wallet.SignedTransaction,
  { parameters }: Info,
  holder: Holder,
): Promise<string | undefined> => {
  switch (signed.type) {
    case "DelegateTx": {
      const least = parameters.min_delegation_sats
      return signed.amount < least ? `a delegation is at least ${coins(least)}` : undefined
    }
    case "UnstakeTx":
    case "SetCommissionTx":
      return holder.staked === 0 ? "this account has no stake" : undefined
    case "UndelegateTx":
      return (await has(node.delegation.delegationOf({ path: { address: holder.address_bech32 } })))
        ? undefined
        : "this account has no delegation"
    case "RegisterNameTx":
      if (holder.name !== null) return `this account has the name @${holder.name} already`
      return (await has(node.core.balance({ path: { address: `@${signed.name}` } })))
        ? `@${signed.name} belongs to another account`
        : undefined
    default:
      return undefined
  }
}

export const of = async (
  signed: Wallet.SignedTransaction,
  info: Info,
  holder: Holder,
  total: number,
): Promise<ReadonlyArray<string>> => {
  const reason = await ofType(signed, info, holder)
  return [
    ...(total > holder.balance ? [`it needs ${coins(total)}, but the account has ${coins(holder.balance)}`] : []),
    ...(reason === undefined ? [] : [reason]),
  ]
}
