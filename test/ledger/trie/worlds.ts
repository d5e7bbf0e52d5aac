/** Contents and histories of tries: hashed keys, and keys as a grinding attacker would choose them. */
import { createHash } from "node:crypto"
import { FastCheck as fc } from "effect"
import * as Trie from "../../../src/ledger/trie/Trie.js"
import type { Hash } from "../../../src/protocol/identity/Hash.js"
import type { Content } from "./reference.js"

export const key = (hex: string): Hash => hex as Hash

/** A key as the ledger makes them: the hash of something. */
export const hashed = (seed: number | string): Hash => key(createHash("sha256").update(`${seed}`).digest("hex"))

const BASES = [0n, (1n << 256n) - 1n, BigInt(`0x${hashed("base")}`)]

/** The key that leaves the path of one of three bases after `shared` bits. */
const near = (base: number, shared: number, noise: bigint): Hash => {
  const low = 256n - BigInt(shared)
  const mask = (1n << low) - 1n
  return key((((BASES[base] ?? 0n) & ~mask) | (noise & mask)).toString(16).padStart(64, "0"))
}

/** From a small set, so that histories meet the same keys again, with up to 255 bits in common. */
export const keys: fc.Arbitrary<Hash> = fc.oneof(
  { weight: 2, arbitrary: fc.nat(150).map(hashed) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.nat(2), fc.constantFrom(3, 8, 31, 200, 249, 250, 251), fc.bigInt(0n, 127n))
      .map(([base, shared, noise]) => near(base, shared, noise | (noise << 249n))),
  },
)

export const values: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 20, arbitrary: fc.uint8Array({ maxLength: 4 }) },
  { weight: 1, arbitrary: fc.nat(8_192).map((length) => new Uint8Array(length).fill(7)) },
)

export const changes: fc.Arbitrary<ReadonlyArray<Trie.Change>> = fc.array(
  fc.record({ key: keys, value: fc.option(values, { freq: 4 }) }),
  { maxLength: 300, size: "max" },
)

export const histories: fc.Arbitrary<ReadonlyArray<ReadonlyArray<Trie.Change>>> = fc.array(changes, { maxLength: 4 })

export const after = (content: Content, batch: Iterable<Trie.Change>): Content => {
  const next = new Map(content)
  for (const { key, value } of batch) {
    if (value === null) next.delete(key)
    else next.set(key, value)
  }
  return next
}

export const changesTo = (content: Content): ReadonlyArray<Trie.Change> =>
  [...content].map(([hex, value]) => ({ key: key(hex), value }))

export const trieOf = (content: Content): Trie.Trie => Trie.apply(Trie.empty, changesTo(content))

/** `count` records under hashed keys. */
export const plain = (count: number): Content =>
  new Map(Array.from({ length: count }, (_, i) => [hashed(i), Buffer.from(`value ${i}`)]))
