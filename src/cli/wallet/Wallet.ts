/** The wallet's verbs, in the order in which help shows them. */
import * as Keys from "./Keys.js"
import * as Payments from "./Payments.js"
import * as Reads from "./Reads.js"
import type { Verb } from "./Verb.js"

export const verbs: ReadonlyArray<Verb> = [
  Keys.keygen,
  Keys.address,
  Reads.status,
  Reads.balance,
  Payments.faucet,
  Payments.send,
  Reads.transaction,
  Reads.validators,
  Reads.proposals,
]
