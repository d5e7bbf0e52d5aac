/** The root straight from the definition in docs/state-trie.md, with no code of the implementation. */
import { createHash } from "node:crypto"

export type Content = ReadonlyMap<string, Uint8Array>

const sha256 = (...parts: ReadonlyArray<string | Uint8Array>): Buffer => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const little = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(8)
  buffer.writeBigUInt64LE(BigInt(value))
  return buffer.subarray(0, bytes)
}

const bitOf = (key: string, depth: number): string =>
  Number.parseInt(key.slice(depth >> 2, (depth >> 2) + 1), 16)
    .toString(2)
    .padStart(4, "0")
    .slice(depth & 3, (depth & 3) + 1)

const node = (records: ReadonlyArray<readonly [string, Uint8Array]>, depth: number): Buffer => {
  if (records.length <= 32) {
    const encoded = records.flatMap(([key, value]) => [Buffer.from(key, "hex"), little(value.length, 2), value])
    return sha256("udg/leaf\0", Uint8Array.of(records.length), ...encoded)
  }
  const side = (bit: string) =>
    node(
      records.filter(([key]) => bitOf(key, depth) === bit),
      depth + 1,
    )
  return sha256("udg/node\0", little(records.length, 8), side("0"), side("1"))
}

export const sorted = (content: Content): ReadonlyArray<readonly [string, Uint8Array]> =>
  [...content].sort(([a], [b]) => (a < b ? -1 : 1))

export const rootOf = (content: Content): string => node(sorted(content), 0).toString("hex")
