/** The last warnings and errors of a log, in either of its two forms. */
import { FileSystem } from "@effect/platform"
import { Effect } from "effect"
import * as Secrets from "../../node/log/Secrets.js"

const SHOWN = 10
/** From its end: a log may be of any size. */
const READ_BYTES = 1_048_576

const PRETTY = /^\d{2}:\d{2}:\d{2}\.\d{3} (?:WARN|ERROR) /
const JSON_LINE = /"level":"(?:warn|error)"/

/** Those lines of the text; a log should hold no secret, and what leaves the machine is looked at once more. */
const errorsIn = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .filter((line) => PRETTY.test(line) || JSON_LINE.test(line))
    .slice(-SHOWN)
    .map(Secrets.redactText)

/** Of the end of a file; none if it cannot be read. */
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
