/**
 * JSON text from outside: request bodies and files. `JSON.parse` accepts too much: it rounds `150000000.000000001` to
 * an amount that was never written, and of two fields with one name it keeps the last, where another reader keeps the
 * first. So a second pass goes over the text and refuses everything ambiguous.
 */
import { Either } from "effect"
import * as JsonProblem from "./JsonProblem.js"

/** The maximum nesting of lists and objects. Nothing here needs more than six. */
export const MAX_DEPTH = 32

/** Integers this short are below 2^53, whatever their digits. */
const SHORT = 15

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const NINE = 0x39
const ZERO = 0x30
const OPENING_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

const expected = `an integer from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER} in digits alone, without fraction and exponent,`

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE

/** The position of the closing quote of the string that begins at `start`; negative if there is none. */
const closingQuote = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    if (end < 0) return end
    let before = end - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    // An even number of backslashes escapes only itself.
    if ((end - before) % 2 === 1) return end
  }
}

/** The end of the number that begins at `start`: a comma, a closing bracket, space or nothing follows it. */
const numberEnd = (text: string, start: number): number => {
  let end = start + 1
  while (end < text.length) {
    const code = text.charCodeAt(end)
    if (code === COMMA || code === CLOSING_BRACE || code === CLOSING_BRACKET || code <= 0x20) break
    end++
  }
  return end
}

const isInteger = (text: string, start: number, end: number): boolean => {
  const isNegative = text.charCodeAt(start) === MINUS
  for (let i = isNegative ? start + 1 : start; i < end; i++) if (!isDigit(text.charCodeAt(i))) return false
  // -0 is an integer in digits, but not a value that anything here counts with.
  if (isNegative && text.charCodeAt(start + 1) === ZERO) return false
  return end - start <= SHORT || Number.isSafeInteger(Number(text.slice(start, end)))
}

const keyOf = (text: string, start: number, end: number): string => {
  const key = text.slice(start + 1, end)
  return key.includes("\\") ? String(JSON.parse(text.slice(start, end + 1))) : key
}

/** The problem of a text that `JSON.parse` accepted, so that this code need not check the grammar. */
const problemOf = (text: string, whole: string): JsonProblem.JsonProblem | undefined => {
  /** The key or index being read, for every open object or list. */
  const path: Array<PropertyKey> = []
  /** The keys seen, for every open object; one set serves all objects of its depth in turn. */
  const seen: Array<Set<string>> = []
  const isObject: Array<boolean> = []
  let depth = 0
  let awaitsKey = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      const end = closingQuote(text, i)
      if (awaitsKey) {
        const key = keyOf(text, i, end)
        path[depth - 1] = key
        const keys = seen[depth - 1]
        if (keys?.has(key)) return JsonProblem.at(path, whole, "stands twice in one object")
        keys?.add(key)
        awaitsKey = false
      }
      i = end
    } else if (code === MINUS || isDigit(code)) {
      const end = numberEnd(text, i)
      if (!isInteger(text, i, end)) return JsonProblem.atNumber(path, whole, expected, text.slice(i, end))
      i = end - 1
    } else if (code === COMMA) {
      if (isObject[depth - 1] === true) awaitsKey = true
      else path[depth - 1] = Number(path[depth - 1]) + 1
    } else if (code === OPENING_BRACE || code === OPENING_BRACKET) {
      if (depth === MAX_DEPTH)
        return JsonProblem.at(path, whole, `more than ${MAX_DEPTH} objects and lists within each other`)
      awaitsKey = code === OPENING_BRACE
      isObject[depth] = awaitsKey
      const keys = seen[depth]
      if (keys === undefined) seen[depth] = new Set()
      else if (awaitsKey) keys.clear()
      path[depth++] = 0
    } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
      depth--
      path.length = depth
      awaitsKey = false
    }
  }
  return undefined
}

