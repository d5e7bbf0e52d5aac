// `npm run build:client`: packages the client in dist-client/ from dist/client: one file per entry point, their shared
// parts and their public types. Neither may contain anything of other packages. See docs/decisions/client.md.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")
const dist = join(root, "dist")
const target = resolve(process.argv[2] ?? join(root, "dist-client"))
const node = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

/** As compiler and bundler write imports, at the end of a line. */
const SPECIFIERS = /^(?:(?:import|export|\}).* from|import) "([^"]+)";?$/gm

/** Every file that these reach. Fails on an import from elsewhere. */
const reached = (entries, ending) => {
  const found = new Set()
  const left = [...entries]
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (found.has(file)) continue
    if (!existsSync(file)) throw new Error(`${relative(root, file)} is missing; run npm run build`)
    found.add(file)
    // Comments can contain text that looks like an import.
    const text = readFileSync(file, "utf8").replaceAll(/^\s*\/\*\*[\s\S]*?\*\//gm, "")
    for (const [, specifier] of text.matchAll(SPECIFIERS)) {
      if (!specifier.startsWith(".")) throw new Error(`${relative(root, file)} imports ${specifier}`)
      left.push(join(dirname(file), specifier).replace(/\.js$/, ending))
    }
  }
  return found
}

const doors = { ".": "Package", "./client": "Client", "./wallet": "Wallet" }
const places = (ending) => Object.values(doors).map((name) => join(dist, `client/${name}${ending}`))

rmSync(target, { recursive: true, force: true })
for (const file of [...reached(places(".js"), ".js"), ...reached(places(".d.ts"), ".d.ts")]) {
  const place = join(target, relative(dist, file))
  mkdirSync(dirname(place), { recursive: true })
  // Source maps are left out, as in the node's package.
  writeFileSync(place, readFileSync(file, "utf8").replace(/^\/\/# sourceMappingURL=.*\n?/m, ""))
}
cpSync(join(root, "LICENSE"), join(target, "LICENSE"))
cpSync(join(root, "docs/client.md"), join(target, "README.md"))

const entry = (name) => ({ types: `./client/${name}.d.ts`, default: `./client/${name}.js` })
const manifest = {
  name: "udg-client",
  version: node.version,
  description: "The client and the wallet of udg, a DAG-ledger network: small, typed, for Node and browsers",
  license: node.license,
  ...(node.repository === undefined ? {} : { repository: node.repository }),
  type: "module",
  sideEffects: false,
  engines: node.engines,
  exports: {
    ...Object.fromEntries(Object.entries(doors).map(([door, name]) => [door, entry(name)])),
    "./package.json": "./package.json",
  },
  files: ["client", "protocol"],
}
writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
