import { chmodSync, existsSync, statSync, writeFileSync } from "node:fs"
import { it } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll, describe, expect } from "vitest"
import { DataDirectory } from "../../src/storage/files/DataDirectory.js"
import * as Process from "./Process.js"
import { withDirectory, withPlatform } from "./withStorage.js"
import * as world from "./world.js"

const refusal = (path: string) => Effect.flip(Effect.scoped(DataDirectory.open(path)))

describe("a data directory", () => {
  afterAll(Process.removeBundles)

  withDirectory("is held by one process at a time, and released with the scope", function* (path) {
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* DataDirectory.open(`${path}/made/on/the/way`)
        const refused = yield* refusal(`${path}/made/on/the/way`)
        expect(refused._tag).toBe("DirectoryLocked")
        expect(refused.message).toContain(`${path}/made/on/the/way is in use by another process`)
      }),
    )
    yield* DataDirectory.open(`${path}/made/on/the/way`)
  })

  withPlatform(
    "is created for its owner alone; an existing one open to others gets a warning and stays unchanged",
    function* () {
      const path = `${yield* world.temporaryDirectory}/made/here`
      const modeOf = (): number => statSync(path).mode & 0o777
      const made = yield* Effect.scoped(DataDirectory.open(path))
      expect([modeOf(), made.isOpenToOthers]).toEqual([0o700, false])
      chmodSync(path, 0o755)
      const found = yield* Effect.scoped(DataDirectory.open(path))
      expect([modeOf(), found.isOpenToOthers]).toEqual([0o755, true])
    },
  )

  withDirectory("that another process holds is refused until that process ends, also by kill -9", function* (path) {
    const holder = yield* Process.start("hold", path)
    expect(yield* holder.line).toBe("held")
    expect((yield* refusal(path))._tag).toBe("DirectoryLocked")
    const other = yield* Process.start("hold", path)
    expect(yield* other.line).toMatch(/^DirectoryLocked: .* is in use by another process/)
    yield* holder.kill
    yield* DataDirectory.open(path)
  })

  withDirectory("cannot be a file or below one", function* (path) {
    writeFileSync(`${path}/file`, "")
    for (const impossible of [`${path}/file`, `${path}/file/below`]) {
      const refused = yield* refusal(impossible)
      expect(refused._tag).toBe("DirectoryUnusable")
      expect(refused.message).toContain(`${impossible} cannot be used as a data directory`)
      expect(refused.message).not.toContain("\n")
    }
  })

  it.scopedLive.runIf(existsSync("/proc/self"))("is refused at once where the system allows no creation", () =>
    Effect.gen(function* () {
      const refused = yield* refusal("/proc/nothing/here")
      expect(refused._tag).toBe("DirectoryUnusable")
      expect(refused.message).toMatch(/^\/proc\/nothing\/here cannot be used as a data directory: /)
    }).pipe(Effect.provide(world.platform)),
  )

  if (Process.canMount) {
    withDirectory("on a read-only file system is refused with a reason", function* (path) {
      const child = yield* Process.startOnMount("ro", "hold", path)
      expect(yield* child.line).toMatch(/^DirectoryUnusable: .*make it writable or name another one$/)
    })
  }
})
