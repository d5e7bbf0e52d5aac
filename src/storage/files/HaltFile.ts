/**
 * Why the node of a data directory must not simply be started again: it ended with 100, 101 or 102. The file outlives the process, so
 * that no service manager starts a node in a loop that has found its ledger contradicted.
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

/** Of a file that cannot be read, nobody knows when and by which version it was written. */
export type Halt = Written | (Pick<Written, "exit_code" | "reason"> & { readonly at: null; readonly version: null })

const fromText = Schema.decodeUnknownOption(Schema.parseJson(schema))

const OWNER_READS = 0o600
/** A longer file is not ours. */
const MAX_BYTES = 65_536

const unreadable = (path: string, why: string): Halt => ({
  exit_code: 102,
  reason: `${path} cannot be read: ${why}`,
  at: null,
  version: null,
})

/** None if there is no such file. One that cannot be read halts a node as much as one that can. */
export const load = (path: string): Effect.Effect<Option.Option<Halt>, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    if (!(yield* Effect.orElseSucceed(AtomicFile.isTaken(path), () => true))) return Option.none()
    const text = yield* Effect.either(AtomicFile.readText(path, MAX_BYTES))
    if (Either.isLeft(text)) return Option.some(unreadable(path, text.left))
    return Option.some(Option.getOrElse(fromText(text.right), () => unreadable(path, "not what a node writes there")))
  })

/** A disk that takes no more leaves no mark: the next start looks for the same contradiction itself. */
export const write = (path: string, halt: Written): Effect.Effect<void, never, FileSystem.FileSystem> =>
  Effect.ignore(AtomicFile.write(path, Binary.utf8(`${JSON.stringify(halt, null, 2)}\n`), OWNER_READS))
