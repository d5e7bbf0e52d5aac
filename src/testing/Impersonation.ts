/** A transaction for an account whose key is unknown here, without nonce and signature. */
import { Effect } from "effect"
import * as Wallet from "../client/Wallet.js"
import type { Genesis } from "../protocol/epoch/Genesis.js"
import type * as Address from "../protocol/identity/Address.js"
import { addressPrefix } from "../protocol/identity/Network.js"
import type { Sats } from "../protocol/numbers/Sats.js"
import type { Operation } from "../protocol/transaction/Operation.js"
import { type ControlRefused, refused } from "./ControlRefused.js"

/** `type`, the type's fields, and an optional `fee` other than the minimum. */
export type Given = Readonly<Record<string, unknown>>

export interface Draft {
  readonly operation: Operation
  readonly fee: Sats | undefined
}

/** Fields that accept `@name`. */
const ACCOUNTS = ["to", "validator"]
const FILLED_IN = ["from", "nonce", "pub_key", "signature", "signatures"]

export const drafted = <E>(
  { networkId, mode }: Genesis,
  from: Address.Address,
  given: Given,
  find: (text: string) => Effect.Effect<Address.Address, E>,
): Effect.Effect<Draft, ControlRefused | E> =>
  Effect.gen(function* () {
    const surplus = FILLED_IN.find((field) => field in given)
    if (surplus !== undefined) return yield* refused(`transaction: ${surplus} is filled in; leave it out`)
    const named: Record<string, unknown> = { ...given }
    for (const field of ACCOUNTS) {
      const text = given[field]
      if (typeof text === "string" && text.startsWith("@")) named[field] = yield* find(text)
    }
    const { transaction } = yield* Effect.try({
      try: () => Wallet.parseUnsigned({ networkId, prefix: addressPrefix(mode) }, { fee: 0, ...named, from, nonce: 0 }),
      catch: (error) => refused(`transaction: ${error instanceof Error ? error.message : String(error)}`),
    })
    const { operation, fee } = transaction
    return { operation, fee: given["fee"] === undefined ? undefined : fee }
  })
