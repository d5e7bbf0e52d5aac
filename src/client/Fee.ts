/** The fees a wallet pays without asking again: a node that lies about the fee must not be able to take much. */
import * as Parameters from "../protocol/numbers/Parameters.js"
import * as Charges from "../protocol/transaction/Charges.js"
import type { Type } from "../protocol/transaction/Operation.js"

const MOST_TIMES_STANDARD = 100

/** The prices among the parameters in a node's answer. */
type Prices = Readonly<Pick<typeof Parameters.Json.Type, "min_fee_sats" | "name_fee_sats">>

/** The fee that a node asks for a transaction of this type. */
export const asked = (type: Type, { min_fee_sats, name_fee_sats }: Prices): number =>
  Charges.leastFee(type, { minFee: min_fee_sats, nameFee: name_fee_sats })

/** The fee of this type with standard parameters; for a free type, the cost of failing. */
export const usual = (type: Type): number =>
  Charges.isExempt(type) ? Parameters.solo.minFee : Charges.leastFee(type, Parameters.solo)

/** Whether a fee is more than a hundred times the usual one. */
export const isDear = (type: Type, fee: number): boolean => fee > MOST_TIMES_STANDARD * usual(type)
