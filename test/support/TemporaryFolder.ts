/** Folders of tests, outside of the repository, which go with them. */
import { randomUUID } from "node:crypto"
import { mkdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, onTestFinished } from "vitest"

const placeOf = (name: string): string => join(tmpdir(), `udg-${name}-${randomUUID()}`)
const make = (folder: string): void => void mkdirSync(folder, { mode: 0o700 })
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true })

/** Exists from before the first test of this file or group until after the last one. */
export const forTests = (name: string): string => {
  const folder = placeOf(name)
  beforeAll(() => make(folder))
  afterAll(() => remove(folder))
  return folder
}

/** Exists until the running test ends. */
export const forTest = (name: string): string => {
  const folder = placeOf(name)
  make(folder)
  onTestFinished(() => remove(folder))
  return folder
}
