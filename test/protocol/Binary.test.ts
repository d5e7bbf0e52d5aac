import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as arbitrary from "./arbitraries.js"

const written = (write: (writer: Binary.Writer) => void): string => Buffer.from(Binary.encode(write)).toString("hex")

const readingFails = (hex: string, read: (reader: Binary.Reader) => unknown): string =>
  Option.getOrThrow(Either.getLeft(Binary.decode("test", Buffer.from(hex, "hex"), read))).message

describe("a writer", () => {
  it("writes integers with the lowest byte first", () => {
    expect(written((writer) => writer.u8(0xab))).toBe("ab")
    expect(written((writer) => writer.u16(0x0102))).toBe("0201")
    expect(written((writer) => writer.u32(0x01020304))).toBe("04030201")
    expect(written((writer) => writer.u64(0x01_0203_0405_0607))).toBe("0706050403020100")
    expect(written((writer) => writer.u64(Number.MAX_SAFE_INTEGER))).toBe("ffffffffffff1f00")
    expect(written((writer) => writer.u128((1n << 127n) + 2n))).toBe(`02${"00".repeat(14)}80`)
  })

  it("grows at any end of its buffer, for any value", () => {
    for (let filled = 480; filled <= 530; filled++) {
      const bytes = Binary.encode((writer) =>
        writer.raw(new Uint8Array(filled)).u8(1).u16(2).u32(3).u64(4).u128(5n).hex("0607").text8("é").boolean(true),
      )
      const tail = "01020003000000040000000000000005000000000000000000000000000000060702c3a901"
      expect(Buffer.from(bytes.subarray(filled)).toString("hex")).toBe(tail)
    }
  })

  it("refuses what does not fit its field instead of cutting it", () => {
    const refused: ReadonlyArray<(writer: Binary.Writer) => unknown> = [
      (writer) => writer.u8(256),
      (writer) => writer.u8(-1),
      (writer) => writer.u8(1.5),
      (writer) => writer.u16(65_536),
      (writer) => writer.u32(2 ** 32),
      (writer) => writer.u64(2 ** 53),
      (writer) => writer.u64(-1),
      (writer) => writer.u64(Number.NaN),
      (writer) => writer.u128(-1n),
      (writer) => writer.u128(1n << 128n),
      // It used to be written as zeros, shifted by half a byte.
      (writer) => writer.hex("0g"),
      (writer) => writer.hex("g0"),
      (writer) => writer.hex("\u0130\u0130"),
      (writer) => writer.hex("abc"),
      (writer) => writer.text8("x".repeat(256)),
      (writer) => writer.text16("x".repeat(65_536)),
      (writer) => writer.text8("\ud800"),
      (writer) => writer.list8(new Array(256).fill(0), () => undefined),
    ]
    for (const write of refused) expect(() => Binary.encode(write)).toThrow(RangeError)
    expect(() => Binary.encode((writer) => writer.u8(256))).toThrow("not an unsigned integer up to 255: 256")
    expect(() => Binary.encode((writer) => writer.u128(-1n))).toThrow("not an unsigned integer of 128 bits: -1")
    expect(() => Binary.encode((writer) => writer.text8("\ud800"))).toThrow(
      "a lone surrogate cannot be encoded in UTF-8",
    )
  })

  it("is not disturbed by a nested encoding, nor by one that threw", () => {
    const nested = written((writer) => {
      writer.u8(1)
      writer.raw(Binary.encode((inner) => inner.u8(2)))
      expect(() => Binary.encode((inner) => inner.u8(9).u8(999))).toThrow()
      writer.u8(3)
    })
    expect(nested).toBe("010203")
    expect(written((writer) => writer.u8(4))).toBe("04")
  })

  it("hands out bytes that later encodings do not touch", () => {
    const first = Binary.encode((writer) => writer.u32(0x01010101))
    Binary.encode((writer) => writer.u32(0x02020202))
    expect([...first]).toEqual([1, 1, 1, 1])
  })
})

describe("a separate writer", () => {
  it("reports its size and capacity, grows as needed, and is empty once it has handed out its bytes", () => {
    const writer = new Binary.Writer(4)
    expect([writer.length, writer.capacity]).toEqual([0, 4])
    writer.u32(1)
    expect([writer.length, writer.capacity]).toEqual([4, 4])
    writer.u8(2)
    expect([writer.length, writer.capacity, [...writer.written]]).toEqual([5, 8, [1, 0, 0, 0, 2]])
    writer.raw(new Uint8Array(95))
    expect([writer.length, writer.capacity]).toEqual([100, 100])
    expect([...writer.finish().subarray(0, 5), writer.length]).toEqual([1, 0, 0, 0, 2, 0])
    expect([...writer.u8(3).finish()]).toEqual([3])
  })
})

