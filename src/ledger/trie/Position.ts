/** A place in the trie: the first `depth` bits of the keys below it. */

import { toHex } from "#crypto"
import type * as Binary from "../../protocol/encoding/Binary.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Element from "../../protocol/numbers/Element.js"
import * as StateTree from "../../protocol/state/StateTree.js"

export interface Position {
  readonly depth: number
  /** 32 bytes, zero beyond the depth: the lowest key that can lie below. */
  readonly path: Uint8Array
}

export const ROOT: Position = { depth: 0, path: new Uint8Array(Hash.BYTES) }

export const left = ({ depth, path }: Position): Position => ({ depth: depth + 1, path })

export const right = ({ depth, path }: Position): Position => {
  const turned = path.slice()
  const at = depth >>> 3
  turned[at] = Element.byte(turned, at) | (0x80 >>> (depth & 7))
  return { depth: depth + 1, path: turned }
}

export const format = ({ depth, path }: Position): string =>
  depth === 0 ? "the root" : `${toHex(path.subarray(0, (depth + 7) >>> 3))}/${depth}`

export const write = (writer: Binary.Writer, { depth, path }: Position): void => {
  writer.u8(depth).raw(path)
}

const endsAt = (path: Uint8Array, depth: number): boolean => {
  for (let bit = depth; bit < StateTree.KEY_BITS; bit++) if (StateTree.turnsRight(path, bit)) return false
  return true
}

export const read = (reader: Binary.Reader): Position => {
  const depth = reader.u8()
  reader.require(depth <= StateTree.MAX_DEPTH, `depth ${depth}, at most ${StateTree.MAX_DEPTH}`)
  const path = reader.raw(Hash.BYTES)
  reader.require(endsAt(path, depth), "path bits beyond the depth")
  return { depth, path }
}
