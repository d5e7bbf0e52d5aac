/** What begins with some hex digits, for somebody who has only the beginning of an address or a hash. */
import { Context, Effect, Layer } from "effect"
import { Storage } from "../../storage/Storage.js"

/** Of each kind. */
const MOST = 5

const make = Effect.map(Storage, ({ accounts, transactions, vertices }) => ({
  /** At most five of each kind. */
  beginningWith: (digits: string) =>
    Effect.all({
      accounts: accounts.beginningWith(digits, MOST),
      transactions: transactions.beginningWith(digits, MOST),
      vertices: vertices.beginningWith(digits, MOST),
    }),
}))

export class Search extends Context.Tag("udg/Search")<Search, Effect.Effect.Success<typeof make>>() {}

export const layer = Layer.effect(Search, make)
