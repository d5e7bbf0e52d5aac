/** States to which a development network can be reverted: copies of a stopped node's data. */
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import { Effect, Option } from "effect"
import * as Genesis from "../protocol/epoch/Genesis.js"
import { refused } from "./ControlRefused.js"
import * as DataFiles from "./DataFiles.js"
import type { DevClock } from "./DevClock.js"
import type { DevNode, Options } from "./DevNode.js"
import * as StateFile from "./StateFile.js"

export const MOST_SNAPSHOTS = 100

export const make = (node: DevNode, clock: DevClock, options: Options) =>
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
    const withFiles = Effect.provideService(FileSystem.FileSystem, files)
    return {
      /** The whole network as bytes. */
      dump: Effect.gen(function* () {
        yield* required
        const content = yield* node.restarted((directory) => Effect.orDie(withFiles(DataFiles.read(directory))))
        return StateFile.encode({ ...options, aheadMs: clock.aheadMs, files: content })
      }),
      /** Continues from a dump of this or an earlier run. Snapshots stay. */
      load: (bytes: Uint8Array) =>
        Effect.gen(function* () {
          yield* required
          const { genesis, aheadMs, files: content } = yield* StateFile.decode(bytes)
          if (Genesis.hash(genesis) !== Genesis.hash(options.genesis)) {
            return yield* refused(
              `this is the state of ${genesis.networkId}; start udg dev with --state to continue it`,
            )
          }
          // Time does not run backwards, or signed data would be in the future.
          clock.putForward(Math.max(0, aheadMs - clock.aheadMs))
          yield* node.restarted((directory) => Effect.orDie(withFiles(DataFiles.put(directory, content))))
        }),
      ids: (): ReadonlyArray<number> => ids,
      snapshot: Effect.gen(function* () {
        yield* required
        if (ids.length >= MOST_SNAPSHOTS) {
          return yield* refused(`there are ${ids.length} snapshots, the maximum; revert to one to drop those after it`)
        }
        const id = ++newest
        yield* node.restarted((directory) => Effect.orDie(files.copy(directory, pathOf(id))))
        ids.push(id)
        return id
      }),
      /** Keeps this snapshot and drops later ones. */
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
