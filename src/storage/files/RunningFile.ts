/**
 * Where a node can be reached and how it was started, for programs that inspect its directory: a container's health
 * check and `udg doctor`. A killed node leaves the file behind, so the file proves nothing; the lock does. Failures to
 * write are ignored, because these programs only learn less.
 */
import { FileSystem } from "@effect/platform"
import { Effect, Option, Schema, type Scope } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as AtomicFile from "./AtomicFile.js"

/** Paths and addresses. Secrets stay in the files named here. */
const schema = Schema.Struct({
  version: Schema.String,
  pid: Schema.Number,
  since: Schema.Number,
  rpc: Schema.String,
  p2p: Schema.NullOr(Schema.String),
  /** The operators' listener, as configured. */
  metrics_host: Schema.optionalWith(Schema.NullOr(Schema.String), { default: () => null }),
  settings: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
})

export type Facts = typeof schema.Type

const fromText = Schema.decodeUnknownOption(Schema.parseJson(schema))

const OWNER_READS = 0o600
/** Longer files are not ours. */
const MAX_BYTES = 65_536

/** None if there is no readable file. */
export const load = (path: string): Effect.Effect<Option.Option<Facts>, never, FileSystem.FileSystem> =>
  Effect.match(AtomicFile.readText(path, MAX_BYTES), { onFailure: Option.none, onSuccess: (text) => fromText(text) })

/** Keeps the file until the scope ends. */
export const hold = (path: string, facts: Facts): Effect.Effect<void, never, FileSystem.FileSystem | Scope.Scope> => {
  const content = Binary.utf8(`${JSON.stringify(facts, null, 2)}\n`)
  const remove = Effect.flatMap(FileSystem.FileSystem, (files) => Effect.ignore(files.remove(path, { force: true })))
  return Effect.acquireRelease(Effect.ignore(AtomicFile.write(path, content, OWNER_READS)), () => remove)
}
