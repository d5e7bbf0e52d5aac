/** The fees that a node asks. Apart from `Fee.ts`, so that a wallet alone carries no table of parameters. */
import * as Charges from "../protocol/transaction/Charges.js"
import type { Transaction } from "./wire/Interface.js"

type Type = Transaction["type"]

/** The prices among the parameters in a node's answer. */
export interface Prices {
  readonly min_fee_sats: number
  readonly name_fee_sats: number
  readonly account_fee_sats: number
}

/** What a node says of who receives a transfer. */
export type Recipient = { readonly exists: boolean }

/** The part of the fee that pays for the account which a transfer to this recipient creates. */
export const forAccount = ({ account_fee_sats }: Pick<Prices, "account_fee_sats">, recipient?: Recipient): number =>
  recipient === undefined || recipient.exists ? 0 : account_fee_sats

/** A node that lies about the fee must not be able to take much. */
const MOST_TIMES_USUAL = 100
/** Less for an account: it costs a thousand times the usual fee already. */
const MOST_TIMES_ACCOUNT = 10

/** Whether a fee is far more than with these prices; a free type may cost what failing costs. */
export const isDear = (type: Type, fee: number, usual: Prices, recipient?: Recipient): boolean =>
  fee >
  MOST_TIMES_USUAL * Math.max(asked(type, usual), Charges.isExempt(type) ? usual.min_fee_sats : 0) +
    MOST_TIMES_ACCOUNT * forAccount(usual, recipient)

/** The fee that a node asks for a transaction of this type; a transfer needs its recipient. */
export const asked = (type: Type, prices: Prices, recipient?: Recipient): number =>
  Charges.leastFee(type, { minFee: prices.min_fee_sats, nameFee: prices.name_fee_sats }) + forAccount(prices, recipient)
