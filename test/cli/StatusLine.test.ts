import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { StatusLine } from "../../src/cli/terminal/StatusLine.js"

const CLEAR = "\r\u001b[K"

/** What a terminal shows after this output. */
const shownAfter = (written: string): string =>
  written
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf(CLEAR) + 1).replace(CLEAR.slice(1), ""))
    .join("\n")

describe("the status line", () => {
  const made = (columns: Option.Option<number> = Option.none()) => {
    let written = ""
    const write = (text: string) => {
      written += text
    }
    return { line: new StatusLine({ write, columns: () => columns }), seen: () => shownAfter(written) }
  }

  it("stays below the log, and disappears at the end", () => {
    const { line, seen } = made()
    line.write("first\n")
    line.show("round 1")
    expect(seen()).toBe("first\nround 1")
    line.write("second\n")
    line.write("third\nfourth\n")
    expect(seen()).toBe("first\nsecond\nthird\nfourth\nround 1")
    line.show("round 2")
    expect(seen()).toBe("first\nsecond\nthird\nfourth\nround 2")
    line.show("")
    line.write("last\n")
    expect(seen()).toBe("first\nsecond\nthird\nfourth\nlast\n")
  })

  it("never wraps", () => {
    const { line, seen } = made(Option.some(10))
    line.show("round 123,456")
    expect(seen()).toBe("round 12…")
  })

  it("is empty until there is something to show", () => {
    const { line, seen } = made()
    line.show("")
    expect(seen()).toBe("")
  })
})
