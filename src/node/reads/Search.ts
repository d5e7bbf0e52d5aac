/** Search by the beginning of a name, an address or a hash. */
import { Context, Effect, Layer } from "effect"
import * as Network from "../../protocol/identity/Network.js"
import * as SearchPrefix from "../../protocol/identity/SearchPrefix.js"
import { Storage } from "../../storage/Storage.js"
import type { Sequence } from "../../storage/tables/Transactions.js"
import { Engine } from "../engine/Engine.js"
import { Home } from "../start/Home.js"
import * as State from "./State.js"

const MOST = 5

const NOTHING = Effect.succeed([])

const make = Effect.gen(function* () {
  const { accounts, transactions, vertices } = yield* Storage
  const { view } = yield* Engine
  const prefix = Network.addressPrefix((yield* Home).genesis.mode)
  return {
    /** At most five of each kind. */
    beginningWith: (text: string) => {
      const { name, address, hash, fits } = SearchPrefix.read(text, prefix)
      return Effect.all({
        names: name === undefined ? NOTHING : Effect.sync(() => view.read.namesBeginningWith(name, MOST)),
        accounts:
          address === undefined
            ? NOTHING
            : Effect.map(accounts.beginningWith(address, MOST), (found) => found.filter(fits)),
        transactions: hash === undefined ? NOTHING : transactions.beginningWith(hash, MOST),
        vertices: hash === undefined ? NOTHING : vertices.beginningWith(hash, MOST),
      })
    },
    /** All accounts' finalized transactions, newest first, in pages like those of an account's history. */
    latest: (before: Sequence | null, limit: number, { type, ...period }: State.Filter) =>
      Effect.flatMap(State.rangeOf(before, period, transactions.since), (range) =>
        State.pageOf(limit, State.ofType(type), range, (most) => transactions.recent(range.end, most)),
      ),
  }
})

export class Search extends Context.Tag("udg/Search")<Search, Effect.Effect.Success<typeof make>>() {}

export const layer = Layer.effect(Search, make)
