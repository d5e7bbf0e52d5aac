/**
 * The fees that a node asks for. Separate from `Fee.ts`, so that a wallet alone does not include the table of
 * parameters.
 */
import * as Charges from "../protocol/transaction/Charges.js"
import type { Transaction } from "./wire/Interface.js"

type Type = Transaction["type"]

/** The prices among the parameters of `GET /network`. */
export interface Prices {
  readonly min_fee_sats: number
  readonly name_fee_sats: number
  readonly account_fee_sats: number
}

/** The recipient of a transfer, from `GET /balance/:address`. */
export type Recipient = { readonly exists: boolean }

/** The part of the fee that pays for the account that a transfer to this recipient creates. */
export const forAccount = ({ account_fee_sats }: Pick<Prices, "account_fee_sats">, recipient?: Recipient): number =>
  recipient === undefined || recipient.exists ? 0 : account_fee_sats

/** Bounds what a node that lies about the fee can take. */
const MOST_TIMES_USUAL = 100
/** Lower for the account fee, which already is a thousand times the usual fee. */
const MOST_TIMES_ACCOUNT = 10

/** Whether a fee far exceeds these prices. For a free type, the price is that of a failed transaction. */
export const isDear = (type: Type, fee: number, usual: Prices, recipient?: Recipient): boolean =>
  fee >
  MOST_TIMES_USUAL * Math.max(asked(type, usual), Charges.isExempt(type) ? usual.min_fee_sats : 0) +
    MOST_TIMES_ACCOUNT * forAccount(usual, recipient)

/** The fee that a node asks for a transaction of this type. Transfers need the recipient. */
export const asked = (type: Type, prices: Prices, recipient?: Recipient): number =>
  Charges.leastFee(type, { minFee: prices.min_fee_sats, nameFee: prices.name_fee_sats }) + forAccount(prices, recipient)
