// The arrows of CONTRIBUTING.md: what each place of src/ may import, of ours and of others. Fails naming every import that
// is not listed here, and every file that needs itself before it is loaded. What a place may use without importing it (globals, names of a package) says biome.json.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { pathToFileURL } from "node:url"

const everything = ["protocol", "ledger", "consensus", "storage", "network", "node", "rpc", "client", "cli", "explorer"]

/**
 * Place → the folders of ours it may import besides its own, and the packages; `*` stands for any ending. A file belongs to
 * the longest place it lies in. Nothing of Node or native is listed for what runs in browsers: protocol, ledger, consensus,
 * client, explorer and the endpoint definitions (rpc/Api); protocol/crypto/Native.ts is the one native door.
 */
const house = {
  protocol: { ours: [], packages: ["effect", "#crypto", "bech32"] },
  "protocol/crypto": { ours: [], packages: ["@noble/*"] },
  "protocol/crypto/Native.ts": { ours: [], packages: ["@noble/*", "node:crypto", "node:module", "sodium-native"] },
  ledger: { ours: ["protocol"], packages: ["effect", "#crypto"] },
  consensus: { ours: ["protocol", "ledger"], packages: ["effect", "#crypto"] },
  storage: {
    ours: ["protocol", "ledger", "consensus"],
    packages: [
      "effect",
      "#crypto",
      "@effect/experimental/Reactivity",
      "@effect/platform",
      "@effect/platform/Error",
      "@effect/sql",
      "@effect/sql-sqlite-node/*",
      "better-sqlite3",
      "node:os",
      "node:path",
    ],
  },
  network: { ours: ["protocol", "ledger", "consensus"], packages: ["effect", "#crypto", "node:net"] },
  /** Loaded only when a node talks to others. */
  "network/libp2p": {
    ours: ["protocol", "ledger", "consensus"],
    packages: [
      "effect",
      "#crypto",
      "libp2p",
      "@libp2p/*",
      "@chainsafe/*",
      "@multiformats/multiaddr",
      "node:timers/promises",
    ],
  },
  node: {
    ours: ["protocol", "ledger", "consensus", "storage", "network"],
    packages: ["effect", "effect/*", "#crypto", "@effect/platform", "@effect/platform/Error", "node:net", "node:path"],
  },
  /** The two places with threads: what writes, and what checks signatures. */
  "storage/WriterThread.ts": {
    ours: [],
    packages: ["effect", "@effect/experimental/Reactivity", "@effect/sql", "node:module", "node:worker_threads"],
  },
  "node/Verifier.ts": {
    ours: ["protocol", "network"],
    packages: ["effect", "node:module", "node:os", "node:url", "node:worker_threads"],
  },
  rpc: {
    ours: ["protocol", "ledger", "consensus", "node"],
    packages: [
      "effect",
      "@effect/platform",
      "prom-client",
      "node:buffer",
      "node:crypto",
      "node:http",
      "node:net",
      "node:stream",
      "node:url",
      "node:zlib",
    ],
  },
  /** Shared with browsers, so it sees only the vocabulary and its like. */
  "rpc/Api": { ours: ["protocol", "rpc/Api"], packages: ["effect", "@effect/platform"] },
  client: { ours: ["protocol", "rpc/Api"], packages: ["effect", "@effect/platform"] },
  explorer: {
    ours: ["protocol", "client", "rpc/Api"],
    packages: ["effect", "preact", "preact/hooks", "@preact/signals"],
  },
  /** A node for the tests of others: built like the command line's, handed out like the client. */
  testing: {
    ours: ["protocol", "network", "node", "rpc", "client"],
    packages: ["effect", "#crypto", "@effect/platform-node/NodeFileSystem"],
  },
  cli: { ours: everything, packages: ["effect", "#crypto", "@effect/*", "node:*"] },
  main: { ours: everything, packages: ["effect", "@effect/*", "node:*"] },
}

const isApiDefinition = (path) => /^rpc\/(.+\/)?Api\.ts$/.test(path)

const folderOf = (path) => (path.includes("/") ? path.slice(0, path.indexOf("/")) : "main")

const placeOf = (path) =>
  isApiDefinition(path)
    ? "rpc/Api"
    : (Object.keys(house)
        .filter((place) => path === place || path.startsWith(`${place}/`))
        .sort((a, b) => b.length - a.length)[0] ?? folderOf(path))

const matches = (specifier, entry) =>
  entry.endsWith("*") ? specifier.startsWith(entry.slice(0, -1)) : specifier === entry

/** Everything below `root` but the folders, so that a link or a script in another language is seen, not passed over. */
const entriesBelow = (root) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => ({
      path: relative(root, join(entry.parentPath, entry.name)).replaceAll("\\", "/"),
      isLink: !entry.isFile(),
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))

