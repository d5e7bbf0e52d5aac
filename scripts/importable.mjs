// The files of a build that can be imported, through the package's exports and by thread programs. tsc writes every
// module, but the program is a separate bundle, so most modules would be published for nothing.
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

const specifiers = /(?:\bfrom|\bimport)\s*\(?\s*"([.#][^"]+)"/g

/** Every file that an entry reaches through imports, of the kind that `ending` names. */
const reached = (entries, ending, placesOf) => {
  const found = new Set()
  const left = [...entries]
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (found.has(file) || !existsSync(file)) continue
    found.add(file)
    for (const [, specifier] of readFileSync(file, "utf8").matchAll(specifiers)) {
      const places = specifier.startsWith("#") ? placesOf(specifier) : [join(dirname(file), specifier)]
      left.push(...places.map((place) => place.replace(/\.js$/, ending)))
    }
  }
  return found
}

/** The files below `folder`, the later `dist`, that the package with this package.json exports. */
export const importable = (folder, { exports, imports }, programs) => {
  const built = (path) => join(folder, path.replace(/^\.\/dist\//, ""))
  const placesOf = (name) =>
    Object.values(imports[name] ?? {})
      .filter((path) => path.startsWith("./dist/"))
      .map(built)
  const entries = Object.values(exports).filter((entry) => typeof entry === "object")
  const modules = [...entries.map((entry) => built(entry.default)), ...programs.map((name) => built(`${name}.js`))]
  const types = entries.map((entry) => built(entry.types))
  return new Set([...reached(modules, ".js", placesOf), ...reached(types, ".d.ts", placesOf)])
}
