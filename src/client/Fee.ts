/** The fees a wallet pays without asking again: a node that lies about the fee must not be able to take much. */
import * as Parameters from "../protocol/numbers/Parameters.js"
import * as Charges from "../protocol/transaction/Charges.js"
import type { Type } from "../protocol/transaction/Operation.js"
import { asked, forAccount, type Recipient } from "./Prices.js"

const MOST_TIMES_STANDARD = 100
/** Less for an account: it costs a thousand times the usual fee already. */
const MOST_TIMES_ACCOUNT = 10

export { asked, forAccount, type Recipient }

const { account_fee_sats: ACCOUNT } = Parameters.toJson(Parameters.standard(1))

const usualWithoutAccount = (type: Type): number =>
  Charges.isExempt(type) ? Parameters.solo.minFee : Charges.leastFee(type, Parameters.solo)

/** The fee of this type with standard parameters; for a free type, the cost of failing. */
export const usual = (type: Type, recipient?: Recipient): number =>
  usualWithoutAccount(type) + forAccount({ account_fee_sats: ACCOUNT }, recipient)

/** Whether a fee is more than a hundred times the usual one and ten times the usual price of the account it creates. */
export const isDear = (type: Type, fee: number, recipient?: Recipient): boolean =>
  fee >
  MOST_TIMES_STANDARD * usualWithoutAccount(type) +
    forAccount({ account_fee_sats: MOST_TIMES_ACCOUNT * ACCOUNT }, recipient)
