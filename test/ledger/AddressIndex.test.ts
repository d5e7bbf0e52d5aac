/** Finding accounts by address, also when an attacker chose the addresses to make it slow. */
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { AccountRows, ADDRESS_WORDS, NONE } from "../../src/ledger/tables/AccountRows.js"
import { AddressIndex, LOOKUPS_PER_BATCH, MOVED_AT_ONCE } from "../../src/ledger/tables/AddressIndex.js"
import * as HalfSipHash from "../../src/ledger/tables/HalfSipHash.js"

const words = (...some: ReadonlyArray<number>): Uint32Array => {
  const address = new Uint32Array(ADDRESS_WORDS)
  address.set(some)
  return address
}

/** The number of steps to the farthest of these from its slot, with half of the slots taken. */
const longestWalk = (hashes: ReadonlyArray<number>): number => {
  const mask = 2 ** Math.ceil(Math.log2(hashes.length * 2)) - 1
  const taken = new Uint8Array(mask + 1)
  let longest = 0
  for (const hash of hashes) {
    let slot = hash & mask
    let walk = 0
    for (; taken[slot] === 1; walk++) slot = (slot + 1) & mask
    taken[slot] = 1
    longest = Math.max(longest, walk)
  }
  return longest
}

/** The previous hash for accounts: multiplying and shifting, with a secret seed. */
const mixed = (seed: number, address: Uint32Array): number => {
  let hash = seed
  for (const word of address) {
    hash = Math.imul(hash ^ word, 0x9e3779b1)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash, 0x85ebca77)
  return (hash ^ (hash >>> 13)) >>> 0
}

/**
 * Addresses that a multiplying hash maps to the same slot, whatever its seed: a change in the top bit stays there,
 * since every factor is odd, also appears 15 bits lower by the shift, and the next word cancels both.
 */
const invisible = (length: number): ReadonlyArray<Uint32Array> =>
  Array.from({ length }, (_, i) => {
    const address = words(7, 11, 13, 17, 19)
    // Pairs of words, one bit each; leading words make many of them.
    if (i & 1) flip(address, 1)
    if (i & 2) flip(address, 3)
    address[0] = i >>> 2
    return address
  })

const TOP = 0x8000_0000

const flip = (address: Uint32Array, at: number): void => {
  address[at] = (address[at] ?? 0) ^ TOP
  address[at + 1] = (address[at + 1] ?? 0) ^ TOP ^ (TOP >>> 15)
}

describe("the address hash", () => {
  // The vectors with which Linux tests its hsiphash on 32-bit words: the bytes 0, 1, 2, … under the key 0, 1, … 7.
  it.each([
    [0, 0x5814c896],
    [4, 0x7e059ea6],
    [8, 0x577999b1],
    [12, 0x6b28096c],
    [16, 0x8b31d501],
    [20, 0x911bb605],
  ])("is HalfSipHash-1-3, of %i bytes", (length, hash) => {
    const bytes = Uint8Array.from({ length }, (_, i) => i)
    const key = HalfSipHash.keyFrom(Uint8Array.from({ length: 8 }, (_, i) => i))
    expect(HalfSipHash.ofWords(key, new Uint32Array(bytes.buffer))).toBe(hash)
  })

  it("requires a key of eight bytes", () => {
    expect(() => HalfSipHash.keyFrom(new Uint8Array(7))).toThrow("a hash key has 8 bytes, not 7")
  })

  it("separates addresses that collide under a multiplying hash with any seed", () => {
    const family = invisible(4_096)
    for (const seed of [0, 1, 0xdead_beef, 0x1234_5678, 0xffff_ffff]) {
      const collisions = family.length - new Set(family.map((address) => mixed(seed, address))).size
      expect(collisions).toBeGreaterThanOrEqual(family.length * 0.7)
      const hashes = family.map((address) => HalfSipHash.ofWords({ low: seed, high: ~seed >>> 0 }, address))
      expect(new Set(hashes).size).toBeGreaterThanOrEqual(family.length - 1)
      expect(longestWalk(hashes)).toBeLessThan(60)
    }
  })

  it("probes no farther for addresses that differ in a few bits than for random ones", () => {
    const near = Array.from({ length: 32_768 }, (_, i) => words(0, i << 17, 0, i << 16, 0))
    expect(longestWalk(near.map((address) => HalfSipHash.ofWords({ low: 1, high: 2 }, address)))).toBeLessThan(100)
  })
})

describe("the address index", () => {
  const indexed = () => {
    const rows = new AccountRows()
    return { rows, index: new AddressIndex({ low: 5, high: 6 }, rows) }
  }

  it("moves a few rows with every addition, and finishes before it grows again", () => {
    const { index } = indexed()
    let before = 0
    let mostMoved = 0
    const leftOver: Array<number> = []
    for (let i = 0; i < 40_000; i++) {
      index.add(words(i, ~i))
      if (index.unmoved > before) leftOver.push(before)
      else mostMoved = Math.max(mostMoved, before - index.unmoved)
      before = index.unmoved
    }
    expect([leftOver, mostMoved]).toEqual([[0, 0, 0, 0, 0, 0], MOVED_AT_ONCE])
  })

  it("finds exactly the added addresses, at every size", () => {
    const { index } = indexed()
    const wrong: Array<number> = []
    for (let i = 0; i < 5_000; i++) {
      if (index.find(words(1, i)) !== NONE || index.add(words(1, i)) !== i) wrong.push(i)
      // The newest, the oldest, and one on each side of the move's position.
      for (const known of [i, 0, i - index.unmoved, i >>> 1])
        if (index.find(words(1, known)) !== known) wrong.push(known)
    }
    expect(wrong).toEqual([])
  })

  it("finds many together as it finds each alone, also while rows move", () => {
    const { index } = indexed()
    const wrong: Array<number> = []
    for (let i = 0; i < 5_000; i++) {
      index.add(words(1, i))
      if (i % 61 !== 0) continue
      // Oldest and newest in turn, and the last few are missing.
      const asked = Array.from({ length: LOOKUPS_PER_BATCH }, (_, k) => (k % 2 === 0 ? i - k + 8 : k))
      const found = index.findAll(Uint32Array.from(asked.flatMap((n) => [...words(1, n)])), LOOKUPS_PER_BATCH)
      for (const [k, n] of asked.entries()) if (found[k] !== index.find(words(1, n))) wrong.push(n)
    }
    expect(wrong).toEqual([])
  })

  it("behaves as a map from addresses to rows", () => {
    const address = fc.tuple(fc.nat(3), fc.nat(300)).map(([a, b]) => words(a, b, 0, b))
    fc.assert(
      fc.property(fc.array(address, { maxLength: 3_000, size: "max" }), (addresses) => {
        const { index, rows } = indexed()
        const model = new Map<string, number>()
        for (const one of addresses) {
          const known = model.get(one.join())
          if (index.find(one) !== (known ?? NONE)) throw new Error(`${one.join()} lies at ${index.find(one)}`)
          if (known === undefined) model.set(one.join(), index.add(one))
        }
        expect(rows.count).toBe(model.size)
      }),
      { numRuns: 20 },
    )
  })
})
