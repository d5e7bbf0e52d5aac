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

it("a local network has a name of its own and random bytes behind it", () => {
  const isLocal = (id: string): boolean => Network.isNetworkId(id) && Network.isLocal(id)
  expect(isLocal("udg-local-00a6dadb51e1c0a9")).toBe(true)
  for (const other of ["udg-solo-00a6dadb51e1c0a9", "udg-local-", "udg-local", "a-udg-local-00a6dadb51e1c0a9", "udg"]) {
    expect(isLocal(other)).toBe(false)
  }
})
