import { writeFileSync } from "node:fs"
import { it } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as SignerKeysFile from "../../src/storage/files/SignerKeysFile.js"
import { given } from "./withStorage.js"
import * as world from "./world.js"

const keyOf = () => SecretKey.generate().publicKey
const [signer, first, second] = [keyOf(), keyOf(), keyOf()]
const pathIn = Effect.map(world.temporaryDirectory, (directory) => `${directory}/signer-keys.json`)
const withFile = given(pathIn)

describe("the keys that a signer has named last", () => {
  withFile("are read as they were written, for the same signer", function* (path) {
    expect(yield* SignerKeysFile.load(path, signer)).toEqual([])
    yield* SignerKeysFile.save(path, signer, [first, second])
    expect(yield* SignerKeysFile.load(path, signer)).toEqual([first, second])
    expect(yield* SignerKeysFile.load(path, first)).toEqual([])
  })

  it.scopedLive.each([
    "",
    JSON.stringify({ signer, public_keys: [] }),
    JSON.stringify({ signer, public_keys: [first.slice(1)] }),
    JSON.stringify({ signer, public_keys: [first], more: 1 }),
    JSON.stringify({ public_keys: [first] }),
  ])("are not read from anything else: %j", (text) =>
    Effect.gen(function* () {
      const path = yield* pathIn
      writeFileSync(path, text)
      expect(yield* Effect.flip(SignerKeysFile.load(path, signer))).toBe("not what a node writes there")
    }).pipe(Effect.provide(world.platform)),
  )
})
