/** The states to which a network for developers can be set back: copies of the data of a stopped node. */
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import { Effect, Option } from "effect"
import { refused } from "./ControlRefused.js"
import type { DevNode } from "./DevNode.js"

export const MOST_SNAPSHOTS = 100

export const make = (node: DevNode) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    let newest = 0
    const ids: Array<number> = []
    const folder = Option.getOrElse(node.base, () => "")
    const pathOf = (id: number) => join(folder, `snapshot-${id}`)
    const required = Effect.suspend(() =>
      Option.isNone(node.base)
        ? refused("this network is kept in memory; start it with snapshots: true to take snapshots")
        : Effect.void,
    )
    return {
      ids: (): ReadonlyArray<number> => ids,
      snapshot: Effect.gen(function* () {
        yield* required
        if (ids.length >= MOST_SNAPSHOTS) {
          return yield* refused(
            `there are ${ids.length} snapshots, as many as may be; revert to one, which drops the later`,
          )
        }
        const id = ++newest
        yield* node.restarted((directory) => Effect.orDie(files.copy(directory, pathOf(id))))
        ids.push(id)
        return id
      }),
      /** The snapshot stays; later ones go. */
      revert: (id: number) =>
        Effect.gen(function* () {
          yield* required
          const at = ids.indexOf(id)
          if (at === -1) return yield* refused(`there is no snapshot ${id}`)
          yield* node.restarted((directory) =>
            Effect.orDie(
              Effect.zipRight(files.remove(directory, { recursive: true }), files.copy(pathOf(id), directory)),
            ),
          )
          for (const later of ids.splice(at + 1)) {
            yield* Effect.ignore(files.remove(pathOf(later), { recursive: true }))
          }
        }),
    }
  })
