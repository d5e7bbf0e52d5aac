/** Proof that an author filled one slot twice: two signed headers of one (base, epoch, round, author). */
import * as Binary from "../encoding/Binary.js"
import * as Header from "./Header.js"

export interface Evidence {
  /** The header with the lower hash. */
  readonly first: Header.Header
  readonly second: Header.Header
}

/** The evidence that two headers make; undefined if they prove nothing. */
export const of = (a: Header.Header, b: Header.Header): Evidence | undefined => {
  if (!Header.isSameSlot(a, b) || a.hash === b.hash) return undefined
  return a.hash < b.hash ? { first: a, second: b } : { first: b, second: a }
}

export const write = (writer: Binary.Writer, { first, second }: Evidence): void => {
  Header.write(writer, first)
  Header.write(writer, second)
}

export const read = (reader: Binary.Reader): Evidence => {
  const first = Header.read(reader)
  const second = Header.read(reader)
  reader.require(Header.isSameSlot(first, second), "two headers of different slots")
  reader.require(first.hash < second.hash, "headers not in the order of their hashes")
  return { first, second }
}

export const { encode, decode } = Binary.codec("evidence", write, read)
