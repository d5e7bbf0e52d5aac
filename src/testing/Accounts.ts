/**
 * Sets accounts with ordinary transactions: coins come from the reserve and return to it, so that the supply stays the
 * same and no rule is broken. For accounts without a known key, the validator's key signs, which this network's ledger
 * accepts.
 */
import { Context, Effect, Either } from "effect"
import * as Engine from "../node/engine/Engine.js"
import { State } from "../node/reads/State.js"
import * as JsonProblem from "../protocol/encoding/JsonProblem.js"
import * as Address from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type { SecretKey } from "../protocol/identity/Keys.js"
import type { Name } from "../protocol/identity/Name.js"
import { addressPrefix } from "../protocol/identity/Network.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as AccountRecord from "../protocol/state/AccountRecord.js"
import * as Charges from "../protocol/transaction/Charges.js"
import * as Operation from "../protocol/transaction/Operation.js"
import * as Refused from "../rpc/handlers/Refused.js"
import type { Advancing } from "./Advancing.js"
import { refused } from "./ControlRefused.js"
import type { DevNode, Options } from "./DevNode.js"
import * as Impersonation from "./Impersonation.js"

/** Each is a transaction. */
export const MOST_NONCES = 10_000
/** The limit of an account's pending transactions. */
const AT_ONCE = 50

