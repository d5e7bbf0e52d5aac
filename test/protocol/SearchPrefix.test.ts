import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Addresses from "../../src/protocol/identity/Address.js"
import * as SearchPrefix from "../../src/protocol/identity/SearchPrefix.js"

const address = fc
  .array(fc.integer({ min: 0, max: 15 }), { minLength: 40, maxLength: 40 })
  .map((digits) => digits.map((digit) => digit.toString(16)).join("") as Address)

describe("the beginning of a text", () => {
  it("of an address as people write it leads to its hex digits, and fits no address that begins otherwise", () => {
    fc.assert(
      fc.property(address, address, fc.integer({ min: 9, max: 43 }), (one, other, length) => {
        const text = Addresses.toBech32(one, "tudg").slice(0, length)
        const read = SearchPrefix.read(text, "tudg")
        expect(one.startsWith(read.address ?? "none")).toBe(true)
        expect(read.fits(one)).toBe(true)
        expect(read.fits(other)).toBe(Addresses.toBech32(other, "tudg").startsWith(text))
        expect(read.hash).toBe(undefined)
        expect(SearchPrefix.read(text, "udg").address).toBe(undefined)
      }),
    )
  })

  it.each([
    ["ali", { name: "ali", address: undefined, hash: undefined }],
    ["@cafe", { name: "cafe", address: undefined, hash: undefined }],
    ["cafe", { name: "cafe", address: "cafe", hash: "cafe" }],
    ["al", { name: undefined, address: undefined, hash: undefined }],
    ["-al", { name: undefined, address: undefined, hash: undefined }],
    ["tudg1abc", { name: "tudg1abc", address: undefined, hash: undefined }],
    ["abc", { name: "abc", address: undefined, hash: undefined }],
  ])("of %j can be that of %j", (text, parts) => {
    expect(SearchPrefix.read(text, "tudg")).toMatchObject(parts)
  })
})
