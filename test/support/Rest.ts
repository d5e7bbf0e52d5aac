/**
 * The cases that `npm test` leaves to `npm run test:all`: they take long for what they find beyond shorter ones. Their
 * names end in the reason, by which Vitest selects. UDG_TESTS chooses the cases of a run.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"

const MARK = " (rest: "

/** The name of a case or group that `npm test` leaves out, with the reason in a few words. */
export const of = (reason: string, name: string): string => `${name}${MARK}${reason})`

export const isOf = (name: string): boolean => name.includes(MARK)

/** `npm test` runs the usual cases, `npm run test:all` all. After the first, only the rest is left. */
export type Selection = "usual" | "rest" | "all"

export const selectionOf = (word = "usual"): Selection => {
  if (word === "usual" || word === "rest" || word === "all") return word
  throw new Error(`UDG_TESTS=${word}: expected usual, rest or all`)
}

/** Patterns for the full names of a selection's cases. */
export const NAMES: { readonly [selection in Selection]: RegExp } = {
  usual: /^(?!.* \(rest: )/s,
  rest: / \(rest: /,
  all: /^/,
}

const root = resolve(import.meta.dirname, "../..")

/** A file that marks cases itself, or with a helper that always marks some. */
const MARKS = /\bRest\.of\(/
const HELPERS = /\bitObeysTheLawsOfACodec\(/

const contains = (file: string, pattern: RegExp): boolean => pattern.test(readFileSync(join(root, file), "utf8"))

/** Test files without a marked case. */
export const unmarked = (): ReadonlyArray<string> => {
  const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `test/${file}`)
    .sort()
  const others = tests.filter((file) => !contains(file, MARKS) && !contains(file, HELPERS))
  if (others.length === tests.length) throw new Error("no test file leaves a case to the rest")
  return others
}
