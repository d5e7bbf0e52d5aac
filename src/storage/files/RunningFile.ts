/**
 * Where a node can be reached and how it was started, for programs that inspect its directory: a container's health
 * check and `udg doctor`. A node that fails or is killed leaves the file behind, so the file proves nothing; the lock
 * does. Failures to write are ignored, because these programs only learn less.
 */
import { FileSystem } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
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
  /** Why the node ended; null while it runs, and after a kill. */
  ended: Schema.optionalWith(Schema.NullOr(Schema.Struct({ exit_code: Schema.Number, reason: Schema.String })), {
    default: () => null,
  }),
})

export type Facts = typeof schema.Type

const fromText = Schema.decodeUnknownOption(Schema.parseJson(schema))

const OWNER_READS = 0o600
/** Longer files are not ours. */
const MAX_BYTES = 65_536

/** None if there is no readable file. */
export const load = (path: string): Effect.Effect<Option.Option<Facts>, never, FileSystem.FileSystem> =>
  Effect.match(AtomicFile.readText(path, MAX_BYTES), { onFailure: Option.none, onSuccess: (text) => fromText(text) })

export const write = (path: string, facts: Facts): Effect.Effect<void, never, FileSystem.FileSystem> =>
  Effect.ignore(AtomicFile.write(path, Binary.utf8(`${JSON.stringify(facts, null, 2)}\n`), OWNER_READS))

/**
 * Records how the node ended; null: it was asked to. `before` is what an earlier run had left: if that is still there,
 * the node ended before it ran, and the record of the earlier run stays.
 */
export const end = (
  path: string,
  ended: Facts["ended"],
  before: Option.Option<Facts>,
): Effect.Effect<void, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const left = yield* load(path)
    if (ended === null) yield* Effect.ignore((yield* FileSystem.FileSystem).remove(path, { force: true }))
    else if (Option.isSome(left) && Option.getOrNull(before)?.since !== left.value.since) {
      yield* write(path, { ...left.value, ended })
    }
  })
