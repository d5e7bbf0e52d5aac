import type { NodeContext } from "@effect/platform-node/NodeContext"
import { it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import type { YieldWrap } from "effect/Utils"
import * as world from "./world.js"

/** A test with an empty directory for a node. */
export const withDirectory = (
  name: string,
  body: (
    directory: string,
  ) => Generator<YieldWrap<Effect.Effect<unknown, unknown, NodeContext | Scope.Scope>>, unknown, never>,
): void =>
  it.scopedLive(name, () =>
    Effect.provide(
      Effect.flatMap(world.temporaryDirectory, (directory) => Effect.gen(() => body(directory))),
      world.platform,
    ),
  )
