import { FastCheck as fc, Option } from "effect"

import { describe, expect, it } from "vitest"
import * as Sheet from "../../src/cli/terminal/Sheet.js"
import * as Mnemonic from "../../src/client/Mnemonic.js"
import * as Keys from "../../src/protocol/identity/Keys.js"

const keyOf = (seed: Uint8Array): Keys.SecretKey => Option.getOrThrow(Keys.SecretKey.fromSeed(seed))

describe("a key in words", () => {
  it.each([
    [0x00, `${"abandon ".repeat(23)}art`],
    [0xff, `${"zoo ".repeat(23)}vote`],
  ])("matches BIP-39's own example for thirty-two bytes of %i", (byte, words) => {
    expect(Mnemonic.of(keyOf(new Uint8Array(32).fill(byte))).join(" ")).toBe(words)
  })

  it("is restored from its words, however they are typed", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
        const key = keyOf(seed)
        const typed = ` ${Mnemonic.lines(Mnemonic.of(key)).join("\n").toUpperCase()}\t`
        expect(Option.getOrThrow(Mnemonic.parse(typed)).toSecretHex()).toBe(key.toSecretHex())
      }),
      { numRuns: 20 },
    )
  })

  it("is restored from everything that is shown of it", () => {
    const key = keyOf(new Uint8Array(32).fill(7))
    const shown = Sheet.lines([["words", Mnemonic.lines(Mnemonic.of(key))]], false)
    expect(Option.getOrThrow(Mnemonic.parse(shown)).toSecretHex()).toBe(key.toSecretHex())
  })

  it("is refused with too few words, unknown words, or words in another order", () => {
    const words = Mnemonic.of(keyOf(new Uint8Array(32).fill(7)))
    const [first = "", second = "", ...rest] = words
    expect(first).not.toBe(second)
    for (const wrong of [words.slice(1), ["udg", second, ...rest], [second, first, ...rest], []]) {
      expect(Mnemonic.parse(wrong.join(" "))).toEqual(Option.none())
    }
  })
})
