/** Checks the packages of the node and the client with publint and attw ("Are the types wrong?"). */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { describe, expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"

const root = resolve(import.meta.dirname, "../..")
const run = promisify(execFile)

const folder = TemporaryFolder.forTests("published")

const packed = async (place: string): Promise<Uint8Array<ArrayBuffer>> => {
  const words = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder]
  const { stdout } = await run("npm", words, { cwd: place, maxBuffer: 16 * 1024 * 1024 })
  const [file]: ReadonlyArray<{ readonly filename: string }> = JSON.parse(stdout)
  return new Uint8Array(readFileSync(join(folder, file?.filename ?? "")))
}

/** The packages are ES modules: `require` and Node 10's resolution are not supported. */
const MODULES = new Set(["node16-esm", "bundler"])

const complaintsOf = async (place: string) => {
  const tarball = await packed(place)
  const { pkg, messages } = await publint({ pack: { tarball: tarball.buffer }, strict: true })
  const analysis = await checkPackage(createPackageFromTarballData(tarball))
  if (!analysis.types) return { lint: [], types: ["no types"] }
  return {
    lint: messages.map((message) => formatMessage(message, pkg)),
    types: analysis.problems.filter((each) => !("resolutionKind" in each) || MODULES.has(each.resolutionKind)),
  }
}

describe(Rest.of("two packages with all their types", "publint and attw find nothing in"), () => {
  it("the package of the node", async () => {
    expect(await complaintsOf(root)).toEqual({ lint: [], types: [] })
  }, 120_000)

  it("the package of the client", async () => {
    const built = join(folder, "client")
    await run(process.execPath, [join(root, "scripts/build-client.mjs"), built])
    expect(await complaintsOf(built)).toEqual({ lint: [], types: [] })
  }, 120_000)
})
