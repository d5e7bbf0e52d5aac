// `npm run release`: writes a commit's release to release/: the package, its contents (a CycloneDX list by npm) and the
// checksums of both. The same commit gives the same bytes: with --twice it builds again and compares.
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")
const folder = join(root, "release")

const run = (command, ...words) =>
  execFileSync(command, words, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1_048_576,
    stdio: ["ignore", "pipe", "inherit"],
  })

const digestOf = (content) => createHash("sha256").update(content).digest("hex")

/** npm uses a random number and the clock; these follow from the contents and the commit. */
const bill = () => {
  const listed = JSON.parse(run("npm", "sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only"))
  const timestamp = new Date(run("git", "log", "-1", "--format=%cI").trim()).toISOString()
  const { serialNumber: _, metadata, ...rest } = listed
  const digits = digestOf(JSON.stringify([metadata.component, rest])).slice(0, 32)
  // A name-based UUID, by version and variant.
  const uuid = `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`
  return `${JSON.stringify({ ...rest, serialNumber: `urn:uuid:${uuid}`, metadata: { ...metadata, timestamp } }, null, 2)}\n`
}

/** The checksums after a complete build. */
const release = () => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  run(process.execPath, "scripts/build.mjs")
  const [{ filename }] = JSON.parse(run("npm", "pack", "--json", "--ignore-scripts", "--pack-destination", folder))
  const list = filename.replace(/\.tgz$/, ".cdx.json")
  writeFileSync(join(folder, list), bill())
  const sums = [filename, list].map((name) => `${digestOf(readFileSync(join(folder, name)))}  ${name}\n`).join("")
  writeFileSync(join(folder, "SHA256SUMS"), sums)
  return sums
}

const changed = run("git", "status", "--porcelain").trim()
if (changed !== "") {
  process.stderr.write(`release: these files are not committed, so nobody could build the same:\n${changed}\n`)
  process.exit(1)
}
const sums = release()
if (process.argv.includes("--twice") && release() !== sums) {
  process.stderr.write(`release: the second build differs from the first, which had\n${sums}`)
  process.exit(1)
}
process.stdout.write(`${folder}\n${sums}`)
