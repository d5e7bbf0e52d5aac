/** What a wallet pays without being told twice, since a node that lies about the fee must not be able to take much by it. */
import * as Parameters from "../protocol/numbers/Parameters.js"

const MOST_TIMES_STANDARD = 100

/** What a transaction of this type costs on a network that nobody has changed. */
export const usual = (type: string): number =>
  type === "RegisterNameTx" ? Parameters.standard.nameFee : Parameters.standard.minFee

/** Whether a fee is more than a hundred times the usual one. */
export const isDear = (type: string, fee: number): boolean => fee > MOST_TIMES_STANDARD * usual(type)
