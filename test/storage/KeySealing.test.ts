import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Keys from "../../src/protocol/identity/Keys.js"
import * as SealedKey from "../../src/protocol/identity/SealedKey.js"
import * as KeySealing from "../../src/storage/files/KeySealing.js"

/** The lowest work factor that a file may have, to keep tests fast. */
const QUICK = 2 ** 14
const key = Keys.SecretKey.generate()
const sealed = Effect.runSync(Effect.cached(KeySealing.seal(key, "correct horse battery", QUICK)))

const opens = (file: SealedKey.Sealed, passphrase = "correct horse battery") =>
  Effect.map(
    KeySealing.open(file, passphrase),
    Option.exists((found) => found.toSecretHex() === key.toSecretHex()),
  )

describe("a sealed key", () => {
  it.effect("opens with its passphrase, also from its printed form", () =>
    Effect.gen(function* () {
      const printed = SealedKey.print(yield* sealed)
      expect(printed).not.toContain(key.toSecretHex())
      expect(yield* opens(Option.getOrThrow(SealedKey.parse(printed)))).toBe(true)
    }),
  )

  it.effect("opens with the same passphrase in another Unicode form, and with no other", () =>
    Effect.gen(function* () {
      const accented = yield* KeySealing.seal(key, "pass\u00e9 \ufb01ne phrase", QUICK)
      expect(yield* opens(accented, "passe\u0301 fine phrase")).toBe(true)
      expect(yield* opens(accented, "passe fine phrase")).toBe(false)
      expect(yield* opens(yield* sealed, "correct horse battery ")).toBe(false)
    }),
  )

  it.effect("differs each time", () =>
    Effect.gen(function* () {
      const again = yield* KeySealing.seal(key, "correct horse battery", QUICK)
      const first = yield* sealed
      expect(again.content).not.toBe(first.content)
      expect(again.kdf.salt).not.toBe(first.kdf.salt)
    }),
  )

  it.effect("does not open when anything in it was changed", () =>
    Effect.gen(function* () {
      const file = yield* sealed
      const flipped = (hex: string, at: number) =>
        `${hex.slice(0, at)}${hex[at] === "0" ? "1" : "0"}${hex.slice(at + 1)}`
      const other = Keys.SecretKey.generate().publicKey
      const changed: ReadonlyArray<SealedKey.Sealed> = [
        { ...file, public_key: other },
        { ...file, kdf: { ...file.kdf, n: 2 ** 15 } },
        { ...file, kdf: { ...file.kdf, salt: flipped(file.kdf.salt, 3) } },
        { ...file, cipher: { ...file.cipher, nonce: flipped(file.cipher.nonce, 0) } },
        { ...file, content: flipped(file.content, 0) },
        { ...file, content: flipped(file.content, file.content.length - 1) },
      ]
      for (const each of changed) expect(yield* opens(each)).toBe(false)
    }),
  )

  it.effect("is refused if its work factor is too low or too high, or if it holds anything else", () =>
    Effect.gen(function* () {
      const file = yield* sealed
      const reads = (change: object) => Option.isSome(SealedKey.parse(JSON.stringify({ ...file, ...change })))
      expect(reads({})).toBe(true)
      for (const n of [2 ** 13, 2 ** 21, 100_000, -1, 2 ** 14 + 0.5])
        expect(reads({ kdf: { ...file.kdf, n } })).toBe(false)
      expect(reads({ kdf: { ...file.kdf, r: 1_000_000 } })).toBe(false)
      expect(reads({ udg_key: 2 })).toBe(false)
      for (const more of [{ secret: "x" }, { kdf: { ...file.kdf, x: 1 } }, { cipher: { ...file.cipher, x: null } }]) {
        expect(reads(more)).toBe(false)
      }
      for (const other of ["", "[]", "null", "7", "{}", '{"udg_key":1}']) {
        expect(Option.isNone(SealedKey.parse(other))).toBe(true)
      }
      expect(reads({ content: file.content.slice(2) })).toBe(false)
    }),
  )
})
