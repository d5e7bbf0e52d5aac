/**
 * The source of the passphrase for encrypted key files. The program that runs the node provides it; the default has
 * none.
 */
import type { FileSystem } from "@effect/platform"
import { Context, Effect, Option, Redacted } from "effect"
import * as OwnFile from "./OwnFile.js"

export interface Source {
  /** For new key files; without one they are written in plain text. */
  readonly ofNewKeys: Option.Option<Redacted.Redacted>
  /** The one at hand, without asking anybody. */
  readonly held: Effect.Effect<Option.Option<Redacted.Redacted>>
  /** Unlocks a key file with the passphrase. Users at a terminal can try several times. */
  readonly unlock: <A>(
    path: string,
    open: (passphrase: string) => Effect.Effect<A, OwnFile.KeyFileError>,
  ) => Effect.Effect<A, OwnFile.KeyFileError>
}

export class KeyPassphrase extends Context.Reference<KeyPassphrase>()("udg/KeyPassphrase", {
  defaultValue: (): Source => ({
    ofNewKeys: Option.none(),
    held: Effect.succeedNone,
    unlock: (path) =>
      OwnFile.fail(
        { what: "key file", path },
        "is encrypted; name the file with its passphrase with --key-passphrase-file FILE",
      ),
  }),
}) {}

export const known = (passphrase: Redacted.Redacted): Source => ({
  ofNewKeys: Option.some(passphrase),
  held: Effect.succeedSome(passphrase),
  unlock: (_, open) => open(Redacted.value(passphrase)),
})

/** Longer than any passphrase. */
const MAX_BYTES = 1_024
const LAST_NEWLINE = /\r?\n$/

/** Replaces bytes that are not UTF-8, and would make different passphrases equal. */
const REPLACEMENT = "\ufffd"

/** The passphrase in the file: its only line, without the trailing newline. */
export const load = (path: string): Effect.Effect<Redacted.Redacted, OwnFile.KeyFileError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const named = { what: "passphrase file", path } as const
    const text = yield* OwnFile.read(named, `a passphrase of at most ${MAX_BYTES} bytes`, MAX_BYTES)
    const passphrase = text.replace(LAST_NEWLINE, "")
    if (passphrase === "") return yield* OwnFile.fail(named, "is empty; write the passphrase into it, on one line")
    if (/[\r\n]/.test(passphrase)) return yield* OwnFile.fail(named, "expected one line, found several")
    if (passphrase.includes(REPLACEMENT))
      return yield* OwnFile.fail(named, "expected text in UTF-8, found something else")
    return Redacted.make(passphrase)
  })
