/** The transactions that wait to be finalized. */
import { Context, Effect, Layer, Option } from "effect"
import type { Received, Refusal } from "../../ledger/pending/PendingTransactions.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import type { Nonce } from "../../protocol/numbers/Natural.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Accepted } from "../../replica/Replica.js"
import { Engine } from "../engine/Engine.js"
import type { SignRequest, Submitted } from "../engine/Incoming.js"

export class Mempool extends Context.Tag("udg/Mempool")<
  Mempool,
  {
    readonly capacity: number
    readonly size: Effect.Effect<number>
    /** Accepts a transaction, or returns why not. Accepts the same one again while it is pending. */
    readonly submit: (transaction: Transaction) => Effect.Effect<Accepted, Refusal>
    /** The same for many, with a result for each in the same order. */
    readonly submitAll: (transactions: ReadonlyArray<Transaction>) => Effect.Effect<ReadonlyArray<Submitted>>
    /** Signs with the key in the request and the sender's next nonce, and submits the result. */
    readonly signAndSubmit: (request: SignRequest) => Effect.Effect<Accepted, Refusal>
    readonly get: (id: Hash) => Effect.Effect<Option.Option<Received>>
    /** The first ones in the order of selection: highest fee first. */
    readonly top: (limit: number) => ReadonlyArray<Received>
    /** The nonce for the sender's next transaction, after its pending ones. */
    readonly nextNonce: (sender: Address) => Effect.Effect<Nonce>
  }
>() {}

export const layer: Layer.Layer<Mempool, never, Engine> = Layer.effect(
  Mempool,
  Effect.map(Engine, ({ view, submit, signAndSubmit }) =>
    Mempool.of({
      capacity: Limits.MEMPOOL_TRANSACTIONS,
      size: Effect.sync(() => view.pool.size),
      submit: (transaction) =>
        Effect.flatMap(submit([transaction]), ([submitted]) => Option.getOrThrow(Option.fromNullable(submitted))),
      submitAll: submit,
      signAndSubmit,
      get: (id) => Effect.sync(() => Option.fromNullable(view.pool.get(id))),
      top: (limit) => view.pool.top(limit),
      nextNonce: (sender) => Effect.sync(() => view.pool.nextNonce(sender)),
    }),
  ),
)
