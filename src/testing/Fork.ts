/** A network for developers that begins with the state of a live one. Its validators are replaced by ours, and nothing else is. */
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Clock, Effect, Option } from "effect"
import * as StateFork from "../node/offline/StateFork.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import { SecretKey } from "../protocol/identity/Keys.js"
import { type ControlRefused, refused } from "./ControlRefused.js"
import * as DataFiles from "./DataFiles.js"
import * as LiveState from "./LiveState.js"
import type * as StateFile from "./StateFile.js"

export interface Options {
  /** Proves the state of a node; a file has one. */
  readonly genesis: Genesis.Genesis | undefined
  readonly accounts: ReadonlyArray<SecretKey>
  readonly roundMs: number | undefined
}

/** Where a fork comes from, for people. */
export interface Origin {
  readonly networkId: string
  /** The identity of that network. */
  readonly genesisHash: string
  /** The checkpoint that proves the state. */
  readonly checkpoint: { readonly epoch: number; readonly round: number; readonly hash: string }
  /** Whether it follows from the genesis; otherwise a node said that it is that network's. */
  readonly isFromGenesis: boolean
}

export interface Forked {
  readonly kept: StateFile.Kept
  readonly origin: Origin
}

const isUrl = (source: string): boolean => /^https?:\/\//i.test(source)

const originalIn = (source: string, known: Genesis.Genesis | undefined) =>
  Effect.gen(function* () {
    if (isUrl(source)) return yield* LiveState.read(source, known)
    const original = yield* StateFork.read(source)
    if (known === undefined || Genesis.hash(known) === original.genesisHash) return original
    return yield* refused(`it is the state of ${original.networkId} (${original.genesisHash}), not of the genesis`)
  })

/** From the URL of a node, or from a state file, as `udg db export` writes it. */
export const made = (source: string, { accounts, roundMs, genesis }: Options): Effect.Effect<Forked, ControlRefused> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const directory = join(yield* files.makeTempDirectoryScoped({ prefix: "udg-fork-" }), "data")
    const validator = SecretKey.generate()
    const interval = roundMs === undefined ? {} : { roundIntervalMs: roundMs }
    // Its files are whole once they are closed.
    const original = yield* originalIn(source, genesis)
    const forked = yield* Effect.scoped(StateFork.fork(original, directory, { validator, ...interval }))
    const { richest, time } = forked
    const { networkId, genesisHash, isFromGenesis } = original
    return {
      origin: { networkId, genesisHash, isFromGenesis, checkpoint: original.target.checkpoint },
      kept: {
        genesis: forked.genesis,
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
