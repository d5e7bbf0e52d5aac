/** A validator's further keys: files validator-NAME.key in the data directory, beside the key of its account. */
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import { Context, Effect, Either, Option } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import type { DataDirectory } from "../../storage/files/DataDirectory.js"
import * as KeyFile from "../../storage/files/KeyFile.js"

const NAME = /^validator-.+\.key$/

/** The key for which the node has restarted within its process. */
export class Preferred extends Context.Reference<Preferred>()("udg/PreferredValidatorKey", {
  defaultValue: (): Option.Option<Address.Address> => Option.none(),
}) {}

/** An encrypted file shows its public key as well. */
const addressOf = (content: KeyFile.Content): Address.Address =>
  Address.fromPublicKey(content._tag === "Plain" ? content.key.publicKey : content.sealed.public_key)

export const namesIn = (directory: string): Effect.Effect<ReadonlyArray<string>, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const names = yield* Effect.orElseSucceed(files.readDirectory(directory), () => [])
    return names.filter((name) => NAME.test(name)).sort()
  })

export interface File {
  readonly path: string
  readonly content: KeyFile.Content
}

export interface Found {
  readonly file: Option.Option<File>
  /** Why files were passed over. */
  readonly unreadable: ReadonlyArray<string>
}

/** The first file, by name, with a wanted key. */
export const find = (
  directory: DataDirectory,
  isWanted: (address: Address.Address) => boolean,
): Effect.Effect<Found, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const unreadable: Array<string> = []
    for (const name of yield* namesIn(directory.path)) {
      const path = join(directory.path, name)
      const content = yield* Effect.either(KeyFile.read(path))
      if (Either.isLeft(content)) unreadable.push(content.left.message)
      else if (isWanted(addressOf(content.right)))
        return { file: Option.some({ path, content: content.right }), unreadable }
    }
    return { file: Option.none(), unreadable }
  })
