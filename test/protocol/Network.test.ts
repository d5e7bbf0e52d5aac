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

it("the mode decides what addresses begin with", () => {
  expect(Network.addressPrefix("testnet")).toBe("tudg")
  expect(Network.addressPrefix("mainnet")).toBe("udg")
})

describe("a network's id", () => {
  const kinds = { drawn: Network.isDrawn, local: Network.isLocal }
  const kindsOf = (text: string): string =>
    Object.entries(kinds)
      .flatMap(([kind, isOne]) => (Network.isNetworkId(text) && isOne(text) ? [kind] : []))
      .join(" ")

  it("ends in random bytes, and begins with a name of its own where one person founded it for several nodes", () => {
    expect(kindsOf("harbour-00a6dadb51e1c0a9")).toBe("drawn")
    expect(kindsOf("udg-solo-00a6dadb51e1c0a9")).toBe("drawn")
    expect(kindsOf("udg-local-00a6dadb51e1c0a9")).toBe("drawn local")
    for (const named of ["udg-local", "udg-local-", "udg-solo-", "udg-solo-00a6dadb51e1c0a", "00a6dadb51e1c0a9"]) {
      expect(kindsOf(named)).toBe("")
    }
    for (const other of ["a-udg-local", "a-udg-solo", "udg-locals", "udg-solos"]) {
      expect(kindsOf(`${other}-00a6dadb51e1c0a9`)).toBe("drawn")
    }
  })

  it("leaves room for the random bytes behind every name that it may be made from", () => {
    const longest = "n".repeat(Network.NAME_CHARACTERS)
    expect([longest, "", `${longest}n`, "A"].map(Network.isName)).toEqual([true, false, false, false])
    expect(kindsOf(`${longest}-00a6dadb51e1c0a9`)).toBe("drawn")
    expect(Network.isNetworkId(`${longest}n-00a6dadb51e1c0a9`)).toBe(false)
  })

  it("is refused with what it may consist of", () => {
    const refused = Schema.decodeUnknownEither(Network.NetworkId)("UDG")
    expect(String(Either.merge(refused))).toContain("1 to 32 characters of a-z, 0-9 and -")
  })
})
