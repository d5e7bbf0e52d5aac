import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Printable from "../../src/cli/terminal/Printable.js"
import * as Visible from "../../src/client/Visible.js"

describe("foreign text", () => {
  it("cannot move the cursor, colour what follows, break the line or reverse its direction", () => {
    expect(Visible.line("a\u001b[2J\u009b31m\nb\r\u202ec\u2028\ud800\ufeff")).toBe(
      "a\\u001b[2J\\u009b31m\\u000ab\\u000d\\u202ec\\u2028\ufffd\\ufeff",
    )
  })

  it("keeps its letters", () => {
    for (const text of ["für Åsa", "日本語", "می‌خواهم", "👩‍👩‍👧", "☕"]) expect(Visible.line(text)).toBe(text)
  })

  it("in JSON is unchanged for programs, and as harmless", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { maxLength: 3 }), (texts) => {
        const printed = Printable.json(texts, 2)
        expect(JSON.parse(printed)).toEqual(texts)
        expect(printed).not.toMatch(/(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      }),
    )
  })
})

describe("wrapped text", () => {
  it("keeps a number and its unit on one line, and breaks at every other space", () => {
    const lines = ["rounds take", "500 ms and", "cost 0.5 UDG", "(1 sat) or", "9 s a day"]
    expect(Printable.wrapped(lines.join(" "), 12)).toEqual(lines)
  })

  it("does not cut a long word, such as a hash", () => {
    const hash = "ab".repeat(32)
    expect(Printable.wrapped(`check with udg tx ${hash} later`, 20)).toEqual(["check with udg tx", hash, "later"])
  })
})

describe("truncated text", () => {
  it("fits, and shows that something is missing", () => {
    expect(Printable.cut("abcdef", 6)).toBe("abcdef")
    expect(Printable.cut("abcdefg", 6)).toBe("abcde…")
    expect(Printable.cut("日本語だ", 6)).toBe("日本…")
    expect(Printable.abbreviated("tudg1thcnjw9glrklg", 9)).toBe("tudg…rklg")
  })
})
