/**
 * JSON text from outside: request bodies and files. `JSON.parse` accepts too much: it rounds `150000000.000000001` to
 * an amount that was never written, and of two fields with one name it keeps the last, where another reader keeps the
 * first. A second pass over the text refuses everything ambiguous.
 */
import { Either } from "effect"
import * as JsonProblem from "./JsonProblem.js"

/** The maximum nesting of lists and objects. Real input needs no more than six levels. */
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

const expected = `an integer from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER} in digits alone, without fraction and exponent`

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE

/** The position of the closing quote of the string that begins at `start`; negative if missing. */
const closingQuote = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    if (end < 0) return end
    let before = end - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    // An even number of backslashes escapes only itself.
    if ((end - before) % 2 === 1) return end
  }
}

/** The end of the number that begins at `start`, before a comma, a closing bracket, space or the end of the text. */
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
  // -0 is an integer in digits, but nothing here counts with it.
  if (isNegative && text.charCodeAt(start + 1) === ZERO) return false
  return end - start <= SHORT || Number.isSafeInteger(Number(text.slice(start, end)))
}

const keyOf = (text: string, start: number, end: number): string => {
  const key = text.slice(start + 1, end)
  return key.includes("\\") ? String(JSON.parse(text.slice(start, end + 1))) : key
}

/** The problem of a text that `JSON.parse` accepted; the grammar need not be checked again. */
const problemOf = (text: string, whole: string): JsonProblem.JsonProblem | undefined => {
  /** The key or index being read, for every open object or list. */
  const path: Array<PropertyKey> = []
  /** The keys seen, for every open object. One set serves all objects of its depth in turn. */
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
        if (keys?.has(key)) return JsonProblem.at(path, whole, "appears twice in one object")
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
        return JsonProblem.at(path, whole, `more than ${MAX_DEPTH} levels of nested objects and lists`)
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

/**
 * Limits of a text before it is parsed. Parsing time and memory depend on the number of values, not bytes, and above
 * all on fields with many names.
 */
export interface Bounds {
  /** Objects, lists, and the values in them. */
  readonly values: number
  readonly depth?: number
  readonly fields?: number
}

/**
 * Which bound a text exceeds, as far as `JSON.parse` would read it; undefined if none. Each value except the first of a
 * list or object follows a comma.
 */
export const excessOf = (
  text: string,
  { values, depth: deepest = Number.POSITIVE_INFINITY, fields: most = Number.POSITIVE_INFINITY }: Bounds,
): string | undefined => {
  let count = 1
  let depth = 0
  /** One count for every open object; lists have none. */
  const fields: Array<number> = []
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      const end = closingQuote(text, i)
      // An unterminated string: no parser reads any further.
      if (end < 0) return undefined
      i = end
    } else if (code === COMMA || code === OPENING_BRACE || code === OPENING_BRACKET) {
      if (++count > values) return `more than ${values} values`
      if (code !== COMMA) {
        if (depth === deepest) return `more than ${deepest} levels of nested objects and lists`
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
    return Either.left(JsonProblem.at([], whole, "not valid JSON"))
  }
}

/**
 * Parses a text. Besides invalid JSON, it refuses numbers that are not integers in digits within ±(2^53 − 1), two
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
