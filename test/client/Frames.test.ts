import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Frames from "../../src/client/wire/Frames.js"

async function* each(pieces: Iterable<string>): AsyncGenerator<string> {
  yield* pieces
}

const all = async (pieces: Iterable<string>): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for await (const frame of Frames.read(each(pieces))) found.push(frame)
  return found
}

function* repeated(piece: string, times: number): Generator<string> {
  for (let i = 0; i < times; i++) yield piece
}

describe("the frames of an event stream", () => {
  it("are the same wherever the text is cut", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.constantFrom("a", "\n", "data: 1", ""), { maxLength: 9 })),
        async (cuts) => {
          const pieces = cuts.map((cut) => cut.join(""))
          expect(await all(pieces)).toEqual(pieces.join("").split("\n\n").slice(0, -1))
        },
      ),
    ))

  // Searching the whole buffer again for each piece would take many minutes here.
  it("cost no more in a million pieces than in one", async () => {
    const length = Frames.LONGEST - 2
    const [frame = ""] = await all([...repeated("x", length), "\n", "\n"])
    expect(frame.length).toBe(length)
  })

  it("are refused when one has no end", async () => {
    await expect(all(repeated("x", Frames.LONGEST + 2))).rejects.toThrow("an event of more than")
  })
})
