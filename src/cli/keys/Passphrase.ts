/**
 * A key's passphrase: from a file, from `UDG_PASSPHRASE`, or typed. It is never an argument, because other users can
 * read those.
 */
import type { FileSystem } from "@effect/platform"
import { Effect, Option, Redacted } from "effect"
import * as Mnemonic from "../../client/Mnemonic.js"
import type * as Keys from "../../protocol/identity/Keys.js"
import * as SealedKey from "../../protocol/identity/SealedKey.js"
import * as KeyPassphrase from "../../storage/files/KeyPassphrase.js"
import * as Environment from "../terminal/Environment.js"
import { Terminal } from "../terminal/Terminal.js"
import * as HiddenInput from "./HiddenInput.js"
import { fail, type WalletFailure } from "./WalletFailure.js"

export const VARIABLE = "UDG_PASSPHRASE"

const ATTEMPTS = 3

const requireTerminal = (problem: string, instead = `set ${VARIABLE}`) =>
  Effect.flatMap(Terminal, ({ canAsk }) =>
    canAsk ? Effect.void : fail("key", `${problem}, and there is no terminal to ask on; ${instead}`),
  )

const requireLength = (passphrase: string) =>
  SealedKey.isLongEnough(passphrase)
    ? Effect.succeed(passphrase)
    : fail("key", `the passphrase is too short; it needs at least ${SealedKey.SHORTEST_PASSPHRASE} characters`)

/** The passphrase file; without one, the environment or the terminal is used. */
export type File = Option.Option<string>

const inFile = (path: string): Effect.Effect<string, WalletFailure, FileSystem.FileSystem> =>
  Effect.mapBoth(KeyPassphrase.load(path), {
    onFailure: ({ message }) => fail("key", message),
    onSuccess: Redacted.value,
  })

/** Asks twice, because a typing error would make the key unusable. */
const typedTwice = (instead?: string) =>
  Effect.gen(function* () {
    yield* requireTerminal("a passphrase is needed to encrypt the key", instead)
    const [first, second] = yield* HiddenInput.asking((ask) =>
      Effect.gen(function* () {
        const typed = yield* ask(`New passphrase, at least ${SealedKey.SHORTEST_PASSPHRASE} characters: `)
        yield* requireLength(typed)
        return [typed, yield* ask("Repeat the passphrase: ")] as const
      }),
    )
    return first === second ? first : yield* fail("key", "the two passphrases differ; nothing was written")
  })

/** A passphrase for a new key. */
export const choose = (file: File) =>
  Effect.gen(function* () {
    if (Option.isSome(file)) return yield* Effect.flatMap(inFile(file.value), requireLength)
    const fromEnvironment = yield* Environment.variable(VARIABLE)
    return fromEnvironment === "" ? yield* typedTwice() : yield* requireLength(fromEnvironment)
  })

/** A replacement. The environment holds the current passphrase, so it is not used here. */
export const chooseAnother = (file: File) =>
  Option.isSome(file)
    ? Effect.flatMap(inFile(file.value), requireLength)
    : typedTwice("name a file with --new-passphrase-file")

/** Reads words over several lines, as they are shown. An empty line ends them. */
const askLines = (ask: HiddenInput.Ask) =>
  Effect.gen(function* () {
    const lines = [yield* ask(`The ${Mnemonic.WORDS} words, with spaces between them: `)]
    while (lines.at(-1)?.trim() !== "") {
      const missing = Mnemonic.WORDS - Mnemonic.wordsOf(lines.join(" ")).length
      if (missing <= 0) break
      lines.push(yield* ask(`${missing} more: `))
    }
    return lines
  })

/** Asks for a key as its words. */
export const askWords: Effect.Effect<Keys.SecretKey, WalletFailure, Terminal> = Effect.gen(function* () {
  const { canAsk } = yield* Terminal
  if (!canAsk)
    return yield* fail("key", "there is no terminal to ask for the words on; put them into a file, see --from")
  const typed = yield* HiddenInput.asking(askLines)
  return yield* Option.match(Mnemonic.parse(typed.join(" ")), {
    onNone: () => fail("key", Mnemonic.complaint),
    onSome: Effect.succeed,
  })
})

/** Asks for a passphrase at the terminal, with three attempts. */
export const ask = <A, E extends { readonly message: string }, R>(
  path: string,
  open: (passphrase: string) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R | Terminal> =>
  Effect.flatMap(Terminal, ({ writeError }) =>
    HiddenInput.asking((ask) => {
      const attempt = (left: number): Effect.Effect<A, E, R> =>
        Effect.flatMap(ask(`Passphrase of ${path}: `), open).pipe(
          Effect.catchAll((failure) => {
            if (left === 1) return Effect.fail(failure)
            writeError(`${failure.message}\n`)
            return attempt(left - 1)
          }),
        )
      return attempt(ATTEMPTS)
    }),
  )

/** Unlocks something with the passphrase. */
export const unlock = <A, R>(
  path: string,
  file: File,
  open: (passphrase: string) => Effect.Effect<A, WalletFailure, R>,
): Effect.Effect<A, WalletFailure, R | Terminal | FileSystem.FileSystem> =>
  Effect.gen(function* () {
    if (Option.isSome(file)) return yield* Effect.flatMap(inFile(file.value), open)
    const fromEnvironment = yield* Environment.variable(VARIABLE)
    if (fromEnvironment !== "") return yield* open(fromEnvironment)
    yield* requireTerminal(`${path} is encrypted`)
    return yield* ask(path, open)
  })
