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

  it("grows wherever its buffer ends, whatever is written there", () => {
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
      // Once written as zeros, and shifted by half a byte.
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
  })

  it("is not disturbed by an encoding inside an encoding, nor by one that threw", () => {
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

describe("a reader", () => {
  it("gives back every integer that a writer wrote", () => {
    fc.assert(
      fc.property(arbitrary.counter(), fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), (small, large) => {
        const bytes = Binary.encode((writer) => writer.u64(small).u128(large))
        const read = Binary.decode("test", bytes, (reader) => [reader.u64(), reader.u128()])
        expect(read).toStrictEqual(Either.right([small, large]))
      }),
      { numRuns: 1_000 },
    )
  })

  it("gives back every text, a leading byte-order mark included", () => {
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

  it("names what it read, where it stopped and why, and the first reason wins", () => {
    const message = readingFails("0105", (reader) => {
      reader.boolean()
      reader.boolean()
      reader.u64()
      reader.fail("something later")
    })
    expect(message).toBe("test: boolean byte 5 at byte 2")
  })

  it("refuses trailing bytes", () => {
    expect(readingFails("0102", (reader) => reader.u8())).toBe("test: 1 trailing bytes at byte 1")
  })

  it("reads no more items than there are bytes, however many a forged count promises", () => {
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

  it("reads no item at all of a list over its limit", () => {
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

describe("the length of a text on the wire", () => {
  it("counts bytes, and there is none for a lone surrogate", () => {
    expect(Binary.utf8Length("é🪙")).toBe(6)
    expect(Binary.utf8Length("a\udc00")).toBeUndefined()
  })
})

describe("a strictly ascending list", () => {
  it("has every key above the one before", () => {
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
