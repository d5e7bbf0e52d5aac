import { existsSync, writeFileSync } from "node:fs"
import { it } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import * as Genesis from "../../src/protocol/Genesis.js"
import * as GenesisFile from "../../src/storage/GenesisFile.js"
import * as world from "./world.js"

const inPlace = Effect.map(world.temporaryDirectory, (path) => `${path}/genesis.json`)

describe("a genesis file", () => {
  it.scopedLive("gives back the genesis that was written", () =>
    Effect.gen(function* () {
      const file = yield* inPlace
      yield* GenesisFile.write(file, world.genesis())
      expect(yield* GenesisFile.load(file)).toEqual(world.genesis())
      expect(existsSync(`${file}.new`)).toBe(false)
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("that cannot be used is refused in one line that names the file and the field", () =>
    Effect.gen(function* () {
      const file = yield* inPlace
      const refusal = Effect.map(Effect.flip(GenesisFile.load(file)), ({ message }) => message)
      expect(yield* refusal).toBe(`genesis file ${file}: cannot be read: NotFound`)
      writeFileSync(file, "{")
      expect(yield* refusal).toBe(`genesis file ${file}: not JSON`)
      const json = Genesis.toJson(world.genesis())
      writeFileSync(file, JSON.stringify({ ...json, network_id: "Not One" }))
      expect(yield* refusal).toMatch(/^genesis file .*genesis\.json: network_id: .*$/)
      writeFileSync(file, JSON.stringify({ ...json, treasury: Number.MAX_SAFE_INTEGER }))
      expect(yield* refusal).toMatch(/^genesis file .*genesis\.json: treasury: .*$/)
    }).pipe(Effect.provide(world.platform)),
  )
})
