// Holds a data directory until it is killed. Prints "held", or why it cannot.
import { Effect } from "effect"
import { DataDirectory } from "../../../src/storage/files/DataDirectory.js"
import * as world from "../world.js"

const [path = ""] = process.argv.slice(2)

await Effect.runPromise(
  Effect.matchEffect(DataDirectory.open(path), {
    onSuccess: () => Effect.zipRight(world.print("held"), Effect.never),
    onFailure: ({ _tag, message }) => world.print(`${_tag}: ${message}`),
  }).pipe(Effect.scoped, Effect.provide(world.platform)),
)
