/** The transactions waiting to be finalized. */
import { Context, Effect, Layer, Option } from "effect"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import { Engine } from "../engine/Engine.js"

const make = Effect.map(Engine, ({ view, revision, submit, signAndSubmit }) => ({
  revision,
  capacity: Limits.MEMPOOL_TRANSACTIONS,
  size: Effect.sync(() => view.pool.size),
  /** Accepts a transaction or returns the refusal. A pending transaction is accepted again. */
  submit: (transaction: Transaction) =>
    Effect.flatMap(submit([transaction]), ([submitted]) => Option.getOrThrow(Option.fromNullable(submitted))),
  /** Submits several, with a result for each in the same order. */
  submitAll: submit,
  signAndSubmit,
  get: (id: Hash) => Effect.sync(() => Option.fromNullable(view.pool.get(id))),
  /** The transactions with the highest fees, highest first. */
  top: (limit: number) => Effect.sync(() => view.pool.top(limit)),
  /** The nonce for the sender's next transaction, after its pending ones. */
  nextNonce: (sender: Address) => Effect.sync(() => view.pool.nextNonce(sender)),
}))

export class Mempool extends Context.Tag("udg/Mempool")<Mempool, Effect.Effect.Success<typeof make>>() {}

export const layer = Layer.effect(Mempool, make)
