import { describe, expect, it } from "vitest"
import * as Element from "../../src/protocol/numbers/Element.js"

describe("an element", () => {
  it.each([
    ["a byte", (at: number) => Element.byte(Uint8Array.of(7, 0, 255), at), [7, 0, 255]],
    ["a word", (at: number) => Element.word(Uint32Array.of(7, 0, 2 ** 32 - 1), at), [7, 0, 2 ** 32 - 1]],
    ["a signed word", (at: number) => Element.signedWord(Int32Array.of(7, 0, -1), at), [7, 0, -1]],
    ["a double", (at: number) => Element.double(Float64Array.of(7, 0, 2 ** 53 - 1), at), [7, 0, 2 ** 53 - 1]],
  ] as const)("that is %s is read inside the array, and nowhere else", (_, read, elements) => {
    expect([0, 1, 2].map(read)).toStrictEqual(elements)
    for (const at of [-1, 3, 0.5]) expect(() => read(at)).toThrow(new RangeError(`no element ${at} of 3`))
  })
})
