import { resolve } from "node:path"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import { expect, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

/** Bundled as a web page would; a Node import anywhere below makes esbuild fail. */
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
    inputs: Object.keys(result.metafile.inputs),
    kilobytes: bytes.length / 1024,
    gzipped: gzipSync(bytes).length / 1024,
  }
}

it.each([
  ["src/client/Client.ts", 250],
  ["src/client/Wallet.ts", 130],
])(
  "%s runs in browsers",
  async (entry, mostGzipped) => {
    const { inputs, kilobytes, gzipped } = await bundle(entry)
    process.stdout.write(`${entry}: ${kilobytes.toFixed(0)} KiB, ${gzipped.toFixed(0)} KiB gzipped\n`)
    expect(inputs.filter((path) => /Native|sodium|platform-node|src\/(node|ledger|storage)/.test(path))).toEqual([])
    expect(gzipped).toBeLessThan(mostGzipped)
  },
  60_000,
)
