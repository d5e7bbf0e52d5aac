/** Where a passphrase comes from: `UDG_PASSPHRASE`, or whoever sits at the terminal. Never an argument: all can read those. */
import { Effect } from "effect"
import * as Environment from "../settings/Environment.js"
import { Terminal } from "../settings/Terminal.js"
import * as HiddenInput from "./HiddenInput.js"
import { fail, type WalletFailure } from "./WalletFailure.js"

export const VARIABLE = "UDG_PASSPHRASE"

/** As the explorer's wallet asks for. */
export const SHORTEST = 10

const ATTEMPTS = 3

const requireTerminal = (what: string) =>
  Effect.flatMap(Terminal, ({ canAsk }) =>
    canAsk ? Effect.void : Effect.fail(fail("key", `${what}, and nobody can be asked; set ${VARIABLE}`)),
  )

const tooShort = (passphrase: string) =>
  [...passphrase].length < SHORTEST
    ? Effect.fail(fail("key", `the passphrase is too short; it must have ${SHORTEST} characters at least`))
    : Effect.succeed(passphrase)

/** A new one: typed twice, because a slip of the finger would lock the key away for good. */
export const choose: Effect.Effect<string, WalletFailure, Terminal> = Effect.gen(function* () {
  const given = yield* Environment.variable(VARIABLE)
  if (given !== "") return yield* tooShort(given)
  yield* requireTerminal("a passphrase is needed to encrypt the key")
  const [first = "", second = ""] = yield* HiddenInput.ask(
    `New passphrase, ${SHORTEST} characters at least: `,
    "The same again: ",
  )
  if (first !== second) return yield* Effect.fail(fail("key", "the two are not the same; nothing was written"))
  return yield* tooShort(first)
})

/** What opens with the right passphrase; who types it may be wrong twice. */
export const unlock = <A, R>(
  path: string,
  open: (passphrase: string) => Effect.Effect<A, WalletFailure, R>,
): Effect.Effect<A, WalletFailure, R | Terminal> =>
  Effect.gen(function* () {
    const given = yield* Environment.variable(VARIABLE)
    if (given !== "") return yield* open(given)
    yield* requireTerminal(`${path} is encrypted`)
    const terminal = yield* Terminal
    const attempt = (left: number): Effect.Effect<A, WalletFailure, R> =>
      Effect.flatMap(HiddenInput.ask(`Passphrase of ${path}: `), ([typed = ""]) => open(typed)).pipe(
        Effect.catchAll((failure) => {
          if (left === 1) return Effect.fail(failure)
          terminal.writeError(`${failure.message}\n`)
          return attempt(left - 1)
        }),
      )
    return yield* attempt(ATTEMPTS)
  })
