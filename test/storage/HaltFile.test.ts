import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { describe, expect } from "vitest"
import { Halted } from "../../src/node/lifecycle/Ending.js"
import * as HaltFile from "../../src/storage/files/HaltFile.js"
import * as PeerFile from "../../src/storage/files/PeerFile.js"
import * as RunningFile from "../../src/storage/files/RunningFile.js"
import { withPlatform } from "./withStorage.js"
import * as world from "./world.js"

const halt = { exit_code: 101, reason: "coins are missing", at: 1_767_225_600_000, version: "0.1.0" } as const

const pipeAt = (path: string) => execFileSync("mkfifo", [path])

describe("the mark of a halted node", () => {
  withPlatform("is read as it was written", function* () {
    const path = `${yield* world.temporaryDirectory}/halted.json`
    expect(yield* HaltFile.load(path)).toEqual(Option.none())
    yield* HaltFile.write(path, halt)
    expect(yield* HaltFile.load(path)).toEqual(Option.some(halt))
  })

  it.scopedLive.each<readonly [made: (path: string) => void, why: string]>([
    [pipeAt, "not a regular file"],
    [(path) => mkdirSync(path), "not a regular file"],
    [(path) => writeFileSync(path, " ".repeat(70_000)), "larger than 65536 bytes"],
    [(path) => writeFileSync(path, "{}"), "not what a node writes there"],
  ])("halts a node even if it cannot be read, with the reason: %#", ([made, why]) =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      const path = `${directory}/halted.json`
      made(path)
      const { exit_code: exitCode, ...found } = Option.getOrThrow(yield* HaltFile.load(path))
      expect(found).toEqual({ reason: `${path} cannot be read: ${why}`, at: null, version: null })
      expect(new Halted({ directory, exitCode, ...found }).message).toBe(
        `${path} cannot be read: ${why}; the node may have ended with 100, 101 or 102; ` +
          `do what docs/operations/exit-102.md says, and then run udg recover --data-dir ${directory}`,
      )
    }).pipe(Effect.provide(world.platform)),
  )
})

withPlatform("does not block on a pipe in a data directory", function* () {
  const path = `${yield* world.temporaryDirectory}/pipe`
  pipeAt(path)
  expect(yield* RunningFile.load(path)).toEqual(Option.none())
  expect(yield* PeerFile.load(path)).toEqual([])
})
