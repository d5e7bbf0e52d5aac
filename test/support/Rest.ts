/**
 * What `npm test` leaves to `npm run test:all`: cases that take long for what they find beyond shorter ones. The name of
 * each ends in the reason, and Vitest selects by that. UDG_TESTS says which cases a run takes.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"

const MARK = " (rest: "

/** The name of a case or a group that `npm test` leaves out, with the reason in a few words. */
export const of = (reason: string, name: string): string => `${name}${MARK}${reason})`

export const isOf = (name: string): boolean => name.includes(MARK)

/** `npm test` takes the usual cases, `npm run test:all` all; whoever has run the first needs only the rest of the second. */
export type Selection = "usual" | "rest" | "all"

export const selectionOf = (word = "usual"): Selection => {
  if (word === "usual" || word === "rest" || word === "all") return word
  throw new Error(`UDG_TESTS=${word}: expected usual, rest or all`)
}

/** The full names of the cases of a selection. */
export const NAMES: { readonly [selection in Selection]: RegExp } = {
  usual: /^(?!.* \(rest: )/s,
  rest: / \(rest: /,
  all: /^/,
}

const root = resolve(import.meta.dirname, "../..")

/** From the root of the project: the test files in which a case is marked, or those in which none is. */
export const testFiles = (isMarked: boolean): ReadonlyArray<string> => {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => join(root, "test", file))
    .filter((file) => readFileSync(file, "utf8").includes('support/Rest.js"') === isMarked)
  if (files.length === 0) throw new Error(`no test file ${isMarked ? "leaves" : "is without"} a case to the rest`)
  return files.map((file) => relative(root, file)).sort()
}
