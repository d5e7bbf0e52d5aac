/**
 * Records why a node must not simply be restarted: it ended with 100, 101 or 102. The file outlives the process, so
 * that no service manager keeps restarting a node that found its ledger contradicted.
 */
import type { FileSystem } from "@effect/platform"
import { Effect, Either, Option, Schema } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as AtomicFile from "./AtomicFile.js"

const schema = Schema.Struct({
  exit_code: Schema.Literal(100, 101, 102),
  reason: Schema.String,
  /** Milliseconds since 1970. */
  at: Schema.Int.pipe(Schema.between(0, 8.64e15)),
  version: Schema.String,
})

type Written = typeof schema.Type

/** For an unreadable file, time and version are unknown. */
export type Halt = Written | (Pick<Written, "exit_code" | "reason"> & { readonly at: null; readonly version: null })

const fromText = Schema.decodeUnknownOption(Schema.parseJson(schema))

const OWNER_READS = 0o600
/** Longer files are not ours. */
const MAX_BYTES = 65_536

const unreadable = (path: string, why: string): Halt => ({
  exit_code: 102,
  reason: `${path} cannot be read: ${why}`,
  at: null,
  version: null,
})

/** None if the file is missing. An unreadable file halts the node too. */
export const load = (path: string): Effect.Effect<Option.Option<Halt>, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    if (!(yield* Effect.orElseSucceed(AtomicFile.isTaken(path), () => true))) return Option.none()
    const text = yield* Effect.either(AtomicFile.readText(path, MAX_BYTES))
    if (Either.isLeft(text)) return Option.some(unreadable(path, text.left))
    return Option.some(Option.getOrElse(fromText(text.right), () => unreadable(path, "not what a node writes there")))
  })

/** On a full disk no file is written; the next start finds the contradiction itself. */
export const write = (path: string, halt: Written): Effect.Effect<void, never, FileSystem.FileSystem> =>
  Effect.ignore(AtomicFile.write(path, Binary.utf8(`${JSON.stringify(halt, null, 2)}\n`), OWNER_READS))
