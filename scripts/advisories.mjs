// Fails if the lock file has a version that ops/advisories.json lists as vulnerable without an exception. `npm audit`
// needs a registry that supports it; this list is maintained by hand, as CONTRIBUTING.md describes.
import { readFileSync } from "node:fs"
import { resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")
const read = (file) => JSON.parse(readFileSync(resolve(root, file), "utf8"))
const [list = "ops/advisories.json", lockFile = "package-lock.json"] = process.argv.slice(2)

/** A version's three numbers, and whether it precedes their release (`2.0.0-beta.2`). */
const partsOf = (version) => {
  const match = /^(\d+)\.(\d+)\.(\d+)(-[\w.-]+)?$/.exec(version)
  if (match === null) throw new Error(`advisories: ${version} is not a version; expected 1.2.3 or 1.2.3-beta.4`)
  return [...match.slice(1, 4).map(Number), match[4] === undefined ? 1 : 0]
}

/** Negative if a comes before b. Two versions before the same release count as equal. */
const compare = (a, b) => {
  const [left, right] = [partsOf(a), partsOf(b)]
  const at = left.findIndex((part, i) => part !== right[i])
  return at < 0 ? 0 : left[at] - right[at]
}

const holds = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">=": (order) => order >= 0,
  "=": (order) => order === 0,
}

const meets = (version, condition) => {
  const [, sign, bound] = /^(<=|>=|<|=)(.+)$/.exec(condition) ?? []
  if (sign === undefined)
    throw new Error(`advisories: ${condition} is not a condition; expected <, <=, >= or = and a version`)
  return holds[sign](compare(version, bound))
}

/** `>=1.0.0 <1.2.3 || <0.9.1`: all conditions of one of the alternatives. */
const isWithin = (version, range) =>
  range.split("||").some((all) =>
    all
      .trim()
      .split(/\s+/)
      .every((condition) => meets(version, condition)),
  )

const nameOf = (path, { name }) => name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)

const advisories = read(list)
const installed = Object.entries(read(lockFile).packages).filter(([path, { link }]) => path !== "" && link !== true)

const found = advisories.flatMap((advisory) =>
  installed
    .filter(([path, entry]) => nameOf(path, entry) === advisory.package && isWithin(entry.version, advisory.range))
    .map(([path, { version }]) => ({ ...advisory, path, version })),
)
// An exception that is no longer needed would hide the next vulnerability.
const stale = advisories.filter(({ accepted, id }) => accepted !== undefined && !found.some((one) => one.id === id))

const refused = found.filter(({ accepted }) => accepted === undefined)
for (const { path, version, id, summary, action } of refused)
  console.error(`advisories: ${path} ${version} is vulnerable (${id}: ${summary}); ${action}`)
for (const { id, package: name } of stale)
  console.error(`advisories: ${name} no longer has a version of ${id}; remove "accepted" from its entry in ${list}`)
process.exit(refused.length + stale.length === 0 ? 0 : 1)
