/** The passphrase of a node's encrypted keys: from a file, from a systemd credential, or typed at the terminal. */
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import { Effect, Layer, Option, Redacted, Ref } from "effect"
import { KeyPassphrase, known, load, type Source } from "../../storage/files/KeyPassphrase.js"
import * as Environment from "../terminal/Environment.js"
import { Terminal } from "../terminal/Terminal.js"
import * as Passphrase from "./Passphrase.js"

/** The credential's name in `LoadCredential=` and `SetCredential=` of the unit. */
export const CREDENTIAL = "key-passphrase"

const credential = Effect.gen(function* () {
  const directory = yield* Environment.variable("CREDENTIALS_DIRECTORY")
  const files = yield* FileSystem.FileSystem
  const path = join(directory, CREDENTIAL)
  const isThere = directory !== "" && (yield* Effect.orElseSucceed(files.exists(path), () => true))
  return isThere ? Option.some(path) : Option.none()
})

/** Asks once for all key files with the same passphrase. */
const typed: Effect.Effect<Source, never, Terminal> = Effect.gen(function* () {
  const terminal = yield* Terminal
  const remembered = yield* Ref.make(Option.none<Redacted.Redacted>())
  return {
    ofNewKeys: Option.none(),
    held: Ref.get(remembered),
    unlock: (path, open) => {
      const asked = Effect.provideService(
        Passphrase.ask(path, (passphrase) =>
          Effect.tap(open(passphrase), () => Ref.set(remembered, Option.some(Redacted.make(passphrase)))),
        ),
        Terminal,
        terminal,
      )
      return Effect.flatMap(
        Ref.get(remembered),
        Option.match({
          onNone: () => asked,
          onSome: (earlier) => Effect.orElse(open(Redacted.value(earlier)), () => asked),
        }),
      )
    },
  }
})

/** A named file wins over the credential. Without either, the user is asked. */
export const layer = (named: Option.Option<string>) =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const file = Option.isSome(named) ? named : yield* credential
      if (Option.isSome(file)) return Layer.succeed(KeyPassphrase, known(yield* load(file.value)))
      const { canAsk } = yield* Terminal
      return canAsk ? Layer.effect(KeyPassphrase, typed) : Layer.empty
    }),
  )
