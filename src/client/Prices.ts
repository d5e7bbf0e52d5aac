/** The fees that a node asks. Apart from `Fee.ts`, so that a wallet alone carries no table of parameters. */
import type * as Parameters from "../protocol/numbers/Parameters.js"
import * as Charges from "../protocol/transaction/Charges.js"
import type { Type } from "../protocol/transaction/Operation.js"

/** The prices among the parameters in a node's answer. */
export type Prices = Readonly<Pick<typeof Parameters.Json.Type, "min_fee_sats" | "name_fee_sats" | "account_fee_sats">>

/** What a node says of who receives a transfer. */
export type Recipient = { readonly exists: boolean }

/** The part of the fee that pays for the account which a transfer to this recipient creates. */
export const forAccount = ({ account_fee_sats }: Pick<Prices, "account_fee_sats">, recipient?: Recipient): number =>
  recipient === undefined || recipient.exists ? 0 : account_fee_sats

/** The fee that a node asks for a transaction of this type; a transfer needs its recipient. */
export const asked = (type: Type, prices: Prices, recipient?: Recipient): number =>
  Charges.leastFee(type, { minFee: prices.min_fee_sats, nameFee: prices.name_fee_sats }) + forAccount(prices, recipient)
