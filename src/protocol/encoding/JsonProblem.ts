/** A problem of JSON input in one line: field, expected and received value. Repeats nothing long or secret. */
import type { Complaint } from "../../effect3/schema/Complaint.js"

/** `field` is the path to the problem, in JavaScript notation. */
export interface JsonProblem {
  readonly field: string
  readonly reason: string
}

export const message = ({ field, reason }: JsonProblem): string => `${field}: ${reason}`

const LONGEST_SHOWN = 40
const LONGEST_PATH = 200
const SECRET = /secret|private|seed|password/i
const WORD = /^[\w-]{1,40}$/

const name = (key: PropertyKey): string => {
  const text = String(key)
  return WORD.test(text) ? text : "(a long or unprintable name)"
}

/** The path as text; `whole` if it is empty. */
const show = (path: ReadonlyArray<PropertyKey>, whole: string): string => {
  const text = path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`
    return text === "" ? name(key) : `${text}.${name(key)}`
  }, "")
  return (text.length > LONGEST_PATH ? `${text.slice(0, LONGEST_PATH)}…` : text) || whole
}

const isSecret = (path: ReadonlyArray<PropertyKey>): boolean => path.some((key) => SECRET.test(String(key)))

const got = (path: ReadonlyArray<PropertyKey>, actual: unknown): string => {
  if (isSecret(path)) return ""
  if (actual === undefined) return ""
  if (Array.isArray(actual)) return ", got an array"
  if (typeof actual === "string") {
    return actual.length > LONGEST_SHOWN ? `, got ${actual.length} characters` : `, got ${JSON.stringify(actual)}`
  }
  return typeof actual === "object" && actual !== null ? ", got an object" : `, got ${String(actual)}`
}

/** A problem of the text itself, found before any schema is applied. */
export const at = (path: ReadonlyArray<PropertyKey>, whole: string, reason: string): JsonProblem => ({
  field: show(path, whole),
  reason,
})

/** A problem with a number as it was written, which is lost once it is parsed. */
export const atNumber = (
  path: ReadonlyArray<PropertyKey>,
  whole: string,
  expected: string,
  token: string,
): JsonProblem => {
  const received = token.length > LONGEST_SHOWN ? `a number of ${token.length} characters` : token
  return at(path, whole, `expected ${expected}${isSecret(path) ? "" : `, got ${received}`}`)
}

const reasonOf = (complaint: Complaint): string => {
  switch (complaint._tag) {
    case "Missing":
      return complaint.expected === undefined ? "missing" : `missing; expected ${complaint.expected}`
    case "Unknown":
      return complaint.known.length === 0 ? "no such field" : `no such field; known are ${complaint.known.join(", ")}`
    case "Wrong":
      return `expected ${complaint.expected}${got(complaint.path, complaint.actual)}`
  }
}

/** A schema's complaint. `whole` names the input when no single field is at fault. */
export const ofComplaint = (complaint: Complaint, whole: string): JsonProblem =>
  at(complaint.path, whole, reasonOf(complaint))
