/** From typed fields to a transaction that the node has accepted. */
import * as Fee from "../../client/Fee.js"
import type * as Wallet from "../../client/Wallet.js"
import { InvalidInput } from "../../client/Wallet.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type { NetworkInfo } from "../live/Network.js"
import { node, reasonOf } from "../live/Node.js"
import type { Action, Typed } from "./Action.js"

/** Only the node can look up names; the signed transaction contains the address. */
const resolved = async (text: string): Promise<string> => {
  if (!text.startsWith("@")) return text
  return (await node.core.balance({ path: { address: text } })).address_bech32
}

export interface Draft {
  readonly signed: Wallet.SignedTransaction
  readonly summary: string
  readonly feeSats: number
  /** More than a hundred times the usual fee: by mistake, or because the node proposed it. */
  readonly isDear: boolean
}

/** A name with its address according to the node: only the address is signed. */
const named = (written: string, resolved: string): string =>
  written === resolved ? written : `${written} (${resolved})`

/** Signs with the account's next nonce. Nothing leaves the browser yet. */
export const draft = async (
  action: Action,
  info: NetworkInfo,
  account: Wallet.Account,
  typed: Typed,
  feeSats: number,
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
  const { next_nonce: nonce } = await node.core.balance({ path: { address: account.addressBech32 } })
  const signed = action.sign(account, complete, { nonce, fee: feeSats })
  return { signed, summary: action.summary({ ...typed, ...shown }), feeSats, isDear: Fee.isDear(signed.type, feeSats) }
}

/** Returns the hash of the transaction. */
export const submit = async ({ signed }: Draft): Promise<string> =>
  (await node.transactions.submit({ payload: signed })).tx_hash

export const faucet = async (address: string, amount: number): Promise<string> =>
  (await node.core.faucet({ payload: { address, amount: Sats.make(amount) } })).tx_hash

/** The node writes amounts in both units; people here think in coins. */
const inCoins = (message: string): string => message.replaceAll(/ \(\d+ sats\)/g, "")

/** The reason for a failure, in a sentence. */
export const complaint = (error: unknown): string =>
  inCoins(error instanceof InvalidInput ? error.message : reasonOf(error))
