/**
 * Accounts are set by ordinary transactions: coins come from the reserve and go back to it, so the supply remains what it is and no
 * rule is broken. Only the keys with which the network was started sign.
 */
import { Context, Effect, Either, Option } from "effect"
import * as Engine from "../node/engine/Engine.js"
import { State } from "../node/reads/State.js"
import * as Address from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type { SecretKey } from "../protocol/identity/Keys.js"
import type { Name } from "../protocol/identity/Name.js"
import { addressPrefix } from "../protocol/identity/Network.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as AccountRecord from "../protocol/state/AccountRecord.js"
import * as Charges from "../protocol/transaction/Charges.js"
import type { Operation } from "../protocol/transaction/Operation.js"
import * as Refused from "../rpc/handlers/Refused.js"
import type { Advancing } from "./Advancing.js"
import { refused } from "./ControlRefused.js"
import type { DevNode, Options } from "./DevNode.js"

/** Each is a transaction. */
export const MOST_NONCES = 10_000
/** An account has no more transactions pending. */
const AT_ONCE = 50

export const make = (
  node: DevNode,
  { next, settled }: Advancing,
  { genesis, reserve, accounts, validator }: Options,
) => {
  const keys = new Map(accounts.map((key) => [Address.fromPublicKey(key.publicKey), key]))
  const validatorAddress = Address.fromPublicKey(validator.publicKey)
  const state = () => Context.get(node.services(), State)
  const read = () => Context.get(node.services(), Engine.Engine).view.read
  const accountOf = (address: Address.Address) => Effect.sync(() => read().account(address))
  const balanceOf = (address: Address.Address) => Effect.map(accountOf(address), ({ balance }) => balance)
  const stakeOf = (address: Address.Address) =>
    Effect.map(accountOf(address), ({ stake }) => (stake === null || stake.leaving !== null ? Sats.ZERO : stake.amount))
  const parameters = Effect.sync(() => read().parameters)

  const isFinal = (id: Hash) =>
    Effect.suspend(() => state().transaction(id)).pipe(
      Effect.flatMap((known) => {
        if (known._tag === "Pending") return Effect.succeed(false)
        const { failure } = known.recorded.outcome
        return failure === null ? Effect.succeed(true) : refused(`the transaction ${id} failed: ${failure.reason}`)
      }),
      Effect.catchTag("TransactionNotFound", () => refused(`the transaction ${id} had no effect`)),
      Effect.orDie,
    )

  const submitted = (key: SecretKey, operation: Operation, fee: Sats.Sats) =>
    Effect.suspend(() => Context.get(node.services(), Engine.Engine).signAndSubmit({ key, fee, operation })).pipe(
      Effect.mapError((refusal) =>
        refused(
          refusal._tag === "InsufficientBalance"
            ? "the reserve has less than that left"
            : `the transaction is refused: ${Refused.fromRefusal(refusal).message}`,
        ),
      ),
    )

  const done = (key: SecretKey, operation: Operation, fee: Sats.Sats) =>
    Effect.gen(function* () {
      const { id } = yield* submitted(key, operation, fee)
      while (!(yield* isFinal(id))) yield* next
    })

  const paid = (key: SecretKey, to: Address.Address, amount: number, fee: Sats.Sats) =>
    done(key, { _tag: "Transfer", to, amount: Sats.make(amount), memo: "" }, fee)

  const keyOf = (address: Address.Address, what: string) => {
    const key = keys.get(address)
    return key === undefined
      ? refused(`${what} only from the accounts that the network was started with`)
      : Effect.succeed(key)
  }

  const setBalance = (address: Address.Address, wanted: Sats.Sats) =>
    Effect.gen(function* () {
      if (Option.isNone(reserve) || genesis.faucet === null) return yield* refused("this network has no reserve")
      if (address === genesis.faucet.address || address === validatorAddress) {
        return yield* refused("the balances of the reserve and of the validator change with every payment and round")
      }
      // Pending transactions of the account would change what was just set.
      yield* settled
      const balance = yield* balanceOf(address)
      const prices = yield* parameters
      const fee = Sats.make(prices.minFee)
      if (wanted > balance) {
        const isNew = AccountRecord.isEmpty(yield* accountOf(address))
        yield* paid(reserve.value, address, wanted - balance, Sats.make(Charges.transferFee(prices, !isNew)))
      }
      if (wanted < balance) {
        const key = yield* keyOf(address, "coins can be taken")
        const back = balance - wanted - fee
        // The account pays the fee too.
        if (back < 1) yield* paid(reserve.value, address, 1 - back, fee)
        yield* paid(key, genesis.faucet.address, Math.max(1, back), fee)
      }
      return yield* balanceOf(address)
    })

  /** Does something that costs so much, and leaves the account with the balance that it had. */
  const withoutCost = <A, E>(address: Address.Address, cost: number, work: Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      yield* settled
      const before = yield* balanceOf(address)
      if (cost > 0) yield* setBalance(address, Sats.make(before + cost))
      const result = yield* work
      if ((yield* balanceOf(address)) !== before) yield* setBalance(address, before)
      return result
    })

  return {
    setBalance,
    /** By as many transfers of the account to itself as are missing. */
    setNonce: (address: Address.Address, wanted: number) =>
      Effect.gen(function* () {
        const key = yield* keyOf(address, "nonces can be set")
        yield* settled
        const { nonce } = yield* accountOf(address)
        const missing = wanted - nonce
        if (!Number.isSafeInteger(wanted) || missing < 0 || missing > MOST_NONCES) {
          return yield* refused(`nonce: a whole number from ${nonce} to ${nonce + MOST_NONCES} expected; got ${wanted}`)
        }
        // What it costs to set the balance takes nonces itself, so it goes last, and up.
        const fee = Sats.make((yield* parameters).minFee)
        const balance = yield* balanceOf(address)
        if (missing === 0) return nonce
        yield* setBalance(address, Sats.make(balance + missing * fee))
        const operation = { _tag: "Transfer", to: address, amount: Sats.make(1), memo: "" } as const
        for (let left = missing; left > 0; left -= AT_ONCE) {
          for (let n = Math.min(left, AT_ONCE); n > 0; n--) yield* submitted(key, operation, fee)
          yield* settled
        }
        return (yield* accountOf(address)).nonce
      }),
    /** Up by a stake, or to nothing; what is unstaked comes back after the cooldown. */
    setStake: (address: Address.Address, wanted: Sats.Sats) =>
      Effect.gen(function* () {
        const key = yield* keyOf(address, "stakes can be set")
        yield* settled
        const stake = yield* stakeOf(address)
        if (wanted > stake) {
          const amount = Sats.make(wanted - stake)
          yield* withoutCost(address, amount, done(key, { _tag: "StakeTx", amount }, Sats.ZERO))
        } else if (wanted === 0 && stake > 0) yield* done(key, { _tag: "UnstakeTx" }, Sats.ZERO)
        else if (wanted < stake) return yield* refused(`amount: 0 or at least the stake of ${stake} sats expected`)
        return yield* stakeOf(address)
      }),
    setName: (address: Address.Address, name: Name) =>
      Effect.gen(function* () {
        const key = yield* keyOf(address, "names can be set")
        const fee = Sats.make((yield* parameters).nameFee)
        yield* withoutCost(address, fee, done(key, { _tag: "RegisterNameTx", name }, fee))
        return name
      }),
    /** The account that a person means: hex, bech32m or `@name`. */
    find: (text: string) =>
      Effect.gen(function* () {
        const meant = Address.parseReference(text, addressPrefix(genesis.mode))
        if (Either.isLeft(meant)) return yield* refused(`address: ${meant.left.reason}`)
        if (meant.right._tag === "Address") return meant.right.address
        return read().addressOf(meant.right.name) ?? (yield* refused(`address: nobody has registered ${text}`))
      }),
  }
}
