/**
 * What `npm test` leaves to `npm run test:all`: cases that take long for what they find beyond shorter ones. The name of
 * each ends in the reason, and Vitest selects by that. UDG_TESTS says which cases a run takes.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"

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

/** A file that marks cases itself, or by a helper that marks some wherever it is called. */
const MARKS = /\bRest\.of\(/
const HELPERS = /\bitObeysTheLawsOfACodec\(/

const contains = (file: string, pattern: RegExp): boolean => pattern.test(readFileSync(join(root, file), "utf8"))

/** The test files without a marked case. */
export const unmarked = (): ReadonlyArray<string> => {
  const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `test/${file}`)
    .sort()
  const others = tests.filter((file) => !contains(file, MARKS) && !contains(file, HELPERS))
  if (others.length === tests.length) throw new Error("no test file leaves a case to the rest")
  return others
}
