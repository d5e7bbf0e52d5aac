/**
 * Submission of transactions, signed by the sender or, on a testnet, by the node with the secret key in the request.
 */
import { Effect } from "effect"
import type { SignRequest } from "../../node/engine/Incoming.js"
import { Mempool } from "../../node/reads/Mempool.js"
import { State } from "../../node/reads/State.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Operation from "../../protocol/transaction/Operation.js"
import type { Accepted } from "../../replica/Replica.js"
import * as Failure from "../api/Failure.js"
import type { Accepted as Answer } from "../api/Transactions.js"
import * as Refused from "./Refused.js"

/** Possible refusals of any transaction that the node signs. */
const COMMON = [
  "InvalidTransaction",
  "InsufficientBalance",
  "NonceTooHigh",
  "AccountThrottled",
  "MempoolFull",
  "NotReady",
  "NotAllowed",
] as const

type Refusable<Also> = Extract<Refused.Refused, { readonly _tag: Also | (typeof COMMON)[number] }>

export const answerOf = ({ id, nonce }: Accepted): typeof Answer.Type => ({ tx_hash: id, status: "accepted", nonce })

const smartAccount = (address: Address.Address) =>
  new Failure.NotAllowed({
    message: `${address} is a smart account: its keys sign together; send the signed transaction to /tx/submit`,
  })

/** Signs with the next nonce and submits. `also`: further refusals of these types; any other is a bug. */
export const signer = <Also extends Refused.Refused["_tag"] = never>(...also: ReadonlyArray<Also>) =>
  Effect.gen(function* () {
    const [state, mempool] = yield* Effect.all([State, Mempool])
    const isDeclared = (refused: Refused.Refused): refused is Refusable<Also> =>
      [...COMMON, ...also].some((code) => code === refused._tag)

    return (request: SignRequest) =>
      Effect.gen(function* () {
        const { key, operation } = request
        // Checks the form before signing; the ledger judges feasibility.
        const violation = Operation.violationOf(operation)
        if (violation !== undefined) return yield* Effect.fail(Failure.InvalidRequest.of(violation))
        const { address, policy } = yield* state.account(Address.fromPublicKey(key.publicKey))
        if (policy !== null) return yield* Effect.fail(smartAccount(address))
        return yield* mempool.signAndSubmit(request).pipe(
          Effect.map(answerOf),
          Effect.catchAll((refusal): Effect.Effect<never, Refusable<Also>> => {
            const refused = Refused.fromRefusal(refusal)
            return isDeclared(refused)
              ? Effect.fail(refused)
              : Effect.dieMessage(`a ${operation._tag} signed here was refused: ${refused.message}`)
          }),
        )
      })
  })