/** What a text may have before it is parsed. Values make parsing slow and take memory, not bytes, above all fields with many names. */
export interface Bounds {
  /** Objects, lists, and the values in them. */
  readonly values: number
  /** Of objects and lists within each other. */
  readonly depth?: number
  /** Of one object. */
  readonly fields?: number
}

/**
 * What a text has too much of, as far as `JSON.parse` would read it, and nothing if it keeps within the bounds. Each value but
 * the first of a list or object follows a comma.
 */
export const excessOf = (
  text: string,
  { values, depth: deepest = Number.POSITIVE_INFINITY, fields: most = Number.POSITIVE_INFINITY }: Bounds,
): string | undefined => {
  let count = 1
  let depth = 0
  /** Of every open object; a list has none. */
  const fields: Array<number> = []
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      const end = closingQuote(text, i)
      // A string without an end: no parser reads any further.
      if (end < 0) return undefined
      i = end
    } else if (code === COMMA || code === OPENING_BRACE || code === OPENING_BRACKET) {
      if (++count > values) return `more than ${values} values`
      if (code !== COMMA) {
        if (depth === deepest) return `more than ${deepest} objects and lists within each other`
        fields[depth++] = code === OPENING_BRACE ? 1 : Number.NaN
      } else if (depth > 0) {
        const held = (fields[depth - 1] ?? 0) + 1
        if (held > most) return `an object of more than ${most} fields`
        fields[depth - 1] = held
      }
    } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
      if (depth > 0) depth--
    }
  }
  return undefined
}

type Parsed = Either.Either<unknown, JsonProblem.JsonProblem>

const checked = (text: string, whole: string, value: unknown): Parsed => {
  const problem = problemOf(text, whole)
  return problem === undefined ? Either.right(value) : Either.left(problem)
}

const parsed = (text: string, whole: string): Parsed => {
  try {
    return Either.right(JSON.parse(text))
  } catch {
    // The parser's own message repeats the input, which may hold a secret.
    return Either.left(JsonProblem.at([], whole, "JSON expected, this is none"))
  }
}

/**
 * The value of a text. Refused, besides invalid JSON: a number that is not an integer in digits within ±(2^53 − 1), two
 * fields of one name in an object, and more than 32 levels. The field's own rule decides what a string may contain.
 * `whole` names the text when no single field is at fault.
 */
export const parse = (text: string, whole: string): Parsed =>
  Either.flatMap(parsed(text, whole), (value) => checked(text, whole, value))

/** The texts of a list's entries, for a text that `JSON.parse` accepted as a list. */
const entryTexts = (text: string): ReadonlyArray<string> => {
  const texts: Array<string> = []
  let depth = 0
  let start = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = closingQuote(text, i)
    else if (code === OPENING_BRACE || code === OPENING_BRACKET) {
      if (depth++ === 0) start = i + 1
    } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
      if (--depth === 0) texts.push(text.slice(start, i))
    } else if (code === COMMA && depth === 1) {
      texts.push(text.slice(start, i))
      start = i + 1
    }
  }
  return texts
}

/** One value, or a list whose entries are each checked separately; lazy, since a list may be long. */
export type OneOrMany =
  | { readonly _tag: "One"; readonly value: unknown }
  | { readonly _tag: "Many"; readonly length: number; readonly entries: () => ReadonlyArray<Parsed> }

/** Like `parse`, but a problem inside an entry of a list concerns only that entry. */
export const parseOneOrMany = (text: string, whole: string): Either.Either<OneOrMany, JsonProblem.JsonProblem> =>
  Either.flatMap(parsed(text, whole), (value): Either.Either<OneOrMany, JsonProblem.JsonProblem> => {
    if (!Array.isArray(value)) return Either.map(checked(text, whole, value), (value) => ({ _tag: "One", value }))
    const entries = () => {
      const texts = entryTexts(text)
      return value.map((entry, i) => checked(texts[i] ?? "", whole, entry))
    }
    return Either.right({ _tag: "Many", length: value.length, entries })
  })
