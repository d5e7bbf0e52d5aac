import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, expect, it } from "vitest"
import * as Bundle from "../support/Bundle.js"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"

let program = ""
const folder = TemporaryFolder.forTests("deadline")
beforeAll(async () => {
  program = await Bundle.make({ entry: "test/scripts/Endless.ts", outfile: "endless.mjs" })
})

/** How the program with this story exits, and whether it leaves a mark. */
const told = async (story: string) => {
  const mark = join(folder, story)
  const [code, signal] = await once(spawn(process.execPath, [program, story, mark], { stdio: "inherit" }), "close")
  return { code, signal, isMarked: existsSync(mark) }
}

it.each(["a loop", "a loop after a wait", "endless waits", "a wait in vain"])(
  Rest.of("it waits", "a deadline ends %s"),
  async (story) => {
    expect(await told(story)).toEqual({ code: null, signal: "SIGKILL", isMarked: true })
  },
)

it.each(["short", "starved"])(Rest.of("it waits", "a deadline lets %s work finish"), async (story) => {
  expect(await told(story)).toEqual({ code: 0, signal: null, isMarked: false })
})
