import { resolve } from "node:path"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import { expect, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

/** Bundles as a web page would. esbuild fails on any Node import. */
const bundle = async (entry: string) => {
  const result = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    alias: { "#crypto": resolve(root, "src/protocol/crypto/Portable.ts") },
    logLevel: "silent",
  })
  const [output] = result.outputFiles
  const bytes = output?.contents ?? new Uint8Array()
  return {
    /** The modules that contribute code to the bundle. */
    inputs: Object.values(result.metafile.outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput === 0 ? [] : [path])),
    ),
    kilobytes: bytes.length / 1024,
    gzipped: gzipSync(bytes).length / 1024,
  }
}

const NATIVE = /Native|sodium|platform-node|src\/(node|ledger|storage)/
const SCHEMAS = /esm\/Schema/

it.each([
  ["src/client/Client.ts", 60, [NATIVE, SCHEMAS]],
  ["src/client/Wallet.ts", 40, [NATIVE, SCHEMAS]],
  ["src/light/Light.ts", 250, [NATIVE]],
] as const)("%s runs in browsers", async (entry, mostGzipped, foreign) => {
  const { inputs, kilobytes, gzipped } = await bundle(entry)
  process.stdout.write(`${entry}: ${kilobytes.toFixed(0)} KiB, ${gzipped.toFixed(0)} KiB gzipped\n`)
  expect(inputs.filter((path) => foreign.some((each) => each.test(path)))).toEqual([])
  expect(gzipped).toBeLessThan(mostGzipped)
})
