/**
 * The fees that a wallet pays without confirmation. They are bounded so that a node that lies about the fee gains
 * little.
 */
import * as Parameters from "../protocol/numbers/Parameters.js"
import * as Charges from "../protocol/transaction/Charges.js"
import type { Type } from "../protocol/transaction/Operation.js"
import { asked, forAccount, type Recipient } from "./Prices.js"

const MOST_TIMES_STANDARD = 100
/** Lower for the account fee, which already is a thousand times the usual fee. */
const MOST_TIMES_ACCOUNT = 10

export { asked, forAccount, type Recipient }

const { account_fee_sats: ACCOUNT } = Parameters.toJson(Parameters.standard(1))

const usualWithoutAccount = (type: Type): number =>
  Charges.isExempt(type) ? Parameters.solo.minFee : Charges.leastFee(type, Parameters.solo)

/** The fee of this type with standard parameters; for a free type, the cost of a failed transaction. */
export const usual = (type: Type, recipient?: Recipient): number =>
  usualWithoutAccount(type) + forAccount({ account_fee_sats: ACCOUNT }, recipient)

/** Whether a fee exceeds a hundred times the usual one plus ten times the usual price of the account it creates. */
export const isDear = (type: Type, fee: number, recipient?: Recipient): boolean =>
  fee >
  MOST_TIMES_STANDARD * usualWithoutAccount(type) +
    forAccount({ account_fee_sats: MOST_TIMES_ACCOUNT * ACCOUNT }, recipient)
