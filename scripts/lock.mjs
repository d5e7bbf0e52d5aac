// `npm run lock`: completes package-lock.json after `npm install`. npm omits optional packages of platforms whose files
// it could not see while resolving, and `npm ci` then rejects the lock file everywhere. This adds the missing entries
// from their parents' dependencies and removes download addresses, so that the lock file works on any platform and with
// any registry. With --check, reports missing entries and fails.
//
// Entries added here have no integrity, because npm records hashes only of files that a registry served. So every entry
// must have one, except optional packages of single platforms. On such a platform npm installs the pinned version and
// verifies the hash that the registry states.
import { readFileSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"

const file = resolve(import.meta.dirname, "../package-lock.json")
const systems = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"]
const processors = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64", "wasm32"]

/** The platform of a package, from its name (`rollup-linux-x64-musl`). */
const platformOf = (name) => {
  const words = name.split(/[/-]/)
  const os = systems.filter((system) => words.includes(system))
  const cpu = processors.filter((processor) => words.includes(processor))
  const libc = words.some((word) => word.startsWith("musl"))
    ? ["musl"]
    : words.some((word) => word === "gnu" || word.startsWith("gnueabi")) && os.includes("linux")
      ? ["glibc"]
      : []
  return Object.fromEntries(Object.entries({ cpu, libc, os }).filter(([, values]) => values.length > 0))
}

const lock = JSON.parse(readFileSync(file, "utf8"))
const addresses = Object.entries(lock.packages).filter(([, entry]) => entry.resolved !== undefined)
const missing = Object.values(lock.packages).flatMap((parent) =>
  Object.entries(parent.optionalDependencies ?? {})
    .filter(([name]) => lock.packages[`node_modules/${name}`] === undefined)
    .map(([name, version]) => [name, { version, ...platformOf(name), ...(parent.dev ? { dev: true } : {}) }]),
)

/** Entries without a hash that are not optional platform packages. */
const unverified = Object.entries(lock.packages).filter(
  ([path, { integrity, optional, os }]) => path !== "" && integrity === undefined && !(optional && os !== undefined),
)

if (process.argv.includes("--check")) {
  for (const [path] of unverified)
    console.error(`lock: ${path} has no integrity; remove the entry and run: npm install`)
  for (const [path] of addresses) console.error(`lock: ${path} has a download address; run: npm run lock`)
  for (const [name] of missing) console.error(`lock: ${name} is missing from package-lock.json; run: npm run lock`)
  process.exit(addresses.length + missing.length + unverified.length === 0 ? 0 : 1)
}

for (const [, entry] of addresses) delete entry.resolved
for (const [name, { version, ...rest }] of missing)
  lock.packages[`node_modules/${name}`] = { version, ...rest, optional: true }
const [root, ...others] = Object.entries(lock.packages)
lock.packages = Object.fromEntries([root, ...others.sort(([a], [b]) => a.localeCompare(b, "en"))])
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`lock: ${missing.length} entries added, ${addresses.length} addresses removed`)