describe("both directions of an encoding", () => {
  it("come from one description", () => {
    const codec = Binary.codec<number>(
      "pair",
      (writer, value) => writer.u8(value).u8(value),
      (reader) => reader.u8() + reader.u8(),
    )
    expect([...codec.encode(4)]).toEqual([4, 4])
    expect(codec.decode(Uint8Array.of(4, 4))).toStrictEqual(Either.right(8))
    expect(Either.merge(codec.decode(Uint8Array.of(4)))).toMatchObject({
      message: "pair: expected 1 bytes, 0 left at byte 1",
    })
  })
})

describe("a reader", () => {
  it("returns every integer that a writer wrote", () => {
    fc.assert(
      fc.property(arbitrary.counter(), fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), (small, large) => {
        const bytes = Binary.encode((writer) => writer.u64(small).u128(large))
        const read = Binary.decode("test", bytes, (reader) => [reader.u64(), reader.u128()])
        expect(read).toStrictEqual(Either.right([small, large]))
      }),
      { numRuns: 1_000 },
    )
  })

  it("returns every text, including a leading byte-order mark", () => {
    fc.assert(
      fc.property(arbitrary.text(200), (text) => {
        const bytes = Binary.encode((writer) => writer.text8(text).text16(text))
        const read = Binary.decode("test", bytes, (reader) => [reader.text8(200), reader.text16(200)])
        expect(read).toStrictEqual(Either.right([text, text]))
      }),
    )
  })

  it.each([
    ["a boolean other than 0 and 1", "02", (reader: Binary.Reader) => reader.boolean(), "boolean byte 2"],
    ["an integer of 2^53", "0000000000002000", (reader: Binary.Reader) => reader.u64(), "integer above 2^53 - 1"],
    ["an amount above the supply", "0140075af8750700", (reader: Binary.Reader) => reader.sats(), "maximum supply"],
    ["an over-long form of a letter", "02c1a1", (reader: Binary.Reader) => reader.text8(9), "not UTF-8"],
    ["a surrogate in UTF-8", "03eda080", (reader: Binary.Reader) => reader.text8(9), "not UTF-8"],
    ["a code point above U+10FFFF", "04f4908080", (reader: Binary.Reader) => reader.text8(9), "not UTF-8"],
    ["half a character", "01c3", (reader: Binary.Reader) => reader.text8(9), "not UTF-8"],
    ["a text over its limit", "03616263", (reader: Binary.Reader) => reader.text8(2), "text of 3 bytes, at most 2"],
  ])("refuses %s", (_, hex, read, reason) => {
    expect(readingFails(hex, read)).toContain(reason)
  })

  it("accepts the largest amount and not one more", () => {
    const largest = Binary.encode((writer) => writer.u64(Sats.MAX_SUPPLY))
    expect(Binary.decode("test", largest, (reader) => reader.sats())).toStrictEqual(Either.right(Sats.MAX_SUPPLY))
  })

  it("reports the value, the position and the first reason of a failure", () => {
    const message = readingFails("0105", (reader) => {
      reader.boolean()
      reader.boolean()
      reader.u64()
      reader.fail("something later")
    })
    expect(message).toBe("test: boolean byte 5 at byte 2")
  })

  it("reads zeros after a failure, and stops, so that a decoder needs no branches", () => {
    const reader = new Binary.Reader(Uint8Array.of(3, 1, 1, 1, ...new Uint8Array(40).fill(1)))
    reader.u8()
    reader.fail("no more")
    const numbers = [reader.u8(), reader.u16(), reader.u32(), reader.u64(), reader.u128(), reader.sats()]
    expect(numbers).toStrictEqual([0, 0, 0, 0, 0n, 0])
    expect([reader.raw(3), reader.hex(3), reader.text8(9), reader.text16(9)]).toEqual([new Uint8Array(0), "", "", ""])
    expect([reader.boolean(), reader.list8(9, () => reader.u8()), reader.list(3, 9, () => 7)]).toEqual([false, [], []])
    expect([reader.offset, reader.remaining]).toEqual([1, 43])
    expect(reader.failure).toEqual({ offset: 1, reason: "no more" })
  })

  it("reads anything at the very beginning", () => {
    const bytes = Buffer.from("01000000000000000000000000000000", "hex")
    const first = <A>(read: (reader: Binary.Reader) => A) => read(new Binary.Reader(bytes))
    expect(first((reader) => [reader.u128(), reader.failure])).toEqual([1n, undefined])
    expect(first((reader) => [...reader.raw(2)])).toEqual([1, 0])
    expect(first((reader) => [reader.boolean(), reader.boolean()])).toEqual([true, false])
  })

  it.each<[number, unknown, (reader: Binary.Reader) => unknown]>([
    [1, 0, (reader) => reader.u8()],
    [2, 0, (reader) => reader.u16()],
    [4, 0, (reader) => reader.u32()],
    [8, 0, (reader) => reader.u64()],
    [16, 0n, (reader) => reader.u128()],
    [5, new Uint8Array(0), (reader) => reader.raw(5)],
    [5, "", (reader) => reader.hex(5)],
  ])("needs %i bytes for a value of that size, and reads a zero where one is missing", (count, zero, read) => {
    const reader = new Binary.Reader(new Uint8Array(count - 1).fill(1))
    expect(read(reader)).toStrictEqual(zero)
    expect(reader.failure).toEqual({ offset: 0, reason: `expected ${count} bytes, ${count - 1} left` })
  })

  it("reads zeros for values above its limit", () => {
    const above = new Binary.Reader(new Uint8Array(16).fill(0xff))
    expect([above.u64(), above.failure?.reason]).toEqual([0, "integer above 2^53 - 1"])
    const amount = new Binary.Reader(Binary.encode((writer) => writer.u64(Sats.MAX_SUPPLY + 1)))
    expect(amount.sats()).toBe(0)
    const [text, broken] = ["03616263", "01c3"].map((hex) => new Binary.Reader(Buffer.from(hex, "hex")))
    expect([text?.text8(2), broken?.text8(9)]).toEqual(["", ""])
  })

  it("reads texts and lists of exactly their limit, and returns the bytes since a position", () => {
    const bytes = Binary.encode((writer) =>
      writer
        .text8("abc")
        .text16("abc")
        .list8([1, 2], (item) => writer.u8(item))
        .list16([3, 4], (item) => writer.u8(item))
        .list32([5, 6], (item) => writer.u8(item)),
    )
    const read = Binary.decode("test", bytes, (reader) => {
      const texts = [reader.text8(3), reader.text16(3)]
      const start = reader.offset
      const item = () => reader.u8()
      const lists = [reader.list8(2, item), reader.list16(2, item), reader.list32(2, item)]
      return { texts, lists, since: [...reader.since(start)] }
    })
    expect(read).toStrictEqual(
      Either.right({
        texts: ["abc", "abc"],
        lists: [
          [1, 2],
          [3, 4],
          [5, 6],
        ],
        since: [2, 1, 2, 2, 0, 3, 4, 2, 0, 0, 0, 5, 6],
      }),
    )
  })

  it("refuses trailing bytes", () => {
    expect(readingFails("0102", (reader) => reader.u8())).toBe("test: 1 trailing bytes at byte 1")
  })

  it("reads no more items than there are bytes, regardless of a forged count", () => {
    const forged = Buffer.from("ffffffff0000000000000000", "hex")
    let reads = 0
    const decoded = Binary.decode("test", forged, (reader) =>
      reader.list32(0xffff_ffff, () => {
        reads++
        return reader.u32()
      }),
    )
    expect(Either.isLeft(decoded)).toBe(true)
    expect(reads).toBe(3)
  })

  it("reads no item of a list over its limit", () => {
    let reads = 0
    const read = (reader: Binary.Reader) => reader.list16(2, () => reads++)
    expect(readingFails("0300000000", read)).toContain("list of 3, at most 2 allowed")
    expect(reads).toBe(0)
  })

  it("reads from a view into a larger buffer", () => {
    const frame = Uint8Array.of(9, 9, 1, 2, 9)
    expect(Binary.decode("test", frame.subarray(2, 4), (reader) => [reader.u8(), reader.hex(1)])).toStrictEqual(
      Either.right([1, "02"]),
    )
  })
})

describe("the encoded length of a text", () => {
  it("counts bytes, and is undefined for a lone surrogate", () => {
    expect(Binary.utf8Length("é🪙")).toBe(6)
    expect(Binary.utf8Length("a\udc00")).toBeUndefined()
  })
})

describe("a strictly ascending list", () => {
  it("has every key above the previous one", () => {
    const isAscending = (list: ReadonlyArray<string>) => Binary.isStrictlyAscending(list, (item) => item)
    expect([[], ["a"], ["a", "b", "c"]].map(isAscending)).toEqual([true, true, true])
    expect(
      [
        ["a", "a"],
        ["b", "a"],
        ["a", "c", "b"],
      ].map(isAscending),
    ).toEqual([false, false, false])
  })
})
