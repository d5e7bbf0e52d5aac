import type { NodeContext } from "@effect/platform-node/NodeContext"
import { it } from "@effect/vitest"
import { Effect } from "effect"
import type { YieldWrap } from "effect/Utils"
import type * as Storage from "../../src/storage/Storage.js"
import type { Migration } from "../../src/storage/sqlite/Migration.js"
import * as Given from "../support/Given.js"
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

export const given = Given.on(world.platform)

/** A test with files. */
export const withPlatform = given(Effect.void)

/** A test with an empty directory. */
export const withDirectory = given(world.temporaryDirectory)

/** A test with a database file that has these tables. */
export const withDatabase = (migrations: ReadonlyArray<Migration>) =>
  given(
    Effect.flatMap(world.temporaryDirectory, (path) =>
      world.open({ file: `${path}/a.db`, durability: "process", migrations }),
    ),
  )