const withoutComments = (source) =>
  source.replaceAll(
    /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (_, string) => string ?? " ",
  )

const importsIn = (source) =>
  [...source.matchAll(/(?:^|[\s;}])(?:import|export)\b[^;"'`]*?\bfrom\s*["']([^"']+)["']/g)]
    .concat([...source.matchAll(/\bimport\s*\(?\s*["']([^"']+)["']/g)])
    .map((match) => match[1])

/** Read with comments and without: one may hide an import, and what looks like one may be in a string. */
const importsOf = (source) => [...new Set([...importsIn(source), ...importsIn(withoutComments(source))])]

const hasComputedImport = (source) => /(?<![.\w])import\s*\((?!\s*(?:"[^"\n]*"|'[^'\n]*')\s*[,)])/.test(source)

/** The file below `root` that a relative import names. */
const targetOf = (root, path, specifier) =>
  relative(root, resolve(root, dirname(path), specifier))
    .replaceAll("\\", "/")
    .replace(/\.js$/, ".ts")

/** Without those that are gone before anything runs. */
const importsAtRunTime = (source) => importsIn(source.replaceAll(/\b(import|export) type\b[^"'`]*["'][^"']+["']/g, " "))

const complaintOf = (root, path, specifier) => {
  const place = placeOf(path)
  const { ours, packages } = house[place]
  const may = (allowed, none) =>
    `but ${place}${place.includes(".") ? "" : "/"} may import only: ${allowed.join(", ") || none}`
  if (!specifier.startsWith(".")) {
    if (packages.some((entry) => matches(specifier, entry))) return []
    return [`src/${path} imports ${specifier}, ${may(packages, "no package")}`]
  }
  const target = targetOf(root, path, specifier)
  if (target.startsWith("..")) return [`src/${path} imports ${specifier}, outside src/`]
  const withinOwn = folderOf(target) === folderOf(path) && place !== "rpc/Api"
  const fits = withinOwn || ours.some((to) => (to === "rpc/Api" ? isApiDefinition(target) : to === folderOf(target)))
  return fits ? [] : [`src/${path} imports ${target}, ${may(ours, "nothing of ours")}`]
}

/** The text of a thread cannot name a package: the file resolves it by its name and hands over where it lies. */
const loadedByThreads = { "node/Verifier.ts": "import(workerData.noble)" }

/** The lines that name a broken arrow in the tree below `root`; empty when the house stands. */
export const violations = (root) =>
  entriesBelow(root).flatMap(({ path, isLink }) => {
    if (isLink) return [`src/${path}: a link; what it leads to cannot be judged`]
    if (/\.([cm]js|jsx?|[cm]ts)$/.test(path)) return [`src/${path}: only .ts and .tsx are checked; rename it`]
    if (!/\.tsx?$/.test(path)) return []
    if (!Object.hasOwn(house, placeOf(path)))
      return [`src/${path}: folder "${folderOf(path)}" has no place in the design; add it to scripts/layers.mjs`]
    const source = readFileSync(join(root, path), "utf8")
    const computed = hasComputedImport(withoutComments(source).replaceAll(loadedByThreads[path] ?? "\0", ""))
      ? [`src/${path}: import() of something computed cannot be judged; give it one plain string`]
      : []
    return computed.concat(importsOf(source).flatMap((specifier) => complaintOf(root, path, specifier)))
  })

/** A line for every cycle of imports below `root`: modules that load each other see each other half made. */
export const cycles = (root) => {
  const imports = new Map(
    entriesBelow(root)
      .filter(({ path, isLink }) => !isLink && /\.tsx?$/.test(path))
      .map(({ path }) => [
        path,
        importsAtRunTime(withoutComments(readFileSync(join(root, path), "utf8")))
          .filter((specifier) => specifier.startsWith("."))
          .map((specifier) => targetOf(root, path, specifier)),
      ]),
  )
  const found = []
  const way = []
  const isDone = new Set()
  const follow = (path) => {
    const at = way.indexOf(path)
    if (at >= 0) found.push(`src/${[...way.slice(at), path].join(" imports ")}`)
    if (at >= 0 || isDone.has(path)) return
    way.push(path)
    for (const target of imports.get(path) ?? imports.get(`${path}x`) ?? []) follow(target)
    way.pop()
    isDone.add(path)
  }
  for (const path of imports.keys()) follow(path)
  return found
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const root = resolve(import.meta.dirname, "..", "src")
  const found = violations(root).concat(cycles(root))
  for (const line of found) console.error(`layers: ${line}`)
  process.exit(found.length === 0 ? 0 : 1)
}
