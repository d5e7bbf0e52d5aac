/** The last warnings and errors of a log, in either format. */
import { FileSystem } from "@effect/platform"
import { Effect } from "effect"
import * as Secrets from "../../node/log/Secrets.js"

const SHOWN = 10
/** Read from the end, because a log can have any size. */
const READ_BYTES = 1_048_576

const PRETTY = /^\d{2}:\d{2}:\d{2}\.\d{3} (?:WARN|ERROR) /
const JSON_LINE = /"level":"(?:warn|error)"/

/** The matching lines, with secrets removed: logs should hold none, but these lines leave the machine. */
const errorsIn = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .filter((line) => PRETTY.test(line) || JSON_LINE.test(line))
    .slice(-SHOWN)
    .map(Secrets.redactText)

/** The last errors in a file; empty if it cannot be read. */
export const lastErrors = (path: string): Effect.Effect<ReadonlyArray<string>, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const { size } = yield* files.stat(path)
    const file = yield* files.open(path, { flag: "r" })
    yield* file.seek(size > READ_BYTES ? Number(size) - READ_BYTES : 0, "start")
    const bytes = new Uint8Array(READ_BYTES)
    const read = yield* file.read(bytes)
    return errorsIn(new TextDecoder().decode(bytes.subarray(0, Number(read))))
  }).pipe(
    Effect.scoped,
    Effect.orElseSucceed(() => []),
  )
