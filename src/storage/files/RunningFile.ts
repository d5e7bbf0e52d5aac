/**
 * Where the node of a data directory can be reached, and how it was started, for those who look at the directory from outside: the
 * health check of a container, `udg doctor`. A killed node leaves the file behind, so it proves nothing: the lock does. Without the
 * file they know less, so no failure to write it is an error.
 */
import { FileSystem } from "@effect/platform"
import { Effect, Option, Schema, type Scope } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as AtomicFile from "./AtomicFile.js"

/** Paths and addresses; secrets stay in the files that it names. */
const schema = Schema.Struct({
  version: Schema.String,
  pid: Schema.Number,
  since: Schema.Number,
  rpc: Schema.String,
  p2p: Schema.NullOr(Schema.String),
  /** Where the operators' listener is, as it was named. */
  metrics_host: Schema.optionalWith(Schema.NullOr(Schema.String), { default: () => null }),
  settings: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
})

export type Facts = typeof schema.Type

const fromText = Schema.decodeUnknownOption(Schema.parseJson(schema))

const OWNER_READS = 0o600
/** A longer file is not ours. */
const MAX_BYTES = 65_536

/** None if there is none that can be read. */
export const load = (path: string): Effect.Effect<Option.Option<Facts>, never, FileSystem.FileSystem> =>
  Effect.match(AtomicFile.readText(path, MAX_BYTES), { onFailure: Option.none, onSuccess: (text) => fromText(text) })

/** There until the scope ends. */
export const hold = (path: string, facts: Facts): Effect.Effect<void, never, FileSystem.FileSystem | Scope.Scope> => {
  const content = Binary.utf8(`${JSON.stringify(facts, null, 2)}\n`)
  const remove = Effect.flatMap(FileSystem.FileSystem, (files) => Effect.ignore(files.remove(path, { force: true })))
  return Effect.acquireRelease(Effect.ignore(AtomicFile.write(path, content, OWNER_READS)), () => remove)
}
