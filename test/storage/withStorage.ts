import type { NodeContext } from "@effect/platform-node/NodeContext"
import { it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import type { YieldWrap } from "effect/Utils"
import type * as Storage from "../../src/storage/Storage.js"
import * as world from "./world.js"

/** A test with an empty storage in memory. */
export const withStorage = (
  name: string,
  body: (
    storage: Storage.Storage["Type"],
  ) => Generator<YieldWrap<Effect.Effect<unknown, unknown, NodeContext>>, unknown, never>,
): void =>
  it.live(name, () =>
    Effect.provide(
      world.inMemory((storage) => Effect.gen(() => body(storage))),
      world.platform,
    ),
  )

/** A test with an empty directory. */
export const withDirectory = (
  name: string,
  body: (
    path: string,
  ) => Generator<YieldWrap<Effect.Effect<unknown, unknown, NodeContext | Scope.Scope>>, unknown, never>,
): void =>
  it.scopedLive(name, () =>
    Effect.provide(
      Effect.flatMap(world.temporaryDirectory, (path) => Effect.gen(() => body(path))),
      world.platform,
    ),
  )
