/** The passphrase: from `UDG_PASSPHRASE` or typed at the terminal. Never an argument: everybody can read those. */
import { Effect, Option } from "effect"
import * as Mnemonic from "../../client/Mnemonic.js"
import type * as Keys from "../../protocol/identity/Keys.js"
import * as Environment from "../terminal/Environment.js"
import { Terminal } from "../terminal/Terminal.js"
import * as HiddenInput from "./HiddenInput.js"
import { fail, type WalletFailure } from "./WalletFailure.js"

export const VARIABLE = "UDG_PASSPHRASE"

/** The same as in the explorer's wallet. */
export const SHORTEST = 10

const ATTEMPTS = 3

const requireTerminal = (problem: string) =>
  Effect.flatMap(Terminal, ({ canAsk }) =>
    canAsk ? Effect.void : fail("key", `${problem}, and there is no terminal to ask on; set ${VARIABLE}`),
  )

const requireLength = (passphrase: string) =>
  [...passphrase].length < SHORTEST
    ? fail("key", `the passphrase is too short; it needs at least ${SHORTEST} characters`)
    : Effect.succeed(passphrase)

/** A new one, typed twice: a typing error would make the key unusable. */
export const choose: Effect.Effect<string, WalletFailure, Terminal> = Effect.gen(function* () {
  const fromEnvironment = yield* Environment.variable(VARIABLE)
  if (fromEnvironment !== "") return yield* requireLength(fromEnvironment)
  yield* requireTerminal("a passphrase is needed to encrypt the key")
  const [first, second] = yield* HiddenInput.askTwice(
    `New passphrase, at least ${SHORTEST} characters: `,
    requireLength,
    "Repeat the passphrase: ",
  )
  return first === second ? first : yield* fail("key", "the two passphrases differ; nothing was written")
})

/** The words are shown on several lines, and typed or pasted so; an empty line ends them. */
const moreWords = (lines: ReadonlyArray<string>): Option.Option<string> => {
  const missing = Mnemonic.WORDS - Mnemonic.wordsOf(lines.join(" ")).length
  const isEnd = missing <= 0 || lines.at(-1)?.trim() === ""
  return isEnd ? Option.none() : Option.some(`${missing} more: `)
}

/** A key, typed as its words. */
export const askWords: Effect.Effect<Keys.SecretKey, WalletFailure, Terminal> = Effect.gen(function* () {
  const { canAsk } = yield* Terminal
  if (!canAsk)
    return yield* fail("key", "there is no terminal to ask for the words on; put them into a file, see --from")
  const typed = yield* HiddenInput.askLines(`The ${Mnemonic.WORDS} words, with spaces between them: `, moreWords)
  return yield* Option.match(Mnemonic.parse(typed.join(" ")), {
    onNone: () => fail("key", Mnemonic.complaint),
    onSome: Effect.succeed,
  })
})

/** Opens something with the passphrase; a person has three attempts. */
export const unlock = <A, R>(
  path: string,
  open: (passphrase: string) => Effect.Effect<A, WalletFailure, R>,
): Effect.Effect<A, WalletFailure, R | Terminal> =>
  Effect.gen(function* () {
    const fromEnvironment = yield* Environment.variable(VARIABLE)
    if (fromEnvironment !== "") return yield* open(fromEnvironment)
    yield* requireTerminal(`${path} is encrypted`)
    const terminal = yield* Terminal
    const attempt = (left: number): Effect.Effect<A, WalletFailure, R> =>
      Effect.flatMap(HiddenInput.ask(`Passphrase of ${path}: `), (typed) => open(typed)).pipe(
        Effect.catchAll((failure) => {
          if (left === 1) return Effect.fail(failure)
          terminal.writeError(`${failure.message}\n`)
          return attempt(left - 1)
        }),
      )
    return yield* attempt(ATTEMPTS)
  })
