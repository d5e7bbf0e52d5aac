import { Either, FastCheck as fc, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as Network from "../../src/protocol/identity/Network.js"
import * as arbitrary from "./arbitraries.js"

describe("a network's name", () => {
  it("is 1 to 32 characters of a-z, 0-9 and -", () => {
    fc.assert(
      fc.property(arbitrary.networkId, (id) => {
        expect(Schema.decodeUnknownEither(Network.NetworkId)(id)).toStrictEqual(Either.right(id))
      }),
    )
    for (const bad of ["", "x".repeat(33), "UDG", "a_b", "a b", "é"]) expect(Network.isNetworkId(bad)).toBe(false)
  })
})

it("decides with its mode what addresses begin with", () => {
  expect(Network.addressPrefix("testnet")).toBe("tudg")
  expect(Network.addressPrefix("mainnet")).toBe("udg")
})

describe("a network's id", () => {
  const isDrawn = (text: string): boolean => Network.isNetworkId(text) && Network.isDrawn(text)

  it("ends in random bytes where a tool drew it", () => {
    expect(isDrawn("harbour-00a6dadb51e1c0a9")).toBe(true)
    expect(isDrawn("udg-solo-00a6dadb51e1c0a9")).toBe(true)
    expect(isDrawn("udg-local-00a6dadb51e1c0a9")).toBe(true)
    for (const named of ["udg-local", "udg-local-", "udg-solo-", "udg-solo-00a6dadb51e1c0a", "00a6dadb51e1c0a9"]) {
      expect(isDrawn(named)).toBe(false)
    }
  })

  it("leaves room for the random bytes after every possible name", () => {
    const longest = "n".repeat(Network.NAME_CHARACTERS)
    expect([longest, "", `${longest}n`, "A"].map(Network.isName)).toEqual([true, false, false, false])
    expect(isDrawn(`${longest}-00a6dadb51e1c0a9`)).toBe(true)
    expect(Network.isNetworkId(`${longest}n-00a6dadb51e1c0a9`)).toBe(false)
  })

  it("is refused with the allowed characters", () => {
    const refused = Schema.decodeUnknownEither(Network.NetworkId)("UDG")
    expect(String(Either.merge(refused))).toContain("1 to 32 characters of a-z, 0-9 and -")
  })
})
