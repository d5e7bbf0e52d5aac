import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import { toHex } from "#crypto"
import * as Assembly from "../../../src/ledger/trie/Assembly.js"
import * as Position from "../../../src/ledger/trie/Position.js"
import * as Subtree from "../../../src/ledger/trie/Subtree.js"
import * as Trie from "../../../src/ledger/trie/Trie.js"
import * as Binary from "../../../src/protocol/encoding/Binary.js"
import { type Content, sorted } from "./reference.js"
import * as worlds from "./worlds.js"

const EMPTY: Content = new Map()

const limits = fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 3_000, max: 600_000 }))

const export_ = (trie: Trie.Trie, maxBytes: number): ReadonlyArray<Uint8Array> =>
  [...Subtree.all(trie, maxBytes)].map(Subtree.encode)

const shuffled = <A>(items: ReadonlyArray<A>, seed: number): ReadonlyArray<A> =>
  items
    .map((item, i) => [worlds.hashed(`${seed} ${i}`), item] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => item)

const listed = (trie: Trie.Trie): string =>
  [...Trie.entries(trie)].map(({ key, value }) => `${key} ${Buffer.from(value).toString("hex")}`).join("\n")

const tagOf = (answer: ReturnType<Assembly.Assembly["accept"]>): string =>
  Either.match(answer, { onLeft: (error) => error._tag, onRight: () => "accepted" })

const messageOf = (answer: ReturnType<Assembly.Assembly["accept"]>): string =>
  Option.match(Either.getLeft(answer), { onNone: () => "accepted", onSome: (error) => error.message })

/** More questions than any of these states has records, asked of two peers. */
const MAX_TURNS = 20_000

/** Asks for the first missing part until nothing is missing, each time from the next peer and with the next limit. */
const join = (assembly: Assembly.Assembly, peers: ReadonlyArray<Trie.Trie>, limits: ReadonlyArray<number>): void => {
  for (let turn = 0; assembly.trie === undefined; turn++) {
    if (turn > MAX_TURNS) throw new Error("it does not come to an end")
    const { value: missing } = assembly.missing().next()
    const peer = peers[turn % peers.length]
    if (missing === undefined || peer === undefined) throw new Error("nothing to ask for, or nobody to ask")
    const answer = Subtree.at(peer, missing.position, limits[turn % limits.length] ?? 1)
    if (answer !== undefined) assembly.accept(Subtree.encode(answer))
  }
}

describe("the pieces of an export", () => {
  it("hold every record once, in order, each within the limit or a leaf", () => {
    fc.assert(
      fc.property(worlds.changes, limits, (batch, maxBytes) => {
        const content = worlds.after(EMPTY, batch)
        const pieces = [...Subtree.all(worlds.trieOf(content), maxBytes)]
        expect(pieces.flatMap(Subtree.entriesOf).map(({ key }) => key)).toEqual(sorted(content).map(([key]) => key))
        for (const piece of pieces) {
          const size = Subtree.encode(piece).length
          expect(size <= maxBytes || piece.records.length <= 32).toBe(true)
          expect(size).toBeLessThanOrEqual(Subtree.MAX_BYTES)
        }
      }),
    )
  })

  it("are as large as the limit allows, to the byte", () => {
    const trie = worlds.trieOf(worlds.plain(500))
    const [whole] = export_(trie, Subtree.MAX_BYTES)
    if (whole === undefined) throw new Error("a piece expected")
    expect([whole.length, whole.length - 1].map((limit) => export_(trie, limit).length)).toEqual([1, 2])
    for (const piece of Subtree.all(trie, 4_000)) {
      const encoded = Subtree.encode(piece)
      const within = Subtree.at(trie, piece.position, encoded.length)
      expect(within && toHex(Subtree.encode(within))).toBe(toHex(encoded))
      const narrower = Subtree.at(trie, piece.position, encoded.length - 1)
      expect(narrower?.position.depth).toBe(piece.position.depth + (piece.records.length > 32 ? 1 : 0))
    }
  })

  it("omit sides without records", () => {
    const low = Array.from({ length: 40 }, (_, i) => ({
      key: worlds.key(`0${worlds.hashed(i).slice(1)}`),
      value: null,
    }))
    const trie = worlds.trieOf(new Map(low.map(({ key }) => [key, Uint8Array.of(1)])))
    const pieces = [...Subtree.all(trie, 1)]
    expect(pieces.every(({ records }) => records.length > 0)).toBe(true)
    expect(pieces.reduce((sum, { records }) => sum + records.length, 0)).toBe(40)
    const right = { depth: 1, path: Uint8Array.of(0x80, ...new Uint8Array(31)) }
    expect(Subtree.at(trie, right, 1_000)?.records).toEqual([])
  })

  it("fit a message even when all values have the maximum length", () => {
    const content = new Map(Array.from({ length: 200 }, (_, i) => [worlds.hashed(i), new Uint8Array(8_192)]))
    const pieces = export_(worlds.trieOf(content), Number.MAX_SAFE_INTEGER)
    expect(pieces.every((piece) => piece.length <= Subtree.MAX_BYTES)).toBe(true)
    const assembly = new Assembly.Assembly(worlds.trieOf(content).hash)
    expect(pieces.map((piece) => tagOf(assembly.accept(piece)))).toEqual(pieces.map(() => "accepted"))
  })
})

