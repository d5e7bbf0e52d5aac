/** A node's encrypted key file, and the file with its passphrase. */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { Effect, Redacted } from "effect"
import { describe, expect } from "vitest"
import * as SealedKey from "../../src/protocol/identity/SealedKey.js"
import * as KeyFile from "../../src/storage/files/KeyFile.js"
import * as KeyPassphrase from "../../src/storage/files/KeyPassphrase.js"
import * as KeySealing from "../../src/storage/files/KeySealing.js"
import { given, withPlatform } from "./withStorage.js"
import * as world from "./world.js"

/** The lowest work factor that a file may have, to keep tests fast. */
const QUICK = 2 ** 14
const PASSPHRASE = "correct horse battery"

const place = (name: string) => Effect.map(world.temporaryDirectory, (path) => `${path}/${name}`)

const holding = (content: string | Uint8Array, mode = 0o600) =>
  Effect.tap(place("passphrase"), (file) => Effect.sync(() => writeFileSync(file, content, { mode })))

const withSealedKey = given(
  Effect.gen(function* () {
    const file = yield* place("validator.key")
    const sealed = yield* KeySealing.seal(world.key(1), PASSPHRASE, QUICK)
    yield* Effect.sync(() => writeFileSync(file, SealedKey.print(sealed), { mode: 0o600 }))
    return file
  }),
)

const knowing = (passphrase: string) =>
  Effect.provideService(KeyPassphrase.KeyPassphrase, KeyPassphrase.known(Redacted.make(passphrase)))

describe("a passphrase file", () => {
  withPlatform("holds the passphrase on one line, without its line end", function* () {
    for (const end of ["", "\n", "\r\n"]) {
      const file = yield* holding(`${PASSPHRASE}${end}`)
      expect(Redacted.value(yield* KeyPassphrase.load(file))).toBe(PASSPHRASE)
    }
    const spaced = yield* holding(" with spaces \n", 0o400)
    expect(Redacted.value(yield* KeyPassphrase.load(spaced))).toBe(" with spaces ")
  })

  withPlatform("is refused in one line that shows nothing of it", function* () {
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
  })

  withPlatform("is refused if others may read it, or if it is not a file", function* () {
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
  })
})

describe("an encrypted key file", () => {
  withSealedKey("opens with its passphrase without blocking the event loop", function* (file) {
    let turns = 0
    const turning = setInterval(() => turns++, 1)
    const key = yield* Effect.ensuring(
      knowing(PASSPHRASE)(KeyFile.load(file)),
      Effect.sync(() => clearInterval(turning)),
    )
    expect(key.toSecretHex()).toBe(world.key(1).toSecretHex())
    expect(turns).toBeGreaterThan(0)
  })

  withSealedKey("does not open with another passphrase, or without any", function* (file) {
    const wrong = yield* Effect.flip(knowing("another passphrase")(KeyFile.load(file)))
    expect(wrong.message).toBe(`key file ${file}: the passphrase is wrong, or the file was modified`)
    const none = yield* Effect.flip(KeyFile.load(file))
    expect(none.message).toBe(
      `key file ${file}: is encrypted; name the file with its passphrase with --key-passphrase-file FILE`,
    )
    expect(JSON.stringify([wrong, none])).not.toMatch(/another|horse/)
    chmodSync(file, 0o640)
    expect((yield* Effect.flip(knowing(PASSPHRASE)(KeyFile.load(file)))).message).toContain("others may read it")
  })

  withSealedKey("is reported as damaged if it is truncated, and is not replaced", function* (file) {
    const half = readFileSync(file, "utf8").slice(0, 200)
    writeFileSync(file, half)
    const refused = yield* Effect.flip(knowing(PASSPHRASE)(KeyFile.loadOrCreate(file)))
    expect(refused.message).toBe(`key file ${file}: it is damaged, or not a key file of this program`)
    expect(readFileSync(file, "utf8")).toBe(half)
  })

  withPlatform("is created if there is a passphrase of sufficient length", function* () {
    const file = yield* place("validator.key")
    const refused = yield* Effect.flip(knowing("too short")(KeyFile.loadOrCreate(file)))
    expect(refused.message).toBe(`key file ${file}: was not created: its passphrase needs at least 10 characters`)
    const key = yield* knowing(PASSPHRASE)(KeyFile.loadOrCreate(file))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, "utf8")).not.toContain(key.toSecretHex())
    expect((yield* knowing(PASSPHRASE)(KeyFile.loadOrCreate(file))).publicKey).toBe(key.publicKey)
  })
})
