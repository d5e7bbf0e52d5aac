/** A node's encrypted key file, and the file with its passphrase. */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { describe, expect } from "vitest"
import * as SealedKey from "../../src/protocol/identity/SealedKey.js"
import * as KeyFile from "../../src/storage/files/KeyFile.js"
import * as KeyPassphrase from "../../src/storage/files/KeyPassphrase.js"
import * as KeySealing from "../../src/storage/files/KeySealing.js"
import * as world from "./world.js"

/** The lowest work factor that a file may have, to keep tests fast. */
const QUICK = 2 ** 14
const PASSPHRASE = "correct horse battery"

const place = (name: string) => Effect.map(world.temporaryDirectory, (path) => `${path}/${name}`)

const holding = (content: string | Uint8Array, mode = 0o600) =>
  Effect.tap(place("passphrase"), (file) => Effect.sync(() => writeFileSync(file, content, { mode })))

const sealedKey = Effect.gen(function* () {
  const file = yield* place("validator.key")
  const sealed = yield* KeySealing.seal(world.key(1), PASSPHRASE, QUICK)
  yield* Effect.sync(() => writeFileSync(file, SealedKey.print(sealed), { mode: 0o600 }))
  return file
})

const given = (passphrase: string) =>
  Effect.provideService(KeyPassphrase.KeyPassphrase, KeyPassphrase.known(Redacted.make(passphrase)))

describe("a passphrase file", () => {
  it.scopedLive("holds the passphrase on one line, without its line end", () =>
    Effect.gen(function* () {
      for (const end of ["", "\n", "\r\n"]) {
        const file = yield* holding(`${PASSPHRASE}${end}`)
        expect(Redacted.value(yield* KeyPassphrase.load(file))).toBe(PASSPHRASE)
      }
      const spaced = yield* holding(" with spaces \n", 0o400)
      expect(Redacted.value(yield* KeyPassphrase.load(spaced))).toBe(" with spaces ")
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("is refused in one line that shows nothing of it", () =>
    Effect.gen(function* () {
      const faults: ReadonlyArray<readonly [content: string | Uint8Array, reason: string]> = [
        ["", "is empty; write the passphrase into it, on one line"],
        ["\n", "is empty; write the passphrase into it, on one line"],
        ["secret\n\n", "expected one line, found several"],
        ["secret\nsecret", "expected one line, found several"],
        [Uint8Array.of(0x73, 0xff, 0x74), "expected text in UTF-8, found something else"],
        ["secret".repeat(200), "expected a passphrase of at most 1024 bytes, found more"],
      ]
      for (const [content, reason] of faults) {
        const file = yield* holding(content)
        const refused = yield* Effect.flip(KeyPassphrase.load(file))
        expect(refused.message).toBe(`passphrase file ${file}: ${reason}`)
        expect(JSON.stringify(refused)).not.toContain("secret")
      }
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("is refused if others may read it, or if it is not a file", () =>
    Effect.gen(function* () {
      for (const mode of [0o644, 0o640, 0o602]) {
        const file = yield* holding(PASSPHRASE)
        chmodSync(file, mode)
        expect((yield* Effect.flip(KeyPassphrase.load(file))).message).toBe(
          `passphrase file ${file}: others may read it (mode 0${mode.toString(8)}); run: chmod 600 ${file}`,
        )
      }
      const missing = yield* place("nothing")
      expect((yield* Effect.flip(KeyPassphrase.load(missing))).message).toBe(
        `passphrase file ${missing}: cannot be read: NotFound`,
      )
      mkdirSync(missing, { mode: 0o700 })
      expect((yield* Effect.flip(KeyPassphrase.load(missing))).message).toContain("not a regular file")
      // A pipe without a writer would block the start.
      const pipe = yield* place("pipe")
      execFileSync("mkfifo", ["-m", "600", pipe])
      expect((yield* Effect.flip(KeyPassphrase.load(pipe))).message).toContain("not a regular file")
    }).pipe(Effect.provide(world.platform)),
  )
})

describe("an encrypted key file", () => {
  it.scopedLive("opens with its passphrase without blocking the event loop", () =>
    Effect.gen(function* () {
      const file = yield* sealedKey
      let turns = 0
      const turning = setInterval(() => turns++, 1)
      const key = yield* Effect.ensuring(
        given(PASSPHRASE)(KeyFile.load(file)),
        Effect.sync(() => clearInterval(turning)),
      )
      expect(key.toSecretHex()).toBe(world.key(1).toSecretHex())
      expect(turns).toBeGreaterThan(0)
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("does not open with another passphrase, or without any", () =>
    Effect.gen(function* () {
      const file = yield* sealedKey
      const wrong = yield* Effect.flip(given("another passphrase")(KeyFile.load(file)))
      expect(wrong.message).toBe(`key file ${file}: the passphrase is wrong, or the file was modified`)
      const none = yield* Effect.flip(KeyFile.load(file))
      expect(none.message).toBe(
        `key file ${file}: is encrypted; name the file with its passphrase with --key-passphrase-file FILE`,
      )
      expect(JSON.stringify([wrong, none])).not.toMatch(/another|horse/)
      chmodSync(file, 0o640)
      expect((yield* Effect.flip(given(PASSPHRASE)(KeyFile.load(file)))).message).toContain("others may read it")
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("is reported as damaged if it is truncated, and is not replaced", () =>
    Effect.gen(function* () {
      const file = yield* sealedKey
      const half = readFileSync(file, "utf8").slice(0, 200)
      writeFileSync(file, half)
      const refused = yield* Effect.flip(given(PASSPHRASE)(KeyFile.loadOrCreate(file)))
      expect(refused.message).toBe(`key file ${file}: it is damaged, or not a key file of this program`)
      expect(readFileSync(file, "utf8")).toBe(half)
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("is created if there is a passphrase of sufficient length", () =>
    Effect.gen(function* () {
      const file = yield* place("validator.key")
      const refused = yield* Effect.flip(given("too short")(KeyFile.loadOrCreate(file)))
      expect(refused.message).toBe(`key file ${file}: was not created: its passphrase needs at least 10 characters`)
      const key = yield* given(PASSPHRASE)(KeyFile.loadOrCreate(file))
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(readFileSync(file, "utf8")).not.toContain(key.toSecretHex())
      expect((yield* given(PASSPHRASE)(KeyFile.loadOrCreate(file))).publicKey).toBe(key.publicKey)
    }).pipe(Effect.provide(world.platform)),
  )
})
