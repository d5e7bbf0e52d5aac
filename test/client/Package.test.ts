/** What the built client and wallet add to a program, and what npm would publish. */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative, resolve } from "node:path"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import { expect, it } from "vitest"
import { PROGRAMS } from "../../src/Threads.js"
import * as Stranger from "../testing/Stranger.js"

const root = resolve(import.meta.dirname, "../..")

/** Bundles a program in another folder as the author of a web page would. */
const bundle = async (program: string, platform: "browser" | "node") => {
  const folder = mkdtempSync(join(tmpdir(), "udg-page-"))
  mkdirSync(join(folder, "node_modules"))
  symlinkSync(root, join(folder, "node_modules/udg-node"))
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: folder },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform,
    logLevel: "silent",
  })
  rmSync(folder, { recursive: true })
  const bytes = outputFiles[0]?.contents ?? new Uint8Array()
  return {
    files: Object.keys(metafile.inputs).filter((path) => path !== "<stdin>"),
    kilobytes: bytes.length / 1000,
    gzipped: gzipSync(bytes).length / 1000,
  }
}

it.each([
  ["client", 'export * from "udg-node/client"', 60],
  ["wallet", 'export * from "udg-node/wallet"', 40],
  ["both", 'export * from "udg-node"', 60],
] as const)("the %s is small, and has nothing native in it", async (name, program, mostGzipped) => {
  for (const platform of ["browser", "node"] as const) {
    const { files, kilobytes, gzipped } = await bundle(program, platform)
    if (platform === "browser") {
      process.stdout.write(`${name}: ${kilobytes.toFixed(0)} KB, ${gzipped.toFixed(1)} KB gzipped\n`)
    }
    // No other package, and no module of the node.
    expect(files.filter((path) => !relative(root, resolve(root, path)).startsWith("dist/client/"))).toEqual([])
    expect(gzipped).toBeLessThan(mostGzipped)
  }
})

it("loads a few files on import, and one set of classes", async () => {
  const { code, said } = await Stranger.run(`
    const started = performance.now()
    const both = await import("udg-node")
    const milliseconds = performance.now() - started
    const [client, wallet, testing] = await Promise.all(
      ["client", "wallet", "effect"].map((name) => import("udg-node/" + name)),
    )
    const isOne = both.RequestRefused === client.RequestRefused && both.Wallet.InvalidInput === client.InvalidInput
    console.log(isOne && wallet.InvalidInput === client.InvalidInput && typeof testing.make, milliseconds)
  `)
  expect(said).toMatch(/^function \d/)
  expect(code).toBe(0)
  process.stdout.write(`import "udg-node": ${Number(said.split(" ")[1]).toFixed(0)} ms\n`)
})

it("publishes no source maps, and less than two megabytes", async () => {
  const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    maxBuffer: 16 * 1024 * 1024,
  })
  const [packed]: ReadonlyArray<{ size: number; unpackedSize: number; files: ReadonlyArray<{ path: string }> }> =
    JSON.parse(stdout)
  process.stdout.write(`package: ${packed?.size} bytes packed, ${packed?.unpackedSize} unpacked\n`)
  expect(packed?.files.filter(({ path }) => path.endsWith(".map"))).toEqual([])
  expect(packed?.size).toBeLessThan(2_000_000)
})

it.each(PROGRAMS)("loads no whole package in the program of a thread, %s", (program) => {
  const imported = readFileSync(join(root, "dist", `${program}.js`), "utf8").match(/from ?"[^"]*"/g) ?? []
  const packages = imported.filter((specifier) => !/"(?:node:|\.\.?\/)/.test(specifier))
  expect(packages).toEqual([])
})
