/** A development network with the state of a live one. Only the validators are replaced, by ours. */
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
  /** Proves a node's state; a file contains one. */
  readonly genesis: Genesis.Genesis | undefined
  readonly accounts: ReadonlyArray<SecretKey>
  readonly roundMs: number | undefined
}

/** The origin of a fork, for display. */
export interface Origin {
  readonly networkId: string
  /** The identity of that network. */
  readonly genesisHash: string
  /** The checkpoint that proves the state. */
  readonly checkpoint: { readonly epoch: number; readonly round: number; readonly hash: string }
  /** Whether it follows from the genesis; otherwise it is the node's claim. */
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

/** Forks from a node's URL or from a state file of `udg db export`. */
export const made = (source: string, { accounts, roundMs, genesis }: Options): Effect.Effect<Forked, ControlRefused> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const directory = join(yield* files.makeTempDirectoryScoped({ prefix: "udg-fork-" }), "data")
    const validator = SecretKey.generate()
    const interval = roundMs === undefined ? {} : { roundIntervalMs: roundMs }
    // Its files are complete once they are closed.
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
        // Time does not run backwards, and the other network's can be ahead of this machine's.
        aheadMs: Math.max(0, time - (yield* Clock.currentTimeMillis)),
        files: yield* DataFiles.read(directory),
      },
    }
  }).pipe(
    Effect.scoped,
    Effect.mapError(({ message }) => refused(`this cannot be forked: ${message}`)),
    Effect.provide(NodeFileSystem.layer),
  )
