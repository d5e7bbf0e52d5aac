// `npm run lock`: completes package-lock.json after an `npm install`. npm leaves out the optional packages of platforms
// whose files it could not see while resolving, and `npm ci` then refuses the lock file on every machine. This writes
// the missing entries from what their parents ask for, and takes out download addresses, so that the lock file holds
// on any platform and with any registry. With --check, says what is missing and fails.
//
// An entry written here has no integrity: npm records the hash of what a registry served, and nothing was served of a
// package whose files npm could not see. So every entry must have one except optional packages of single platforms.
// On such a platform npm takes the pinned version by the hash that the registry states with it.
import { readFileSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"

const file = resolve(import.meta.dirname, "../package-lock.json")
const systems = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"]
const processors = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64", "wasm32"]

/** What a platform package runs on, as its name says it (`rollup-linux-x64-musl`). */
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

/** Entries of which a registry gave no hash, though they are no optional package of some platform. */
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
