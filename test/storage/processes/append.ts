// Writes commits until it is killed; prints the index of each when it is written.
import { Effect } from "effect"
import * as world from "../world.js"
import { loadOf } from "./load.js"

const [path = "", from = "1"] = process.argv.slice(2)

await Effect.runPromise(
  world
    .inDirectory(path, (storage) =>
      Effect.gen(function* () {
        for (let index = Number(from); ; index++) {
          const { vertices, batch, pending } = loadOf(index)
          yield* storage.append(world.inserted(vertices))
          yield* storage.pending.update(pending, [])
          yield* storage.append([{ _tag: "Commit", batch: batch }])
          yield* world.print(String(index))
        }
      }),
    )
    .pipe(Effect.provide(world.platform)),
)
