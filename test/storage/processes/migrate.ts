// Opens a data directory, which migrates it, and exits.
import { Effect } from "effect"
import * as world from "../world.js"

const [path = ""] = process.argv.slice(2)

await Effect.runPromise(world.inDirectory(path, () => Effect.void).pipe(Effect.provide(world.platform)))
