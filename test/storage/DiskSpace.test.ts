import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, expect, it } from "vitest"
import * as DiskSpace from "../../src/storage/files/DiskSpace.js"

const path = mkdtempSync(join(tmpdir(), "udg-space-"))
afterAll(() => rmSync(path, { recursive: true }))

it("reports the size of each existing database, and the free space", async () => {
  writeFileSync(join(path, "udg.db"), "12345")
  writeFileSync(join(path, "signed.db-wal"), "123")
  const space = await Effect.runPromise(DiskSpace.measure({ path }))
  expect(space?.files).toEqual([
    ["udg.db", 5],
    ["signed.db-wal", 3],
  ])
  const { bavail, bsize } = statfsSync(path)
  expect(Math.abs((space?.freeBytes ?? 0) / (bavail * bsize) - 1)).toBeLessThan(0.1)
})

it("reports nothing for a deleted directory", async () => {
  expect(await Effect.runPromise(DiskSpace.measure({ path: join(path, "gone") }))).toBeNull()
})
