/** The owner of each name, as a row: an index over the accounts. A name takes sixteen bytes plus free slots. */
import * as Binary from "../../protocol/encoding/Binary.js"
import type { Name } from "../../protocol/identity/Name.js"
import type { Row } from "./AccountRows.js"
import * as HalfSipHash from "./HalfSipHash.js"
import { HashIndex } from "./HashIndex.js"

/** A name has at most 20 bytes, none of them 0. */
const scratch = new Uint8Array(20)
const words = new Uint32Array(scratch.buffer)

const hash = (key: HalfSipHash.Key, name: Name): number => {
  scratch.fill(0)
  scratch.set(Binary.utf8(name))
  return HalfSipHash.ofWords(key, words)
}

/** Every name has at least this many characters; names are also indexed by that prefix. */
const FIRST = 3
/** Names examined per prefix, which bounds the cost of a search however many names somebody registers. */
const MOST_LOOKED_AT = 2_000

export class NameIndex {
  readonly #key: HalfSipHash.Key
  readonly #nameOf: (row: Row) => Name | null
  readonly #rows: HashIndex
  readonly #byFirst = new Map<string, Array<Row>>()

  constructor(key: HalfSipHash.Key, nameOf: (row: Row) => Name | null) {
    this.#key = key
    this.#nameOf = nameOf
    this.#rows = new HashIndex((entry) => {
      const name = nameOf(entry - 1)
      if (name === null) throw new Error(`row ${entry - 1} has no name`)
      return hash(key, name)
    })
  }

  /** The row of the account with this name; undefined if nobody registered it. */
  find(name: Name): Row | undefined {
    const entry = this.#rows.find(hash(this.#key, name), (entry) => this.#nameOf(entry - 1) === name)
    return entry === 0 ? undefined : entry - 1
  }

  /** The account must have the name already. Names are never given up, and each has one owner. */
  add(name: Name, row: Row): void {
    const owner = this.find(name)
    if (owner !== undefined) throw new Error(`row ${row} would get the name @${name}, which row ${owner} has`)
    this.#rows.add(row + 1, hash(this.#key, name))
    const first = name.slice(0, FIRST)
    const alike = this.#byFirst.get(first)
    if (alike === undefined) this.#byFirst.set(first, [row])
    else alike.push(row)
  }

  /** The first names in alphabetical order that start with this text of three characters or more, with their rows. */
  beginningWith(text: string, most: number): ReadonlyArray<readonly [name: Name, row: Row]> {
    const found: Array<readonly [name: Name, row: Row]> = []
    for (const row of (this.#byFirst.get(text.slice(0, FIRST)) ?? []).slice(0, MOST_LOOKED_AT)) {
      const name = this.#nameOf(row)
      if (name?.startsWith(text) === true) found.push([name, row])
    }
    return found.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, most)
  }
}
