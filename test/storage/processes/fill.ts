// Writes commits until the disk is full, reports what is stored, frees space, and continues with a new storage.
import { rmSync, writeFileSync } from "node:fs"
import { Effect, Option } from "effect"
import * as world from "../world.js"
import { loadOf } from "./load.js"

const [path = ""] = process.argv.slice(2)
// Larger than the log can grow: the log is moved into the database only if there is room for both.
const ballast = `${path}/ballast`
writeFileSync(ballast, new Uint8Array(16_000_000))

const append = (index: number) =>
  world.within(path, function* (storage) {
    const { vertices, batch } = loadOf(index)
    yield* storage.append(world.inserted(vertices))
    yield* storage.append([{ _tag: "Commit", batch: batch }])
  })

const appendUntilFull = world.within(path, function* (storage) {
  for (let index = 1; ; index++) {
    const { vertices, batch } = loadOf(index)
    const write = Effect.zipRight(
      storage.append(world.inserted(vertices)),
      storage.append([{ _tag: "Commit", batch: batch }]),
    )
    const failure = yield* Effect.option(Effect.flip(write))
    if (Option.isSome(failure)) {
      const last = Option.getOrThrow(yield* storage.commits.last).index
      return { tag: failure.value._tag, message: failure.value.message, written: index - 1, last }
    }
  }
})

const lastOf = world.inDirectory(path, (storage) =>
  Effect.map(storage.commits.last, (commit) => Option.getOrThrow(commit).index),
)

await Effect.runPromise(
  Effect.gen(function* () {
    const full = yield* appendUntilFull
    // Opening needs a few pages, for which there may or may not be room.
    const whileFull = yield* Effect.match(lastOf, { onSuccess: () => "opened", onFailure: ({ _tag }) => _tag })
    rmSync(ballast)
    yield* append(full.written + 1)
    yield* world.print(JSON.stringify({ ...full, whileFull, afterwards: yield* lastOf }))
  }).pipe(Effect.provide(world.platform)),
)
