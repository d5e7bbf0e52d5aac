/** Free testnet coins: a transfer from the reserve, which pays the fee on top. */
import { Effect, Option } from "effect"
import type { Unanswered } from "../../node/reads/Lookup.js"
import { Mempool } from "../../node/reads/Mempool.js"
import { State } from "../../node/reads/State.js"
import { Home } from "../../node/start/Home.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Network from "../../protocol/identity/Network.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Words from "../../protocol/numbers/Words.js"
import * as AccountRecord from "../../protocol/state/AccountRecord.js"
import * as Charges from "../../protocol/transaction/Charges.js"
import type { FaucetResult } from "../api/Core.js"
import * as Failure from "../api/Failure.js"
import * as Refused from "./Refused.js"

type Refusal = Failure.InvalidRequest | Failure.FaucetUnavailable | Failure.MempoolFull | Failure.NotReady

const unavailable = (message: string) => new Failure.FaucetUnavailable({ message })

/** The obstacle concerns the reserve, not the requesting account. */
const ofRefusal = (refused: Refused.Refused): Refusal => {
  switch (refused._tag) {
    case "MempoolFull":
    case "NotReady":
      return refused
    case "InsufficientBalance":
      return unavailable(`the faucet has only ${Words.amount(refused.balance)} left; ask for less`)
    case "NonceTooHigh":
      return unavailable("the faucet has reached its limit of pending payments; ask again in a moment")
    default:
      return unavailable(`the faucet cannot pay: ${refused.message}`)
  }
}

export const make = Effect.gen(function* () {
  const { genesis, faucetKey } = yield* Home
  const [state, mempool] = yield* Effect.all([State, Mempool])
  const prefix = Network.addressPrefix(genesis.mode)
  const most = genesis.faucet?.maxRequest ?? Sats.MAX_SUPPLY

  return (to: Address.Address, amount: Sats.Sats): Effect.Effect<typeof FaucetResult.Type, Refusal | Unanswered> => {
    if (amount < 1 || amount > most) {
      const message = `amount: expected an integer number of sats from 1 to ${most} (${Sats.formatCoin(most)} UDG); got ${amount}`
      return Effect.fail(new Failure.InvalidRequest({ message, field: "amount" }))
    }
    if (Option.isNone(faucetKey)) {
      return Effect.fail(unavailable("this node does not have the faucet's key; ask another node"))
    }
    const operation = { _tag: "Transfer", to, amount, memo: "" } as const
    const key = faucetKey.value
    return Effect.gen(function* () {
      const { parameters } = yield* state.summary
      const recipient = yield* state.account(to)
      const fee = Sats.make(Charges.transferFee(parameters, !AccountRecord.isEmpty(recipient)))
      const { id } = yield* Effect.mapError(mempool.signAndSubmit({ key, fee, operation }), (refusal) =>
        ofRefusal(Refused.fromRefusal(refusal)),
      )
      return {
        tx_hash: id,
        amount,
        amount_coin: Sats.toCoin(amount),
        message: `${Sats.formatCoin(amount)} UDG are on their way to ${Address.toBech32(to, prefix)}`,
      }
    })
  }
})
