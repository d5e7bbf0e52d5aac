// `node scripts/image.mjs FOLDER`, after a build: assembles the container image's content: the program, its user
// documentation, and only those packages that the bundle does not contain, with their dependencies.
import { cpSync, readFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"

/** Native code, which `scripts/build.mjs` cannot bundle, and imports of thread programs. */
const OUTSIDE = ["better-sqlite3", "sodium-native", "@noble/ed25519"]
/** Downloads native code when a package is installed. */
const ONLY_INSTALLS = "prebuild-install"

const root = resolve(import.meta.dirname, "..")
const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error("the folder to fill is missing")

/** Source code, manuals, and native code for other platforms. */
const NOT_LOADED = [
  /\.(map|d\.ts|d\.mts)$/,
  /^node_modules\/.*\.md$/,
  /^node_modules\/better-sqlite3\/(deps|src|build\/(?!Release$|Release\/better_sqlite3\.node$))/,
  new RegExp(`^node_modules/sodium-native/prebuilds/(?!${process.platform}-${process.arch}(/|$))`),
]

const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
/** The package also leaves them out. */
const unpublished = new Set(files.filter((name) => name.startsWith("!")).map((name) => name.slice(1)))

const isLeftOut = (name) => unpublished.has(name) || NOT_LOADED.some((pattern) => pattern.test(name))

const copy = (name) =>
  cpSync(join(root, name), join(folder, name), {
    recursive: true,
    filter: (file) => !isLeftOut(relative(root, file)),
  })

/** The packages and all their dependencies. */
const withDependencies = (names) => {
  const found = new Set()
  const left = [...names]
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (found.has(name)) continue
    found.add(name)
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8"))
    left.push(...Object.keys(dependencies).filter((each) => each !== ONLY_INSTALLS))
  }
  return found
}

for (const name of ["package.json", "LICENSE", "README.md", "docs", "dist"]) copy(name)
for (const name of withDependencies(OUTSIDE)) copy(`node_modules/${name}`)
