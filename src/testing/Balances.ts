/** Balances are set by payments from the reserve and back to it, so that the supply remains what it is. */
import { Context, Effect, Option } from "effect"
import * as Engine from "../node/engine/Engine.js"
import { State } from "../node/reads/State.js"
import * as Address from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type { SecretKey } from "../protocol/identity/Keys.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as AccountRecord from "../protocol/state/AccountRecord.js"
import * as Charges from "../protocol/transaction/Charges.js"
import type { Advancing } from "./Advancing.js"
import { refused } from "./ControlRefused.js"
import type { DevNode, Options } from "./DevNode.js"

export const make = (node: DevNode, { next, settled }: Advancing, { genesis, reserve, accounts, validator }: Options) => {
  const keys = new Map(accounts.map((key) => [Address.fromPublicKey(key.publicKey), key]))
  const validatorAddress = Address.fromPublicKey(validator.publicKey)
  const balanceOf = (address: Address.Address) =>
    Effect.map(Context.get(node.services(), State).account(address), ({ balance }) => balance)

  const isFinal = (id: Hash) =>
    Context.get(node.services(), State)
      .transaction(id)
      .pipe(
        Effect.map(({ _tag }) => _tag === "Finalized"),
        Effect.mapError(() => refused(`the payment ${id} had no effect`)),
      )

  const paid = (key: SecretKey, to: Address.Address, amount: number, fee: Sats.Sats) =>
    Effect.gen(function* () {
      const { signAndSubmit } = Context.get(node.services(), Engine.Engine)
      const operation = { _tag: "Transfer", to, amount: Sats.make(amount), memo: "" } as const
      const { id } = yield* Effect.mapError(signAndSubmit({ key, fee, operation }), ({ _tag }) =>
        refused(
          _tag === "InsufficientBalance" ? "the reserve has less than that left" : `the payment is refused: ${_tag}`,
        ),
      )
      while (!(yield* isFinal(id))) yield* next
    })

  return (address: Address.Address, wanted: Sats.Sats) =>
    Effect.gen(function* () {
      if (Option.isNone(reserve) || genesis.faucet === null) return yield* refused("this network has no reserve")
      if (address === genesis.faucet.address || address === validatorAddress) {
        return yield* refused("the balances of the reserve and of the validator change with every payment and round")
      }
      // Pending transactions of the account would change what was just set.
      yield* settled
      const balance = yield* balanceOf(address)
      const { parameters } = yield* Context.get(node.services(), State).summary
      const fee = Sats.make(parameters.minFee)
      if (wanted > balance) {
        const account = yield* Context.get(node.services(), State).account(address)
        const first = Sats.make(Charges.transferFee(parameters, !AccountRecord.isEmpty(account)))
        yield* paid(reserve.value, address, wanted - balance, first)
      }
      if (wanted < balance) {
        const key = keys.get(address)
        if (key === undefined) {
          return yield* refused("coins can be taken only from the accounts that the network was started with")
        }
        const back = balance - wanted - fee
        // The account pays the fee too.
        if (back < 1) yield* paid(reserve.value, address, 1 - back, fee)
        yield* paid(key, genesis.faucet.address, Math.max(1, back), fee)
      }
      return yield* balanceOf(address)
    })
}
