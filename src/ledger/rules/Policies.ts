/** The keys that can sign for an account: its single key, or enough of a smart account's keys. */
import * as Address from "../../protocol/identity/Address.js"
import * as Words from "../../protocol/numbers/Words.js"
import type { SetAccountPolicy } from "../../protocol/transaction/Operation.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Row } from "../tables/AccountRows.js"
import type { State } from "../tables/State.js"
import type * as Rejection from "./Rejection.js"

// Reasons name keys by their addresses: a client that sent a secret key by mistake must not find it in an error.
const refuse = (reason: string): Rejection.Rejection => ({ _tag: "InvalidSignature", reason })

/**
 * See `Ledger.letSignForAll`. Uses the form of a smart account, since clients know that a single key has another
 * address. No operation stores a key that signs in this form.
 */
const isByStandIn = ({ standIn }: State, { authorization }: Transaction): boolean =>
  authorization._tag === "Policy" &&
  authorization.signatures.length === 1 &&
  authorization.signatures[0]?.publicKey === standIn

const ownRejection = (state: State, row: Row | undefined, transaction: Transaction): Rejection.Verdict => {
  const { authorization, from } = transaction
  const { policy } = state.accounts.extras(row)
  if (policy === null) {
    if (authorization._tag === "Policy") return refuse("this account has a single key: send pub_key and signature")
    const address = Address.fromPublicKey(authorization.publicKey)
    return address === from ? undefined : refuse(`from is not the address of pub_key, which is ${address}`)
  }
  if (authorization._tag === "SingleKey") return refuse("this is a smart account: send signatures of its keys")
  const { signatures } = authorization
  const unlisted = signatures.find(({ publicKey }) => !policy.keys.includes(publicKey))
  if (unlisted !== undefined) {
    return refuse(`the key of ${Address.fromPublicKey(unlisted.publicKey)} is not part of the account's policy`)
  }
  return signatures.length >= policy.threshold
    ? undefined
    : refuse(
        `${Words.counted(signatures.length, "signature")}, but ${policy.threshold} of the account's keys must sign`,
      )
}

/** Whether these valid signatures are the ones that the account requires. */
export const signatureRejection = (state: State, row: Row | undefined, transaction: Transaction): Rejection.Verdict => {
  const rejection = ownRejection(state, row, transaction)
  return rejection !== undefined && isByStandIn(state, transaction) ? undefined : rejection
}

/** Makes these keys act for the account. The key behind its address is kept, in case it becomes a staker. */
export const applyPolicy = (state: State, row: Row, transaction: Transaction, operation: SetAccountPolicy): void => {
  const { publicKey } = state.accounts.extras(row)
  const { authorization } = transaction
  const { threshold, keys } = operation
  state.update(row, {
    policy: { threshold, keys },
    publicKey: publicKey ?? (authorization._tag === "SingleKey" ? authorization.publicKey : null),
  })
}
