import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import * as KeyFile from "../../src/storage/files/KeyFile.js"
import { given, withPlatform } from "./withStorage.js"
import * as world from "./world.js"

const inPlace = Effect.map(world.temporaryDirectory, (path) => `${path}/validator.key`)

const holding = (content: string, mode = 0o600) =>
  Effect.tap(inPlace, (file) => Effect.sync(() => writeFileSync(file, content, { mode })))

const withFile = given(inPlace)

describe("a key file", () => {
  withFile("holds the key for its owner alone, with nothing left beside it", function* (file) {
    const key = yield* KeyFile.loadOrCreate(file)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, "utf8")).toBe(`${key.toSecretHex()}\n`)
    expect(existsSync(`${file}.new`)).toBe(false)
    expect((yield* KeyFile.loadOrCreate(file)).publicKey).toBe(key.publicKey)
    expect((yield* KeyFile.load(file)).toSecretHex()).toBe(key.toSecretHex())
  })

  withFile("is never overwritten", function* (file) {
    yield* KeyFile.create(file, world.key(1))
    const refused = yield* Effect.flip(KeyFile.create(file, world.key(2)))
    expect(refused.message).toBe(`key file ${file}: exists already`)
    expect((yield* KeyFile.load(file)).publicKey).toBe(world.key(1).publicKey)
  })

  withFile("is written although an earlier attempt was interrupted", function* (file) {
    writeFileSync(`${file}.new`, "half of a k", { mode: 0o644 })
    const key = yield* KeyFile.loadOrCreate(file)
    expect(readFileSync(file, "utf8")).toBe(`${key.toSecretHex()}\n`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  withPlatform("that others may read is refused with the remedy", function* () {
    for (const mode of [0o644, 0o640, 0o602]) {
      const file = yield* holding(`${world.key(1).toSecretHex()}\n`)
      chmodSync(file, mode)
      const refused = yield* Effect.flip(KeyFile.load(file))
      expect(refused.message).toBe(
        `key file ${file}: others may read it (mode 0${mode.toString(8)}); run: chmod 600 ${file}`,
      )
    }
    const readOnly = yield* holding(world.key(1).toSecretHex(), 0o400)
    expect((yield* KeyFile.load(readOnly)).publicKey).toBe(world.key(1).publicKey)
  })

  withPlatform("that holds something else is refused in one line that shows none of it", function* () {
    const secret = world.key(1).toSecretHex()
    for (const content of ["", "\n", secret.slice(1), `${secret}00`, `${secret} ${secret}`, `x${secret.slice(1)}`]) {
      const file = yield* holding(content)
      const refused = yield* Effect.flip(KeyFile.loadOrCreate(file))
      expect(refused.message).toMatch(/^key file .*validator\.key: expected 64 hex characters, [a-z ]+$/)
      expect(JSON.stringify(refused)).not.toContain(secret.slice(1, 60))
      expect(readFileSync(file, "utf8")).toBe(content)
    }
  })

  withFile("that is missing, not a file, or a dangling link is refused", function* (file) {
    expect((yield* Effect.flip(KeyFile.load(file))).message).toBe(`key file ${file}: cannot be read: NotFound`)
    mkdirSync(`${file}.d`, { mode: 0o700 })
    expect((yield* Effect.flip(KeyFile.load(`${file}.d`))).message).toContain("not a regular file")
    symlinkSync(`${file}.nowhere`, `${file}.link`)
    expect((yield* Effect.flip(KeyFile.load(`${file}.link`))).message).toContain("NotFound")
    expect((yield* Effect.flip(KeyFile.create(`${file}/below/it`, world.key(1)))).message).toContain(
      "cannot be written: NotFound",
    )
  })
})
