/** JSON as a node reads it: RFC 8259 with the three stricter rules of docs/protocol.md. */
import { Refused } from "./Bytes.js"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }

const DEPTH = 32
const TOKEN = /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|(-?[0-9][0-9eE+.-]*)|(true|false|null))/y
const NUMBER = /^-?(0|[1-9][0-9]*)$/

class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  #next(): string {
    TOKEN.lastIndex = this.#at
    const match = TOKEN.exec(this.#text)
    if (match === null) throw new Refused("syntax")
    this.#at = TOKEN.lastIndex
    return match[1] ?? match[2] ?? match[3] ?? match[4] ?? ""
  }

  #peek(): string {
    const at = this.#at
    const token = this.#next()
    this.#at = at
    return token
  }

  #skip(token: string): void {
    if (this.#next() !== token) throw new Refused("syntax")
  }

  #number(token: string, path: string): number {
    const value = Number(token)
    if (!NUMBER.test(token) || !Number.isSafeInteger(value) || Object.is(value, -0)) throw new Refused("number", path)
    return value
  }

  value(path: string, depth: number): Json {
    const token = this.#next()
    if (token === "{" || token === "[") {
      if (depth === DEPTH) throw new Refused("depth", path)
      return token === "{" ? this.#object(path, depth + 1) : this.#list(path, depth + 1)
    }
    if (token.startsWith('"')) return JSON.parse(token)
    if (token === "true" || token === "false") return token === "true"
    return token === "null" ? null : this.#number(token, path)
  }

  #object(path: string, depth: number): Json {
    const fields: { [name: string]: Json } = {}
    for (let first = true; this.#peek() !== "}"; first = false) {
      if (!first) this.#skip(",")
      const token = this.#next()
      if (!token.startsWith('"')) throw new Refused("syntax")
      const name: string = JSON.parse(token)
      const field = path === "" ? name : `${path}.${name}`
      if (Object.hasOwn(fields, name)) throw new Refused("twice", field)
      this.#skip(":")
      fields[name] = this.value(field, depth)
    }
    this.#skip("}")
    return fields
  }

  #list(path: string, depth: number): Json {
    const items: Array<Json> = []
    while (this.#peek() !== "]") {
      if (items.length > 0) this.#skip(",")
      items.push(this.value(`${path}[${items.length}]`, depth))
    }
    this.#skip("]")
    return items
  }

  end(): void {
    if (/[^ \t\n\r]/.test(this.#text.slice(this.#at))) throw new Refused("syntax")
  }
}

export const parse = (text: string): Json => {
  const parser = new Parser(text)
  const value = parser.value("", 0)
  parser.end()
  return value
}
