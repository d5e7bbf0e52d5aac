/** What begins with a text, for somebody who has only the beginning of a name, an address or a hash. */
import { Context, Effect, Layer } from "effect"
import * as Beginning from "../../protocol/identity/Beginning.js"
import * as Network from "../../protocol/identity/Network.js"
import { Storage } from "../../storage/Storage.js"
import { Engine } from "../engine/Engine.js"
import { Home } from "../start/Home.js"

/** Of each kind. */
const MOST = 5

const NOTHING = Effect.succeed([])

const make = Effect.gen(function* () {
  const { accounts, transactions, vertices } = yield* Storage
  const { view } = yield* Engine
  const prefix = Network.addressPrefix((yield* Home).genesis.mode)
  return {
    /** At most five of each kind. */
    beginningWith: (text: string) => {
      const { name, address, hash, fits } = Beginning.read(text, prefix)
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
  }
})

export class Search extends Context.Tag("udg/Search")<Search, Effect.Effect.Success<typeof make>>() {}

export const layer = Layer.effect(Search, make)
