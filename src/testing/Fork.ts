/** A network for developers that begins with the state of a live one. Its validators are replaced by ours, and nothing else is. */
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Clock, Effect, Option } from "effect"
import * as StateFork from "../node/offline/StateFork.js"
import { SecretKey } from "../protocol/identity/Keys.js"
import { type ControlRefused, refused } from "./ControlRefused.js"
import * as DataFiles from "./DataFiles.js"
import type * as StateFile from "./StateFile.js"

export interface Options {
  readonly accounts: ReadonlyArray<SecretKey>
  readonly roundMs: number | undefined
}

/** Where a fork comes from, for people. */
export interface Origin {
  readonly networkId: string
  /** The identity of that network: everything else in the file follows from it. */
  readonly genesisHash: string
  readonly epoch: number
  readonly round: number
}

export interface Forked {
  readonly kept: StateFile.Kept
  readonly origin: Origin
}

/** From a state file, as `udg db export` writes it. */
export const made = (file: string, { accounts, roundMs }: Options): Effect.Effect<Forked, ControlRefused> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const directory = join(yield* files.makeTempDirectoryScoped({ prefix: "udg-fork-" }), "data")
    const validator = SecretKey.generate()
    const interval = roundMs === undefined ? {} : { roundIntervalMs: roundMs }
    // Its files are whole once they are closed.
    const forked = yield* Effect.scoped(StateFork.forkFrom(file, directory, { validator, ...interval }))
    const { genesis, original, richest, time } = forked
    const { epoch, round } = original.checkpoint
    return {
      origin: { networkId: original.networkId, genesisHash: original.genesisHash, epoch, round },
      kept: {
        genesis,
        validator,
        reserve: Option.none(),
        purse: richest,
        accounts,
        // Time does not go back, and the other network's may be ahead of this machine's.
        aheadMs: Math.max(0, time - (yield* Clock.currentTimeMillis)),
        files: yield* DataFiles.read(directory),
      },
    }
  }).pipe(
    Effect.scoped,
    Effect.mapError(({ message }) => refused(`this cannot be forked: ${message}`)),
    Effect.provide(NodeFileSystem.layer),
  )