export const make = (node: DevNode, { next, settled }: Advancing, { genesis, purse, accounts, validator }: Options) => {
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
      Effect.catchTag("TransactionNotFound", () => refused(`the transaction ${id} had no effect`)),
      Effect.catchAll((error) => (error._tag === "ControlRefused" ? Effect.fail(error) : Effect.die(error))),
      Effect.flatMap((known) => {
        if (known._tag === "Pending") return Effect.succeed(false)
        const { failure } = known.recorded.outcome
        return failure === null ? Effect.succeed(true) : refused(`the transaction ${id} failed: ${failure.reason}`)
      }),
    )

  /** The account's own key if it is known and signs alone, so that it is stored with a stake. */
  const keyOf = (address: Address.Address): SecretKey =>
    read().account(address).policy === null ? (keys.get(address) ?? validator) : validator

  const submitted = (from: Address.Address, operation: Operation.Operation, fee: Sats.Sats) =>
    Effect.gen(function* () {
      // Transactions made here are not decoded, and only decoding refuses invalid ones.
      const violation = Operation.violationOf(operation)
      if (violation !== undefined) return yield* refused(JsonProblem.message(violation))
      const engine = Context.get(node.services(), Engine.Engine)
      return yield* Effect.mapError(engine.signAndSubmit({ key: keyOf(from), from, fee, operation }), (refusal) =>
        refused(
          refusal._tag === "InsufficientBalance" && from === purse
            ? "the reserve has less than that left"
            : `the transaction is refused: ${Refused.fromRefusal(refusal).message}`,
        ),
      )
    })

  const done = (from: Address.Address, operation: Operation.Operation, fee: Sats.Sats) =>
    Effect.gen(function* () {
      const accepted = yield* submitted(from, operation, fee)
      while (!(yield* isFinal(accepted.id))) yield* next
      return accepted
    })

  const paid = (from: Address.Address, to: Address.Address, amount: number, fee: Sats.Sats) =>
    done(from, { _tag: "Transfer", to, amount: Sats.make(amount), memo: "" }, fee)

  const setBalance = (address: Address.Address, wanted: Sats.Sats) =>
    Effect.gen(function* () {
      const reserve = purse
      if (reserve === null) return yield* refused("this network has no reserve")
      if (address === reserve || address === validatorAddress) {
        return yield* refused("the balances of the reserve and of the validator change with every payment and round")
      }
      // The account's pending transactions would change the value just set.
      yield* settled
      const balance = yield* balanceOf(address)
      const prices = yield* parameters
      const fee = Sats.make(prices.minFee)
      if (wanted > balance) {
        const isNew = AccountRecord.isEmpty(yield* accountOf(address))
        yield* paid(reserve, address, wanted - balance, Sats.make(Charges.transferFee(prices, !isNew)))
      }
      if (wanted < balance) {
        const back = balance - wanted - fee
        // The account pays the fee too.
        if (back < 1) yield* paid(reserve, address, 1 - back, fee)
        yield* paid(address, reserve, Math.max(1, back), fee)
      }
      return yield* balanceOf(address)
    })

  /** Runs work that costs this much and restores the account's balance. */
  const withoutCost = <A, E>(address: Address.Address, cost: number, work: Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      yield* settled
      const before = yield* balanceOf(address)
      if (cost > 0) yield* setBalance(address, Sats.make(before + cost))
      const result = yield* work
      if ((yield* balanceOf(address)) !== before) yield* setBalance(address, before)
      return result
    })

  /** Finds an account by hex, bech32m or `@name`. */
  const find = (text: string) =>
    Effect.gen(function* () {
      const meant = Address.parseReference(text, addressPrefix(genesis.mode))
      if (Either.isLeft(meant)) return yield* refused(`address: ${meant.left.reason}`)
      if (meant.right._tag === "Address") return meant.right.address
      return read().addressOf(meant.right.name) ?? (yield* refused(`address: nobody has registered ${text}`))
    })

  const leastFee = (operation: Operation.Operation) =>
    Effect.gen(function* () {
      const prices = yield* parameters
      if (operation._tag !== "Transfer") return Charges.leastFee(operation._tag, prices)
      return Charges.transferFee(prices, !AccountRecord.isEmpty(yield* accountOf(operation.to)))
    })

  return {
    setBalance,
    find,
    /** Executes a transaction of any account with its next nonce. */
    impersonate: (from: Address.Address, given: Impersonation.Given) =>
      Effect.gen(function* () {
        const draft = yield* Impersonation.drafted(genesis, from, given, find)
        const { operation } = draft
        const fee = draft.fee ?? Sats.make(yield* leastFee(operation))
        const { id, nonce } = yield* done(from, operation, fee)
        return { tx_hash: id, nonce, fee }
      }),
    /** Makes as many transfers of the account to itself as are missing. */
    setNonce: (address: Address.Address, wanted: number) =>
      Effect.gen(function* () {
        yield* settled
        const { nonce } = yield* accountOf(address)
        const missing = wanted - nonce
        if (!Number.isSafeInteger(wanted) || missing < 0 || missing > MOST_NONCES) {
          return yield* refused(`nonce: expected a whole number from ${nonce} to ${nonce + MOST_NONCES}; got ${wanted}`)
        }
        // Setting the balance uses nonces itself, so the nonce is set last and only rises.
        const fee = Sats.make((yield* parameters).minFee)
        const balance = Math.max(1, yield* balanceOf(address))
        if (missing === 0) return nonce
        yield* setBalance(address, Sats.make(balance + missing * fee))
        const operation = { _tag: "Transfer", to: address, amount: Sats.make(1), memo: "" } as const
        for (let left = missing; left > 0; ) {
          // Each pending transfer reserves its sat, though the account gets it back.
          const count = Math.min(left, AT_ONCE, Math.floor((balance + left * fee) / (fee + 1)))
          for (let n = count; n > 0; n--) yield* submitted(address, operation, fee)
          left -= count
          yield* settled
        }
        return (yield* accountOf(address)).nonce
      }),
    /** Raises the stake, or ends it with 0. Unstaked coins return after the cooldown. */
    setStake: (address: Address.Address, wanted: Sats.Sats) =>
      Effect.gen(function* () {
        yield* settled
        const stake = yield* stakeOf(address)
        if (wanted > stake) {
          const amount = Sats.make(wanted - stake)
          yield* withoutCost(address, amount, done(address, { _tag: "StakeTx", amount }, Sats.ZERO))
        } else if (wanted === 0 && stake > 0) yield* done(address, { _tag: "UnstakeTx" }, Sats.ZERO)
        else if (wanted < stake) return yield* refused(`amount: expected 0 or at least the stake of ${stake} sats`)
        return yield* stakeOf(address)
      }),
    setName: (address: Address.Address, name: Name) =>
      Effect.gen(function* () {
        const fee = Sats.make((yield* parameters).nameFee)
        yield* withoutCost(address, fee, done(address, { _tag: "RegisterNameTx", name }, fee))
        return name
      }),
  }
}
