/** Encrypts a key file in place, on a machine that fails at each step. */
import {
  chmodSync,
  chownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { geteuid } from "node:process"
import { FileSystem } from "@effect/platform"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Exit, Option } from "effect"
import { beforeEach, describe, expect, it } from "vitest"
import * as KeyStore from "../../../src/cli/keys/KeyStore.js"
import * as Keys from "../../../src/protocol/identity/Keys.js"
import * as KeyFile from "../../../src/storage/files/KeyFile.js"
import * as TemporaryFolder from "../../support/TemporaryFolder.js"

const key = Keys.SecretKey.generate()

let folder = ""
let file = ""
beforeEach(() => {
  folder = TemporaryFolder.forTest("keystore")
  file = `${folder}/validator.key`
  writeFileSync(file, `${key.toSecretHex()}\n`, { mode: 0o600 })
})

/** A file system that loses power before its n-th operation. Later operations have no effect. */
const dying = (files: FileSystem.FileSystem, n: number) => {
  let left = n
  const isOff = () => left-- <= 0
  const lost = Effect.die("no power")
  const unless = <A, E>(done: Effect.Effect<A, E>) => Effect.suspend(() => (isOff() ? lost : done))
  const mortal: FileSystem.FileSystem = {
    ...files,
    remove: (...all) => unless(files.remove(...all)),
    rename: (...all) => unless(files.rename(...all)),
    chown: (...all) => unless(files.chown(...all)),
    open: (...all) =>
      Effect.map(
        Effect.zipRight(
          Effect.suspend(() => (isOff() ? lost : Effect.void)),
          files.open(...all),
        ),
        (opened) => ({
          ...opened,
          // The first half of a write survives.
          writeAll: (bytes) =>
            Effect.suspend(() =>
              isOff()
                ? Effect.zipRight(opened.writeAll(bytes.subarray(0, bytes.length / 2)), lost)
                : opened.writeAll(bytes),
            ),
          sync: unless(opened.sync),
        }),
      ),
  }
  return mortal
}

const withFiles = <A, E>(effect: Effect.Effect<A, E, FileSystem.FileSystem>, steps = Number.POSITIVE_INFINITY) =>
  Effect.flatMap(FileSystem.FileSystem, (files) =>
    Effect.exit(Effect.provideService(effect, FileSystem.FileSystem, dying(files, steps))),
  ).pipe(Effect.provide(NodeFileSystem.layer), Effect.runPromise)

const heldKey = () =>
  Effect.runPromise(
    Effect.map(Effect.provide(KeyFile.load(file), NodeFileSystem.layer), (found) => found.toSecretHex()),
  )

describe("a replaced key file", () => {
  it("holds the key wherever the power fails, and the whole text afterwards", async () => {
    let steps = 0
    for (; ; steps++) {
      const exit = await withFiles(KeyStore.replaceInPlainText(file, key), steps)
      expect(await heldKey()).toBe(key.toSecretHex())
      expect(lstatSync(file).mode & 0o777).toBe(0o600)
      if (Exit.isSuccess(exit)) break
      rmSync(`${file}.new`, { force: true })
    }
    // Opened, written, synced, renamed, and the directory opened and synced.
    expect(steps).toBeGreaterThanOrEqual(6)
    expect(readdirSync(folder)).toEqual(["validator.key"])
  })

  it("is unaffected by the remains of an interrupted change", async () => {
    writeFileSync(`${file}.new`, "half", { mode: 0o600 })
    const exit = await withFiles(KeyStore.replaceInPlainText(file, Keys.SecretKey.generate()))
    expect(String(exit)).toContain(`${file}.new is left over from an interrupted change, and ${file} is intact; remove`)
    expect(await heldKey()).toBe(key.toSecretHex())
    expect(readFileSync(`${file}.new`, "utf8")).toBe("half")
  })

  it("opens with its passphrase, and a link still leads to it", async () => {
    symlinkSync(file, `${folder}/link.key`)
    expect(
      Exit.isSuccess(await withFiles(KeyStore.replaceSealed(`${folder}/link.key`, key, "correct horse battery"))),
    ).toBe(true)
    expect(lstatSync(`${folder}/link.key`).isSymbolicLink()).toBe(true)
    expect(readFileSync(file, "utf8")).not.toContain(key.toSecretHex())
    const found = await Effect.runPromise(Effect.provide(KeyStore.load(Option.some(file)), NodeFileSystem.layer))
    expect(found).toMatchObject({ isSealed: true, publicKey: key.publicKey })
  })

  it.runIf(geteuid?.() === 0)("keeps its owner when root replaces it", async () => {
    chownSync(file, 65_534, 65_534)
    chmodSync(file, 0o400)
    await withFiles(KeyStore.replaceInPlainText(file, key))
    const { uid, gid, mode } = statSync(file)
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 65_534, gid: 65_534, mode: 0o600 })
  })
})