describe("an assembly", () => {
  it("ends with the trie of its root from the pieces in any order", () => {
    fc.assert(
      fc.property(worlds.changes, limits, fc.nat(), (batch, maxBytes, seed) => {
        const trie = Trie.apply(Trie.empty, batch)
        const assembly = new Assembly.Assembly(trie.hash)
        const pieces = trie.records === 0 ? [] : shuffled(export_(trie, maxBytes), seed)
        for (const piece of pieces) {
          expect(assembly.trie).toBeUndefined()
          expect(tagOf(assembly.accept(piece))).toBe("accepted")
          expect(assembly.records).toBe(trie.records)
        }
        expect(assembly.trie?.hash).toBe(trie.hash)
        expect(assembly.heldRecords).toBe(trie.records)
        expect([...assembly.missing()]).toEqual([])
        expect(listed(assembly.trie ?? Trie.empty)).toBe(listed(trie))
      }),
    )
  })

  it("completes by asking for missing parts, from peers with other limits or another state", () => {
    fc.assert(
      fc.property(worlds.changes, worlds.changes, fc.array(limits, { minLength: 1 }), (batch, more, maxBytes) => {
        const trie = Trie.apply(Trie.empty, batch)
        const assembly = new Assembly.Assembly(trie.hash)
        join(assembly, [Trie.apply(trie, more), trie], maxBytes)
        expect(assembly.trie?.hash).toBe(trie.hash)
      }),
    )
  })

  it("continues after a restart from the accepted subtrees", () => {
    const trie = worlds.trieOf(worlds.plain(5_000))
    const pieces = export_(trie, 20_000)
    const half = pieces.filter((_, i) => i % 2 === 0)
    const resumed = new Assembly.Assembly(trie.hash)
    for (const piece of half) expect(tagOf(resumed.accept(piece))).toBe("accepted")
    expect([...resumed.missing()].reduce((sum, { records }) => sum + (records ?? 0), 0)).toBe(
      trie.records - resumed.heldRecords,
    )
    join(resumed, [trie], [50_000])
    expect(resumed.trie?.hash).toBe(trie.hash)
  })

  it("is complete from the start for the empty state", () => {
    const assembly = new Assembly.Assembly(Trie.empty.hash)
    expect(assembly.trie).toBe(Trie.empty)
    expect([...assembly.missing()]).toEqual([])
  })

  it("keeps nothing false, and still completes", () => {
    fc.assert(
      fc.property(worlds.changes, limits, fc.array(fc.nat(), { minLength: 5 }), (batch, maxBytes, bits) => {
        const trie = Trie.apply(Trie.empty, batch)
        fc.pre(trie.records > 0)
        const assembly = new Assembly.Assembly(trie.hash)
        for (const piece of export_(trie, maxBytes)) {
          for (const bit of bits) {
            const lie = piece.slice()
            const at = (bit >>> 3) % lie.length
            lie[at] = (lie[at] ?? 0) ^ (1 << (bit & 7))
            const held = assembly.heldRecords
            for (const bytes of [lie, piece.slice(0, at), Uint8Array.from([...piece, 0])]) {
              expect(tagOf(assembly.accept(bytes))).not.toBe("accepted")
            }
            expect(assembly.heldRecords).toBe(held)
          }
          expect(tagOf(assembly.accept(piece))).toBe("accepted")
        }
        expect(assembly.trie?.hash).toBe(trie.hash)
      }),
      { numRuns: 30 },
    )
  })

  const content = worlds.plain(3_000)
  const trie = worlds.trieOf(content)

  it("names missing parts from left to right, by position and number of records", () => {
    const pieces = [...Subtree.all(trie, 20_000)]
    const assembly = new Assembly.Assembly(trie.hash)
    expect([...assembly.missing()]).toEqual([{ position: Position.ROOT, records: undefined }])
    expect(assembly.records).toBeUndefined()
    for (const [i, piece] of pieces.entries()) if (i % 4 === 1) assembly.accept(Subtree.encode(piece))
    expect([assembly.records, assembly.trie]).toEqual([3_000, undefined])
    const missing = [...assembly.missing()]
    const places = missing.map(({ position }) => toHex(position.path))
    expect(places.length).toBeGreaterThan(3)
    expect(places).toEqual([...places].sort())
    for (const { position, records } of missing) {
      expect(Subtree.at(trie, position, Subtree.MAX_BYTES)?.records.length).toBe(records)
    }
  })

  it("reports records that it has already, and by how much a subtree is wrong", () => {
    const [first, second] = [...Subtree.all(trie, 5_000)]
    if (first === undefined || second === undefined) throw new Error("two pieces are needed here")
    const assembly = new Assembly.Assembly(trie.hash)
    const accepts = (subtree: Subtree.Subtree) => messageOf(assembly.accept(Subtree.encode(subtree)))
    accepts(first)
    const at = Position.format(first.position)
    expect(accepts(first)).toBe(`records at ${at} are held already`)
    const lie = (position: Position.Position, reason: string) =>
      `the subtree at ${Position.format(position)} does not belong under ${trie.hash}: ${reason}`
    const short = { ...second, records: second.records.slice(1) }
    const lies = [...assembly.missing()].find(({ position }) => toHex(position.path) === toHex(second.position.path))
    const { position, records = 0 } = lies ?? { position: second.position }
    const beside = second.siblings.slice(position.depth).reduce((sum, sibling) => sum + sibling.records, 0)
    expect(beside + second.records.length).toBe(records)
    expect(accepts(short)).toBe(lie(second.position, `it claims ${records - 1} records where ${records} are missing`))
    const hashes = second.siblings.map((sibling) => ({ ...sibling, hash: worlds.hashed("another") }))
    expect(accepts({ ...second, siblings: hashes })).toMatch(
      /does not belong under [0-9a-f]{64}: it leads to the root [0-9a-f]{64}$/,
    )
  })

  it("accepts the root as a position, and one at the greatest depth", () => {
    expect(Position.format(Position.ROOT)).toBe("the root")
    const path = Uint8Array.from({ length: 32 }, (_, i) => (i === 1 ? 0xc0 : 0xab))
    expect([1, 8, 9, 16, 17].map((depth) => Position.format({ depth, path }))).toEqual([
      "ab/1",
      "ab/8",
      "abc0/9",
      "abc0/16",
      "abc0ab/17",
    ])
    const read = (position: Position.Position) =>
      Binary.decode(
        "position",
        Binary.encode((writer) => Position.write(writer, position)),
        Position.read,
      )
    const zeros = new Uint8Array(32)
    for (const depth of [0, 1, 9, 251])
      expect(Either.getOrThrow(read({ depth, path: zeros }))).toEqual({ depth, path: zeros })
    const turned = [0, 7, 8, 250].map((depth) => Position.right({ depth, path: zeros }))
    expect(turned.map(({ path }) => [path.findIndex((byte) => byte !== 0), Math.max(...path)])).toEqual([
      [0, 0x80],
      [0, 0x01],
      [1, 0x80],
      [31, 0x20],
    ])
    for (const position of turned) {
      expect(Either.getOrThrow(read(position))).toEqual(position)
      const beyond = read({ ...position, depth: position.depth - 1 })
      expect(Option.getOrThrow(Either.getLeft(beyond)).message).toContain("path bits beyond the depth")
    }
    expect(Option.getOrThrow(Either.getLeft(read({ depth: 252, path: zeros }))).message).toContain(
      "depth 252, at most 251",
    )
  })

  it("refuses records that it has already, wider or narrower, before hashing anything", () => {
    const assembly = new Assembly.Assembly(trie.hash)
    const [small] = export_(trie, 5_000)
    const [large] = export_(trie, 50_000)
    const [tiny] = export_(trie, 1)
    if (small === undefined || large === undefined || tiny === undefined) throw new Error("three sizes are needed here")
    expect(tagOf(assembly.accept(small))).toBe("accepted")
    for (const again of [small, large, tiny]) expect(tagOf(assembly.accept(again))).toBe("AlreadyHeld")
    join(assembly, [trie], [1_000_000])
    expect(tagOf(assembly.accept(large))).toBe("AlreadyHeld")

    const [, second] = export_(trie, 5_000)
    const begunInside = new Assembly.Assembly(trie.hash)
    begunInside.accept(second ?? small)
    expect(tagOf(begunInside.accept(large))).toBe("AlreadyHeld")
  })

  it("refuses a subtree if it has one side already", () => {
    for (const side of [Position.left(Position.ROOT), Position.right(Position.ROOT)]) {
      const assembly = new Assembly.Assembly(trie.hash)
      const answers = [side, Position.ROOT].map((position) => {
        const piece = Subtree.at(trie, position, Subtree.MAX_BYTES)
        if (piece === undefined) throw new Error("both are in this trie")
        expect(piece.position.depth).toBe(position.depth)
        return tagOf(assembly.accept(Subtree.encode(piece)))
      })
      expect(answers).toEqual(["accepted", "AlreadyHeld"])
    }
  })

  it("refuses a subtree of another state", () => {
    const [first, second] = export_(Trie.apply(trie, [{ key: worlds.hashed(0), value: null }]), 5_000)
    if (first === undefined || second === undefined) throw new Error("two pieces are needed here")
    const assembly = new Assembly.Assembly(trie.hash)
    expect(messageOf(assembly.accept(first))).toContain("it leads to the root")
    const [own] = export_(trie, 5_000)
    assembly.accept(own ?? first)
    expect(messageOf(assembly.accept(second))).toMatch(/does not belong under .*: it (leads to the root|tells of)/)
  })

  it("refuses a wrong number of records by count alone once the count is known", () => {
    const assembly = new Assembly.Assembly(trie.hash)
    const pieces = [...Subtree.all(trie, 5_000)]
    const [first, second] = pieces
    if (first === undefined || second === undefined) throw new Error("two pieces are needed here")
    assembly.accept(Subtree.encode(first))
    const short = { ...second, records: second.records.slice(1) }
    expect(messageOf(assembly.accept(Subtree.encode(short)))).toMatch(/it claims \d+ records where \d+ are missing/)
  })

  it("refuses malformed encodings with the reason", () => {
    const [before, piece, after] = [...Subtree.all(trie, 5_000)]
    if (before === undefined || piece === undefined || after === undefined) throw new Error("three are needed here")
    const { depth } = piece.position
    const broken = (change: Partial<Subtree.Subtree>) =>
      messageOf(new Assembly.Assembly(trie.hash).accept(Subtree.encode({ ...piece, ...change })))
    expect(broken({ records: piece.records.toReversed() })).toContain("records not in the order of their keys")
    expect(broken({ records: [...piece.records.slice(0, 1), ...piece.records] })).toContain("not in the order")
    const beside = new Uint8Array(32).fill(0)
    beside[0] = 0x80
    expect(broken({ position: { depth, path: beside } })).toContain("does not lie below the position")
    for (const records of [
      [...before.records.slice(-1), ...piece.records],
      [...piece.records, ...after.records.slice(0, 1)],
    ]) {
      expect(broken({ records })).toContain("does not lie below the position")
    }
    const beyond = new Uint8Array(32)
    beyond[31] = 1
    expect(broken({ position: { depth, path: beyond } })).toContain("path bits beyond the depth")
    expect(broken({ position: { depth: 252, path: beside } })).toContain("depth 252")
    const zeros = (length: number) => messageOf(new Assembly.Assembly(trie.hash).accept(new Uint8Array(length)))
    expect(zeros(Subtree.MAX_BYTES + 1)).toBe("subtree: 524289 bytes, at most 524288 allowed at byte 0")
    expect(zeros(Subtree.MAX_BYTES)).toBe("subtree: 524251 trailing bytes at byte 37")
  })

  it("trusts no count: a promise of four billion records costs nothing", () => {
    const promise = new Uint8Array(37)
    promise.fill(0xff, 33)
    expect(messageOf(new Assembly.Assembly(trie.hash).accept(promise))).toContain("list of 4294967295")
  })
})

describe("a peer", () => {
  it("has nothing at a position without a node in its state", () => {
    const trie = worlds.trieOf(worlds.plain(40))
    const deep = { depth: 251, path: new Uint8Array(32) }
    expect(Subtree.at(trie, deep, 1_000)).toBeUndefined()
  })
})
