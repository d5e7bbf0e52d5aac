/** Turns typed fields into a transaction that the node accepts. */
import * as Fee from "../../client/Fee.js"
import type * as Wallet from "../../client/Wallet.js"
import { InvalidInput } from "../../client/Wallet.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type { NetworkInfo } from "../live/Network.js"
import { node, reasonOf } from "../live/Node.js"
import * as Words from "../show/Words.js"
import type { Action, Typed } from "./Action.js"
import * as Preflight from "./Preflight.js"

/** Only the node can look up names. The signed transaction contains the address. */
const resolved = async (text: string): Promise<string> => {
  if (!text.startsWith("@")) return text
  return (await node.core.balance({ path: { address: text } })).address_bech32
}

export interface Draft {
  readonly signed: Wallet.SignedTransaction
  /** What the balance loses besides the fee. */
  readonly spentSats: number
  readonly balanceSats: number
  /** Why the transaction would fail, as far as the node can tell now. */
  readonly obstacles: ReadonlyArray<string>
  readonly summary: string
  readonly feeSats: number
  /** The part of the fee that pays for the recipient's new account. */
  readonly forAccount: number
  /** Far above the usual fee, by mistake or because the node proposed it. */
  readonly isDear: boolean
  readonly usualSats: number
  /** Without the price of a new account. */
  readonly leastSats: number
}

/** A name with its address according to the node. Only the address is signed. */
const named = (written: string, resolved: string): string =>
  written === resolved ? written : `${written} (${resolved})`

/** The node's record of a transfer's recipient; undefined for other types. */
const recipientOf = async (signed: Wallet.SignedTransaction): Promise<Fee.Recipient | undefined> =>
  signed.type === "Transfer" ? node.core.balance({ path: { address: signed.to } }) : undefined

/**
 * Signs with the account's next nonce, this fee, and the price of the account that the transfer creates. Nothing leaves
 * the browser yet.
 */
export const draft = async (
  action: Action,
  info: NetworkInfo,
  account: Wallet.Account,
  typed: Typed,
  typedFee: number,
): Promise<Draft> => {
  const fields = action.fields(info, typed)
  const entries = await Promise.all(
    fields.map(async ({ name, kind }) => {
      const value = typed[name]?.trim() ?? ""
      return [name, kind === "account" ? await resolved(value) : value] as const
    }),
  )
  const complete = Object.fromEntries(entries)
  const shown = Object.fromEntries(entries.map(([name, value]) => [name, named(typed[name]?.trim() ?? "", value)]))
  const holder = await node.core.balance({ path: { address: account.addressBech32 } })
  if (holder.is_smart_account) throw new InvalidInput(Preflight.SEVERAL_KEYS)
  const { next_nonce: nonce } = holder
  const cheaper = action.sign(account, complete, { nonce, fee: typedFee })
  const recipient = await recipientOf(cheaper)
  const forAccount = Fee.forAccount(info.parameters, recipient)
  const feeSats = typedFee + forAccount
  const signed = forAccount === 0 ? cheaper : action.sign(account, complete, { nonce, fee: feeSats })
  const spentSats = Preflight.spent(signed, info)
  return {
    signed,
    spentSats,
    balanceSats: holder.balance,
    obstacles: await Preflight.of(signed, info, holder, spentSats + feeSats),
    summary: action.summary({ ...typed, ...shown }),
    feeSats,
    forAccount,
    isDear: Fee.isDear(signed.type, feeSats, recipient),
    usualSats: Fee.usual(signed.type, recipient),
    leastSats: Fee.asked(signed.type, info.parameters),
  }
}

/** The maximum that the account can pay at this fee, as a user types it. A new recipient can cost more. */
export const most = async (
  { type }: Action,
  { parameters }: NetworkInfo,
  account: Wallet.Account,
  typed: Typed,
  typedFee: number,
): Promise<string> => {
  const to = typed["to"]?.trim() ?? ""
  if (type === "Transfer" && to === "") throw new InvalidInput("enter the recipient first: a new account costs more")
  const { balance } = await node.core.balance({ path: { address: account.addressBech32 } })
  const recipient = type === "Transfer" ? await node.core.balance({ path: { address: to } }) : undefined
  const left = balance - typedFee - Fee.forAccount(parameters, recipient)
  if (left <= 0) throw new InvalidInput("the balance does not cover the fee")
  return Words.exactCoins(left)
}

/** The fee in words, compared with the network's minimum. */
export const feeInWords = (feeSats: number, leastSats: number): string => {
  if (leastSats === 0) return "none: this type is free"
  if (feeSats < leastSats) return "below the network's minimum"
  const times = feeSats / leastSats
  const much = times === 1 ? "the network's minimum" : `${Words.count(times)} times the minimum`
  return `${much}; it is charged even if the transaction fails`
}

/** Returns the hash of the transaction. */
export const submit = async ({ signed }: Draft): Promise<string> =>
  (await node.transactions.submit({ payload: signed })).tx_hash

export const faucet = async (address: string, amount: number): Promise<string> =>
  (await node.core.faucet({ payload: { address, amount: Sats.make(amount) } })).tx_hash

/** The node writes amounts in both units; the wallet uses coins. */
const inCoins = (message: string): string => message.replaceAll(/ \(\d+ sats\)/g, "")

/** A failure's reason, as a sentence. */
export const complaint = (error: unknown): string =>
  inCoins(error instanceof InvalidInput ? error.message : reasonOf(error))
