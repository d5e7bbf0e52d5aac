// The arrows of CONTRIBUTING.md: which folder of src/ may import which. Fails naming every import that points the wrong way.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { pathToFileURL } from "node:url"

const everything = ["protocol", "ledger", "consensus", "storage", "network", "node", "rpc", "client", "cli", "explorer"]

/** folder → the folders of ours it may import, besides itself. */
const mayImport = {
  protocol: [],
  ledger: ["protocol"],
  consensus: ["protocol", "ledger"],
  storage: ["protocol", "ledger", "consensus"],
  network: ["protocol", "ledger", "consensus"],
  node: ["protocol", "ledger", "consensus", "storage", "network"],
  rpc: ["protocol", "ledger", "consensus", "node"],
  client: ["protocol", "rpc/Api"],
  explorer: ["protocol", "client"],
  cli: everything,
  main: everything,
}

/** Endpoint definitions are shared with browsers: they see only the vocabulary and each other. */
const apiDefinitions = ["protocol", "rpc/Api"]

/** Folders that run in browsers: no Node module, no native package. `protocol/crypto/Native.ts` is the one native door. */
const portable = new Set(["protocol", "ledger", "consensus", "client", "explorer"])
const nativeDoor = "protocol/crypto/Native.ts"
const nodeOnly = /^(node:|@effect\/platform-node|@effect\/sql|@effect\/cli|sodium-native|better-sqlite3)/

const isApiDefinition = (path) => /^rpc\/(.+\/)?Api\.ts$/.test(path)

const folderOf = (path) => (path.includes("/") ? path.slice(0, path.indexOf("/")) : "main")

const filesBelow = (root) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mts)$/.test(entry.name) && !entry.name.endsWith(".d.ts"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort()

const importsOf = (source) =>
  [...source.matchAll(/(?:^|[\s;}])(?:import|export)\b[^;"'`]*?\bfrom\s*["']([^"']+)["']/g)]
    .concat([...source.matchAll(/\bimport\s*\(?\s*["']([^"']+)["']/g)])
    .map((match) => match[1])

/** The lines that name a broken arrow in the tree below `root`; empty when the house stands. */
export const violations = (root) =>
  filesBelow(root).flatMap((path) => {
    const folder = folderOf(path)
    const allowed = isApiDefinition(path) ? apiDefinitions : mayImport[folder]
    if (allowed === undefined)
      return [`src/${path}: folder "${folder}" has no place in the design; add it to scripts/layers.mjs`]
    return importsOf(readFileSync(join(root, path), "utf8")).flatMap((specifier) => {
      if (!specifier.startsWith(".")) {
        const forbidden =
          (portable.has(folder) || isApiDefinition(path)) && nodeOnly.test(specifier) && path !== nativeDoor
        return forbidden ? [`src/${path} imports ${specifier}, but ${folder}/ must run in browsers`] : []
      }
      const target = relative(root, resolve(root, dirname(path), specifier))
        .replaceAll("\\", "/")
        .replace(/\.js$/, ".ts")
      if (target.startsWith("..")) return [`src/${path} imports ${specifier}, outside src/`]
      const targetFolder = folderOf(target)
      const withinOwn = targetFolder === folder && !isApiDefinition(path)
      const fits = withinOwn || allowed.some((to) => (to === "rpc/Api" ? isApiDefinition(target) : to === targetFolder))
      return fits
        ? []
        : [`src/${path} imports ${target}, but ${folder}/ may import only: ${allowed.join(", ") || "nothing of ours"}`]
    })
  })

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const found = violations(resolve(import.meta.dirname, "..", "src"))
  for (const line of found) console.error(`layers: ${line}`)
  process.exit(found.length === 0 ? 0 : 1)
}
