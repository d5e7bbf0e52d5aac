// Enforces the architecture of CONTRIBUTING.md: what each folder of src/ may import, of ours and of others, and the
// order of its rooms. Fails with every import that is not listed here, every import cycle, including type imports, and
// every room with too many files. biome.json restricts what can be used without an import, such as globals.
// docs/architecture.md shows the result as a table; `--write` updates it.
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { pathToFileURL } from "node:url"

/** With more files side by side, nobody finds one by looking. */
const FILES_OF_A_ROOM = 25

/**
 * The folders of src/, lowest first. `rooms` are a folder's subfolders, lowest first, "." being the files beside them:
 * a file imports from its own room and from earlier ones. `ours` are other folders, or single rooms of them, that it
 * can import; `packages` are those of others, where `*` stands for any ending. Code that runs in browsers lists no
 * Node.js or native modules: effect3, protocol, ledger, consensus, replica, client, light, explorer, edge/definition
 * and rpc/api; protocol/crypto/Native.ts is the only native entry.
 */
const house = {
  collections: { packages: [] },
  /** Everything that depends on the internals of Effect 3; see docs/decisions/effect-3.md. */
  effect3: { rooms: ["schema", "fibers", "http"], packages: ["effect", "effect/GlobalValue", "@effect/platform"] },
  protocol: {
    rooms: ["numbers", "crypto", "encoding", "identity", "transaction", "state", "vertex", "epoch"],
    ours: ["effect3/schema"],
    packages: ["effect", "#crypto", "bech32"],
  },
  turns: { ours: ["protocol"], packages: ["effect"] },
  ledger: {
    rooms: ["trie", "tables", "rules", "pending", "."],
    ours: ["protocol", "collections"],
    packages: ["effect", "#crypto"],
  },
  consensus: {
    rooms: ["dag", "commit", "output", "admission", "."],
    ours: ["protocol", "collections"],
    packages: ["effect", "#crypto"],
  },
  replica: {
    rooms: ["messages", "output", "live", "disk", "joining", "signing", "asking", "."],
    ours: ["protocol", "ledger", "consensus", "collections"],
    packages: ["effect", "#crypto"],
  },
  storage: {
    rooms: ["files", "sqlite", "schema", "tables", "."],
    ours: ["protocol", "ledger", "consensus", "replica/disk", "turns"],
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
  network: {
    rooms: [".", "peers", "tls"],
    ours: ["protocol", "ledger/trie", "replica/messages", "turns", "collections"],
    packages: ["effect", "#crypto", "node:net"],
  },
  /** Signs for validators in a separate process, and contains the node's connection to it. */
  signer: {
    ours: ["protocol", "replica/messages", "storage", "network"],
    packages: ["effect", "#crypto", "@effect/platform", "node:net"],
  },
  node: {
    rooms: ["log", "lifecycle", "start", "signatures", "engine", "history", "reads", "offline", "."],
    ours: [
      "collections",
      "effect3/fibers",
      "protocol",
      "ledger",
      "consensus",
      "replica",
      "storage",
      "network",
      "signer",
      "turns",
    ],
    packages: ["effect", "#crypto", "@effect/platform", "@effect/platform/Error", "node:net", "node:path"],
  },
  /** A fast server for any HttpApi, independent of the ledger. */
  edge: {
    rooms: ["definition", "admission", "server"],
    ours: [
      "collections",
      "effect3",
      "protocol/encoding",
      "protocol/numbers/Words.ts",
      "network/AddressGroup.ts",
      "node/start/Cidr.ts",
      "node/log",
    ],
    packages: ["effect", "@effect/platform", "node:buffer", "node:crypto", "node:http", "node:net", "node:stream"],
  },
  rpc: {
    rooms: ["api", "documents", "server", "metrics", "handlers", "."],
    ours: ["collections", "effect3", "protocol", "turns", "ledger", "replica", "node", "network", "edge"],
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
  client: { rooms: ["wire", "."], ours: ["effect3", "protocol", "rpc/api"], packages: ["effect"] },
  /** Verifies nodes' answers. It uses the interface's answer types, and nothing of the ledger or the network. */
  light: { rooms: ["checks", "."], ours: ["protocol", "rpc/api"], packages: ["effect", "#crypto"] },
  explorer: {
    rooms: [
      "route",
      "live",
      "show",
      "search",
      "checked",
      "dag",
      "charts",
      "statement",
      "payload",
      "validators",
      "epochs",
      "wallet",
      "pages",
      ".",
    ],
    ours: ["protocol", "client", "rpc/api", "light"],
    packages: ["effect", "preact", "preact/hooks", "@preact/signals", "uplot"],
  },
  /** A node for other projects' tests: built like the command line's, exported like the client. */
  testing: {
    ours: ["protocol", "turns", "ledger", "storage", "network", "node", "edge", "rpc", "client", "light"],
    packages: [
      "effect",
      "#crypto",
      "@effect/platform",
      "@effect/platform-node/NodeFileSystem",
      "node:path",
      "node:zlib",
    ],
  },
  /** A follower that writes to PostgreSQL. Loaded only by its command. */
  archive: {
    ours: ["protocol", "ledger", "replica", "node"],
    packages: ["effect", "#crypto", "@effect/experimental/Reactivity", "@effect/sql", "@effect/sql-pg/*", "pg"],
  },
  /** The HTTP interface over an archive and several nodes. Loaded only by its command. */
  gateway: {
    ours: ["protocol", "ledger", "storage/tables", "node", "edge", "rpc", "client", "light/checks", "archive"],
    packages: ["effect", "#crypto", "node:http", "node:https"],
  },
  cli: {
    rooms: ["terminal", "settings", "keys", "wallet", "doctor", "tracing", "."],
    ours: [
      "protocol",
      "replica/messages",
      "storage",
      "network",
      "signer",
      "node",
      "edge",
      "rpc",
      "client",
      "light",
      "testing",
      "archive",
      "gateway",
    ],
    packages: ["effect", "#crypto", "@effect/*", "node:*"],
  },
  main: { ours: ["cli"], packages: ["effect", "@effect/*", "node:*"] },
}

/** Rooms and files that differ from their folder. The longest matching path applies. */
const exceptions = {
  "protocol/crypto": { packages: ["@noble/*"] },
  "protocol/crypto/Native.ts": { packages: ["@noble/*", "node:crypto", "node:module", "sodium-native"] },
  "client/Mnemonic.ts": { packages: ["effect", "#crypto", "@scure/bip39", "@scure/bip39/wordlists/english.js"] },
  "explorer/wallet/QrCode.tsx": { packages: ["qr"] },
  "client/KeyFile.ts": { packages: ["effect", "#crypto", "@noble/hashes/scrypt.js"] },
  /** Shared with browsers, so it can use only the vocabulary. */
  "edge/definition": { ours: ["effect3/http", "protocol/encoding"], packages: ["effect", "@effect/platform"] },
  "rpc/api": { ours: ["effect3/http", "protocol", "edge/definition"], packages: ["effect", "@effect/platform"] },
  /** The policy for peers, independent of the network library. */
  "network/peers": { packages: ["effect", "#crypto", "node:timers/promises"] },
  /** Loaded only when a node connects to others. */
  "network/tls": {
    packages: [
      "effect",
      "#crypto",
      "node:crypto",
      "node:net",
      "node:os",
      "node:stream",
      "node:timers/promises",
      "node:tls",
    ],
  },
  "storage/files/KeySealing.ts": { packages: ["effect", "#crypto", "node:crypto"] },
  /** The operating system tells who owns a file. */
  "storage/files/OwnFile.ts": {
    packages: ["effect", "@effect/platform", "@effect/platform/Error", "node:os", "node:process"],
  },
  /** Effect's file system does not report free space. */
  "storage/files/DiskSpace.ts": { packages: ["effect", "node:fs/promises", "node:path"] },
  /** It runs another program. */
  "signer/KeyProgram.ts": { packages: ["effect", "#crypto", "node:child_process"] },
  /** Nor inodes and times of birth with all their digits. */
  "storage/files/FileMark.ts": { packages: ["effect", "node:fs/promises", "node:path"] },
  /** The writer and the signature checks, each with its thread. */
  "storage/sqlite/WriterThread.ts": { packages: ["effect", "@effect/sql", "#threads", "node:worker_threads"] },
  "storage/sqlite/WriterProgram.ts": { packages: ["node:worker_threads"] },
  "storage/tables/SupplyCount.ts": { packages: ["effect", "#threads"] },
  "storage/tables/SupplyProgram.ts": { packages: ["effect", "node:os", "node:worker_threads"] },
  "storage/sqlite/Driver.ts": { packages: ["better-sqlite3", "node:module"] },
  "node/signatures/SignatureThreads.ts": { packages: ["effect", "#threads", "node:os", "node:worker_threads"] },
  "node/signatures/CheckingThreads.ts": { packages: ["node:worker_threads"] },
  "node/signatures/SignatureProgram.ts": { packages: ["#crypto", "node:os", "node:worker_threads"] },
  "Threads.ts": { ours: [], packages: ["node:worker_threads"] },
}

/**
 * Names that reach into Effect 3 and its HTTP definitions. Only effect3/ may use them, so that a change there stays
 * there.
 */
const INSIDES_OF_EFFECT =
  /\b(?:SchemaAST|ParseResult|FiberRef|withFiberRuntime|unsafePoll|addObserver|unsafeAdd|HttpApi\.reflect|HttpApiEndpoint\.HttpApiEndpoint|HttpApiGroup\.HttpApiGroup|HttpApiSchema\.get\w+)\b|\.ast\b/g

const folderOf = (path) => (path.includes("/") ? path.slice(0, path.indexOf("/")) : "main")

/** A file's room. */
const roomOf = (path) => (path.split("/").length > 2 ? path.split("/")[1] : ".")

const isWithin = (path, place) => path === place || path.startsWith(`${place}/`)

/** The rule for a file, and its name. */
const ruleOf = (path) => {
  const folder = folderOf(path)
  const place =
    Object.keys(exceptions)
      .filter((place) => isWithin(path, place))
      .sort((a, b) => b.length - a.length)[0] ?? folder
  const { ours = [], packages } = { ...house[folder], ...exceptions[place] }
  return { place, ours, packages }
}

const matches = (specifier, entry) =>
  entry.endsWith("*") ? specifier.startsWith(entry.slice(0, -1)) : specifier === entry

/** Everything below `root` except folders, so that links and scripts in other languages are included. */
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

/** Read with and without comments: one can hide an import, and a string can look like one. */
const importsOf = (source) => [...new Set([...importsIn(source), ...importsIn(withoutComments(source))])]

const hasComputedImport = (source) => /(?<![.\w])import\s*\((?!\s*(?:"[^"\n]*"|'[^'\n]*')\s*[,)])/.test(source)

/** The file below `root` to which a relative import refers. */
const targetOf = (root, path, specifier) =>
  relative(root, resolve(root, dirname(path), specifier))
    .replaceAll("\\", "/")
    .replace(/\.js$/, ".ts")

const complaintOf = (root, path, specifier) => {
  const { place, ours, packages } = ruleOf(path)
  const may = (allowed, none) =>
    `but ${place}${place.includes(".") ? "" : "/"} may import only: ${allowed.join(", ") || none}`
  if (!specifier.startsWith(".")) {
    if (packages.some((entry) => matches(specifier, entry))) return []
    return [`src/${path} imports ${specifier}, ${may(packages, "no package")}`]
  }
  const target = targetOf(root, path, specifier)
  if (target.startsWith("..")) return [`src/${path} imports ${specifier}, outside src/`]
  const folder = folderOf(path)
  if (folderOf(target) !== folder) {
    return ours.some((to) => isWithin(target, to))
      ? []
      : [`src/${path} imports ${target}, ${may(ours, "nothing of ours")}`]
  }
  const { rooms = ["."] } = house[folder]
  if (rooms.indexOf(roomOf(target)) <= rooms.indexOf(roomOf(path))) return []
  return [`src/${path} imports ${target}, but the rooms of ${folder}/ are, lowest first: ${rooms.join(", ")}`]
}

const reachesInside = (path, source) =>
  folderOf(path) === "effect3"
    ? []
    : [...new Set(source.match(INSIDES_OF_EFFECT))].map((name) => `src/${path} uses ${name}, which belongs in effect3/`)

/** Errors of a file's location, independent of its content. */
const misplaced = ({ path, isLink }) => {
  if (isLink) return [`src/${path}: a link; what it leads to cannot be judged`]
  if (/\.([cm]js|jsx?|[cm]ts)$/.test(path)) return [`src/${path}: only .ts and .tsx are checked; rename it`]
  if (!/\.tsx?$/.test(path)) return []
  const folder = folderOf(path)
  if (!Object.hasOwn(house, folder))
    return [`src/${path}: folder "${folder}" is not listed; add it to scripts/layers.mjs`]
  const { rooms = ["."] } = house[folder]
  if (!rooms.includes(roomOf(path)))
    return [`src/${path}: room "${folder}/${roomOf(path)}" is not listed; add it to scripts/layers.mjs`]
  return []
}

const crowded = (entries) => {
  const files = new Map()
  for (const { path } of entries) files.set(dirname(path), (files.get(dirname(path)) ?? 0) + 1)
  return [...files].flatMap(([room, count]) =>
    count > FILES_OF_A_ROOM ? [`src/${room}: ${count} files side by side, ${FILES_OF_A_ROOM} are the most`] : [],
  )
}

/** A line for each violation below `root`; empty if there are none. */
export const violations = (root) => {
  const entries = entriesBelow(root)
  const arrows = entries.flatMap((entry) => {
    const { path } = entry
    const wrong = misplaced(entry)
    if (wrong.length > 0 || !/\.tsx?$/.test(path)) return wrong
    const source = readFileSync(join(root, path), "utf8")
    const computed = hasComputedImport(withoutComments(source))
      ? [`src/${path}: import() of something computed cannot be judged; give it one plain string`]
      : []
    const inside = reachesInside(path, withoutComments(source))
    return computed.concat(
      inside,
      importsOf(source).flatMap((specifier) => complaintOf(root, path, specifier)),
    )
  })
  return arrows.concat(crowded(entries))
}

/**
 * All that the client in test/document can import besides its own files, because it is written from the documents
 * alone.
 */
const INDEPENDENT = ["node:crypto", "@noble/ed25519", "@noble/hashes/*"]

/** A line for each foreign import of a client below `root`, except in its tests. */
export const borrowed = (root) =>
  entriesBelow(root)
    .filter(({ path }) => !path.endsWith(".test.ts"))
    .flatMap(({ path, isLink }) => {
      const source = isLink ? "" : readFileSync(join(root, path), "utf8")
      const isComputed = hasComputedImport(withoutComments(source)) || /\brequire\b|\bcreateRequire\b/.test(source)
      const foreign = importsOf(source).filter(
        (specifier) => !/^\.\/\w+\.js$/.test(specifier) && !INDEPENDENT.some((entry) => matches(specifier, entry)),
      )
      return [
        ...(isLink ? [`test/document/${path}: a link; what it leads to cannot be judged`] : []),
        ...(isComputed ? [`test/document/${path} imports what cannot be judged`] : []),
        ...foreign.map((it) => `test/document/${path} imports ${it}, but it is written from the documents alone`),
      ]
    })

/**
 * A line for each import cycle below `root`. Modules that load each other see each other half-initialized, and modules
 * that refer to each other's types cannot be read in sequence.
 */
export const cycles = (root) => {
  const imports = new Map(
    entriesBelow(root)
      .filter(({ path, isLink }) => !isLink && /\.tsx?$/.test(path))
      .map(({ path }) => [
        path,
        importsIn(withoutComments(readFileSync(join(root, path), "utf8")))
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

/** The architecture as a table: every folder with its rooms, lowest first, and the folders that it imports. */
export const table = (root) => {
  const imports = new Map(Object.keys(house).map((folder) => [folder, new Set()]))
  for (const { path } of entriesBelow(root).filter(({ path }) => /\.tsx?$/.test(path))) {
    for (const specifier of importsOf(readFileSync(join(root, path), "utf8"))) {
      if (specifier.startsWith(".")) imports.get(folderOf(path)).add(folderOf(targetOf(root, path, specifier)))
    }
  }
  const rows = Object.entries(house).map(([folder, { rooms = [] }]) => {
    const others = Object.keys(house).filter((other) => other !== folder && imports.get(folder).has(other))
    return [`\`${folder}\``, rooms.join(", ") || "–", others.join(", ") || "–"]
  })
  const columns = ["folder", "rooms", "imports"]
  const widths = columns.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i].length)))
  const line = (cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i])).join(" | ")} |`
  return [line(columns), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n")
}

const MARKS = ["<!-- rooms -->\n\n", "\n\n<!-- /rooms -->"]

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const root = resolve(import.meta.dirname, "..", "src")
  const page = resolve(root, "../docs/architecture.md")
  const text = readFileSync(page, "utf8")
  const [begin, end] = [text.indexOf(MARKS[0]) + MARKS[0].length, text.indexOf(MARKS[1])]
  const found = violations(root).concat(cycles(root), borrowed(resolve(root, "../test/document")))
  const current = text.slice(0, begin) + table(root) + text.slice(end)
  if (process.argv.includes("--write")) writeFileSync(page, current)
  else if (current !== text) found.push("docs/architecture.md shows other rooms; run node scripts/layers.mjs --write")
  for (const line of found) console.error(`layers: ${line}`)
  process.exit(found.length === 0 ? 0 : 1)
}
