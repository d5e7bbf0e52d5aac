import type { NodeContext } from "@effect/platform-node/NodeContext"
import { it } from "@effect/vitest"
import { Effect, type Layer, type Scope } from "effect"
import type { YieldWrap } from "effect/Utils"

type Available = NodeContext | Scope.Scope

/** Makes tests of steps on a platform. Each gets what this makes, new. */
export const on =
  (platform: Layer.Layer<NodeContext>) =>
  <A>(make: Effect.Effect<A, unknown, Available>) =>
  (
    name: string,
    body: (made: A) => Generator<YieldWrap<Effect.Effect<unknown, unknown, Available>>, unknown, never>,
  ): void =>
    it.scopedLive(name, () =>
      Effect.provide(
        Effect.flatMap(make, (made) => Effect.gen(() => body(made))),
        platform,
      ),
    )
